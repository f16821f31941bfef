import MynahCore

/// The services and the security of a link, against which its requests are checked.
struct ATTContext {
    var database: AttributeDatabase
    var security: LinkSecurity

    /// Returns the attribute, or throws if it may not be read; checks the handle, the permission, the link's
    /// security, and whether the attribute is disabled.
    func readable(_ handle: AttributeHandle) throws(ATTServer.Denial) -> Attribute {
        guard let attribute = database[handle] else { throw ATTServer.Denial(.invalidHandle, at: handle) }
        guard attribute.access.canRead else { throw ATTServer.Denial(.readNotPermitted, at: handle) }
        if let denial = security.denial(attribute.access.read) { throw ATTServer.Denial(denial, at: handle) }
        guard !database.isDisabled(attribute) else { throw ATTServer.Denial(.unlikelyError, at: handle) }
        return attribute
    }

    /// Returns the attribute, or throws if a request may not write it; checks the handle, the permission, the
    /// link's security, and whether the attribute is disabled.
    func writable(_ handle: AttributeHandle) throws(ATTServer.Denial) -> Attribute {
        guard let attribute = database[handle] else { throw ATTServer.Denial(.invalidHandle, at: handle) }
        guard attribute.access.canWrite else { throw ATTServer.Denial(.writeNotPermitted, at: handle) }
        if let denial = security.denial(attribute.access.write) { throw ATTServer.Denial(denial, at: handle) }
        guard !database.isDisabled(attribute) else { throw ATTServer.Denial(.unlikelyError, at: handle) }
        return attribute
    }
}
