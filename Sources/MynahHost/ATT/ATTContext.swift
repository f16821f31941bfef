import MynahCore

/// The attribute database and the security of a link, against which requests are checked.
struct ATTContext {
    var database: AttributeDatabase
    var security: LinkSecurity

    /// Returns an attribute, or throws if it may not be read.
    ///
    /// This checks the handle, the permission, and the link's security. A disabled attribute is refused too.
    func readable(_ handle: AttributeHandle) throws(ATTServer.Denial) -> Attribute {
        guard let attribute = database[handle] else { throw ATTServer.Denial(.invalidHandle, at: handle) }
        guard attribute.access.canRead else { throw ATTServer.Denial(.readNotPermitted, at: handle) }
        if let denial = security.denial(attribute.access.read) { throw ATTServer.Denial(denial, at: handle) }
        guard !database.isDisabled(attribute) else { throw ATTServer.Denial(.unlikelyError, at: handle) }
        return attribute
    }

    /// Returns an attribute, or throws if a request may not write it.
    ///
    /// This checks the handle, the permission, and the link's security. A disabled attribute is refused too.
    func writable(_ handle: AttributeHandle) throws(ATTServer.Denial) -> Attribute {
        guard let attribute = database[handle] else { throw ATTServer.Denial(.invalidHandle, at: handle) }
        guard attribute.access.canWrite else { throw ATTServer.Denial(.writeNotPermitted, at: handle) }
        if let denial = security.denial(attribute.access.write) { throw ATTServer.Denial(denial, at: handle) }
        guard !database.isDisabled(attribute) else { throw ATTServer.Denial(.unlikelyError, at: handle) }
        return attribute
    }
}
