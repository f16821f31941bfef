import MynahHCI
import MynahSupport

extension HCICommand {
    /// LE Enable Encryption (Core Specification, Vol 4, Part E, 7.8.24).
    static func enableEncryption(_ handle: ConnectionHandle, _ key: Bond.LongTermKey) -> HCICommand {
        var writer = ByteWriter(capacity: 28)
        writer.write(handle)
        writer.write(key.rand)
        writer.write(key.ediv)
        writer.write(key.value.bytes)
        return HCICommand(.leEnableEncryption, writer.bytes)
    }

    /// LE Long Term Key Request Reply, or the Negative Reply if the key is `nil` (Vol 4, Part E, 7.8.25 and
    /// 7.8.26).
    static func longTermKeyReply(_ handle: ConnectionHandle, _ key: SecretKey?) -> HCICommand {
        var writer = ByteWriter(capacity: 18)
        writer.write(handle)
        if let key { writer.write(key.bytes) }
        return HCICommand(
            key == nil ? .leLongTermKeyRequestNegativeReply : .leLongTermKeyRequestReply, writer.bytes)
    }
}
