import MynahCore

/// The services and the security of the link, from which a request is answered.
struct ATTContext {
    var database: AttributeDatabase
    var security: LinkSecurity

    /// The attribute, if it may be read: handle, permission, the link's protection, then whether it is served
    /// now.
    func readable(_ handle: AttributeHandle) throws(ATTServer.Denial) -> Attribute {
        guard let attribute = database[handle] else { throw ATTServer.Denial(.invalidHandle, at: handle) }
        guard attribute.access.canRead else { throw ATTServer.Denial(.readNotPermitted, at: handle) }
        if let denial = security.denial(attribute.access.read) { throw ATTServer.Denial(denial, at: handle) }
        guard !database.isDisabled(attribute) else { throw ATTServer.Denial(.unlikelyError, at: handle) }
        return attribute
    }

    /// The attribute, if it may be written with a request: handle, permission, the link's protection, then
    /// whether it is served now.
    func writable(_ handle: AttributeHandle) throws(ATTServer.Denial) -> Attribute {
        guard let attribute = database[handle] else { throw ATTServer.Denial(.invalidHandle, at: handle) }
        guard attribute.access.canWrite else { throw ATTServer.Denial(.writeNotPermitted, at: handle) }
        if let denial = security.denial(attribute.access.write) { throw ATTServer.Denial(denial, at: handle) }
        guard !database.isDisabled(attribute) else { throw ATTServer.Denial(.unlikelyError, at: handle) }
        return attribute
    }
}
