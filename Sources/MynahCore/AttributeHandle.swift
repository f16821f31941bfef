/// An attribute of a server.
public typealias AttributeHandle = UInt16
