import MynahCore
import MynahHCI
import MynahSupport

// Commands about one link.
extension HCICommand {
    /// Makes a command whose only parameter is a connection handle.
    init(_ opcode: HCIOpcode, handle: ConnectionHandle) {
        var writer = ByteWriter(capacity: 2)
        writer.write(handle)
        self.init(opcode, writer.bytes)
    }

    /// Disconnect (Core Specification, Vol 4, Part E, 7.1.6).
    static func disconnect(_ handle: ConnectionHandle, _ reason: HCIStatus) -> HCICommand {
        var writer = ByteWriter(capacity: 3)
        writer.write(handle)
        writer.write(reason.code)
        return HCICommand(.disconnect, writer.bytes)
    }

    /// LE Connection Update (7.8.18).
    static func updateConnection(
        _ handle: ConnectionHandle, _ range: ConnectionParameterRange
    ) -> HCICommand {
        HCICommand(.leConnectionUpdate, parameters(handle, range))
    }

    /// The answer to the peer's request for connection parameters (7.8.31 and 7.8.32).
    static func answer(
        _ handle: ConnectionHandle, _ range: ConnectionParameterRange, isAccepted: Bool
    ) -> HCICommand {
        guard isAccepted else {
            var writer = ByteWriter(capacity: 3)
            writer.write(handle)
            writer.write(HCIStatus.unacceptableConnectionParameters.code)
            return HCICommand(.leRemoteConnectionParameterRequestNegativeReply, writer.bytes)
        }
        return HCICommand(.leRemoteConnectionParameterRequestReply, parameters(handle, range))
    }

    /// The bytes of the handle and the connection parameters, without limits on the length of connection
    /// events.
    private static func parameters(_ handle: ConnectionHandle, _ range: ConnectionParameterRange) -> [UInt8] {
        var writer = ByteWriter(capacity: 14)
        writer.write(handle)
        let values = [range.minimum, range.maximum, range.latency, range.timeout, 0, 0]
        for value in values { writer.write(value) }
        return writer.bytes
    }
}
