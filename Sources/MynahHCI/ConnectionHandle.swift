/// A link of a controller.
public typealias ConnectionHandle = UInt16
