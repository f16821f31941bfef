import MynahCore
import MynahSupport

/// PDUs that a client sends (Core Specification, Vol 3, Part F, 3.4).
enum ATTClientPDU {
    static func exchangeMTU(_ mtu: UInt16) -> [UInt8] {
        pdu(ATTOpcode.exchangeMTURequest, mtu)
    }

    static func findInformation(_ range: ClosedRange<UInt16>) -> [UInt8] {
        pdu(ATTOpcode.findInformationRequest, range.lowerBound, range.upperBound)
    }

    static func findByTypeValue(_ range: ClosedRange<UInt16>, type: UInt16, value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.findByTypeValueRequest, range.lowerBound, range.upperBound, type, then: value)
    }

    static func readByType(_ range: ClosedRange<UInt16>, _ type: BluetoothUUID) -> [UInt8] {
        pdu(ATTOpcode.readByTypeRequest, range.lowerBound, range.upperBound, then: onAir(type))
    }

    static func readByGroupType(_ range: ClosedRange<UInt16>, _ type: BluetoothUUID) -> [UInt8] {
        pdu(ATTOpcode.readByGroupTypeRequest, range.lowerBound, range.upperBound, then: onAir(type))
    }

    static func read(_ handle: UInt16) -> [UInt8] {
        [ATTOpcode.readRequest, UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8)]
    }

    static func readBlob(_ handle: UInt16, offset: UInt16) -> [UInt8] {
        pdu(ATTOpcode.readBlobRequest, handle, offset)
    }

    static func readMultiple(_ handles: [UInt16], isVariable: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: 1 + 2 * handles.count)
        writer.write(isVariable ? ATTOpcode.readMultipleVariableRequest : ATTOpcode.readMultipleRequest)
        for handle in handles { writer.write(handle) }
        return writer.bytes
    }

    static func write(_ handle: UInt16, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.writeRequest, handle, then: value)
    }

    static func writeCommand(_ handle: UInt16, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.writeCommand, handle, then: value)
    }

    /// Without its signature.
    static func signedWriteCommand(_ handle: UInt16, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.signedWriteCommand, handle, then: value)
    }

    static func prepareWrite(_ handle: UInt16, offset: UInt16, _ value: [UInt8]) -> [UInt8] {
        pdu(ATTOpcode.prepareWriteRequest, handle, offset, then: value)
    }

    static func executeWrite(isCancelled: Bool) -> [UInt8] {
        [ATTOpcode.executeWriteRequest, isCancelled ? 0 : 1]
    }

    /// ATT knows 16 and 128 bits only (3.2.1).
    static func onAir(_ uuid: BluetoothUUID) -> [UInt8] {
        let shortest = uuid.shortest
        return (shortest.width == .bits32 ? uuid.in128Bits : shortest).littleEndianBytes
    }

    private static func pdu(_ opcode: UInt8, _ numbers: UInt16..., then bytes: [UInt8] = []) -> [UInt8] {
        var writer = ByteWriter(capacity: 1 + 2 * numbers.count + bytes.count)
        writer.write(opcode)
        for number in numbers { writer.write(number) }
        writer.write(bytes)
        return writer.bytes
    }
}
