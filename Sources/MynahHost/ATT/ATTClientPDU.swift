import MynahCore
import MynahSupport

/// PDUs that a client sends (Core Specification, Vol 3, Part F, 3.4).
enum ATTClientPDU {
    static func exchangeMTU(_ mtu: UInt16) -> [UInt8] {
        var writer = ByteWriter(capacity: 3)
        writer.write(ATTOpcode.exchangeMTURequest)
        writer.write(mtu)
        return writer.bytes
    }

    static func findInformation(_ range: ClosedRange<AttributeHandle>) -> [UInt8] {
        pdu(ATTOpcode.findInformationRequest, range)
    }

    static func findByTypeValue(
        _ range: ClosedRange<AttributeHandle>, type: UInt16, value: [UInt8]
    ) -> [UInt8] {
        pdu(ATTOpcode.findByTypeValueRequest, range, then: BluetoothUUID(type).littleEndianBytes + value)
    }

    static func readByType(_ range: ClosedRange<AttributeHandle>, _ type: BluetoothUUID) -> [UInt8] {
        pdu(ATTOpcode.readByTypeRequest, range, then: onAir(type))
    }

    static func readByGroupType(_ range: ClosedRange<AttributeHandle>, _ type: BluetoothUUID) -> [UInt8] {
        pdu(ATTOpcode.readByGroupTypeRequest, range, then: onAir(type))
    }

    static func read(_ handle: AttributeHandle) -> [UInt8] {
        [
            ATTOpcode.readRequest, UInt8(truncatingIfNeeded: handle.rawValue),
            UInt8(truncatingIfNeeded: handle.rawValue >> 8),
        ]
    }

    static func readBlob(_ handle: AttributeHandle, offset: UInt16) -> [UInt8] {
        pdu(ATTOpcode.readBlobRequest, handle, offset: offset)
    }

    static func readMultiple(_ handles: [AttributeHandle], isVariable: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: 1 + 2 * handles.count)
        writer.write(isVariable ? ATTOpcode.readMultipleVariableRequest : ATTOpcode.readMultipleRequest)
        for handle in handles { writer.write(handle) }
        return writer.bytes
    }

    static func write(_ handle: AttributeHandle, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.writeRequest, handle, then: value)
    }

    static func writeCommand(_ handle: AttributeHandle, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.writeCommand, handle, then: value)
    }

    /// A signed write command, without its signature.
    static func signedWriteCommand(_ handle: AttributeHandle, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.signedWriteCommand, handle, then: value)
    }

    static func prepareWrite(_ handle: AttributeHandle, offset: UInt16, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.prepareWriteRequest, handle, offset: offset, then: value)
    }

    static func executeWrite(isCancelled: Bool) -> [UInt8] {
        [ATTOpcode.executeWriteRequest, isCancelled ? 0 : 1]
    }

    /// The UUID in ATT's format, which has 16-bit and 128-bit UUIDs only (3.2.1).
    static func onAir(_ uuid: BluetoothUUID) -> [UInt8] {
        let shortest = uuid.shortest
        return (shortest.width == .bits32 ? uuid.in128Bits : shortest).littleEndianBytes
    }

    private static func pdu(
        _ opcode: UInt8, _ range: ClosedRange<AttributeHandle>, then bytes: [UInt8] = []
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 5 + bytes.count)
        writer.write(opcode)
        writer.write(range.lowerBound)
        writer.write(range.upperBound)
        writer.write(bytes)
        return writer.bytes
    }

    private static func pdu(
        _ opcode: UInt8, _ handle: AttributeHandle, offset: UInt16? = nil, then bytes: [UInt8] = []
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 5 + bytes.count)
        writer.write(opcode)
        writer.write(handle)
        if let offset { writer.write(offset) }
        writer.write(bytes)
        return writer.bytes
    }
}
