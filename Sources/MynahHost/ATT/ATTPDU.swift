import MynahCore
import MynahSupport

/// PDUs that a server sends (Core Specification, Vol 3, Part F, 3.4).
enum ATTPDU {
    /// An Error Response; for a request that is not supported, the handle is 0 (3.4.1.1).
    static func error(_ error: ATTError, to opcode: UInt8, at handle: AttributeHandle) -> [UInt8] {
        var writer = ByteWriter(capacity: 5)
        writer.write(ATTOpcode.errorResponse)
        writer.write(opcode)
        writer.write(error == .requestNotSupported ? .none : handle)
        writer.write(error.code)
        return writer.bytes
    }

    static func exchangeMTUResponse(_ mtu: UInt16) -> [UInt8] {
        var writer = ByteWriter(capacity: 3)
        writer.write(ATTOpcode.exchangeMTUResponse)
        writer.write(mtu)
        return writer.bytes
    }

    /// A PDU with an opcode and a value, cut to ATT_MTU.
    static func value(_ opcode: UInt8, _ value: some Sequence<UInt8>, mtu: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + min(value.underestimatedCount, mtu - 1))
        bytes.append(opcode)
        bytes.append(contentsOf: value.prefix(mtu - 1))
        return bytes
    }

    /// A notification or an indication.
    static func handleValue(_ opcode: UInt8, _ handle: AttributeHandle, _ value: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 3 + value.count)
        writer.write(opcode)
        writer.write(handle)
        writer.write(value)
        return writer.bytes
    }

    /// A notification of several values, each after its handle and length.
    static func multipleHandleValue(_ values: [(handle: AttributeHandle, value: [UInt8])]) -> [UInt8] {
        var writer = ByteWriter(capacity: values.reduce(1) { $0 + 4 + $1.value.count })
        writer.write(ATTOpcode.multipleHandleValueNotification)
        for (handle, value) in values {
            writer.write(handle)
            writer.write(UInt16(truncatingIfNeeded: value.count))
            writer.write(value)
        }
        return writer.bytes
    }

    static func prepareWriteResponse(
        _ handle: AttributeHandle, _ offset: UInt16, _ value: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 5 + value.count)
        writer.write(ATTOpcode.prepareWriteResponse)
        writer.write(handle)
        writer.write(offset)
        writer.write(value)
        return writer.bytes
    }
}
