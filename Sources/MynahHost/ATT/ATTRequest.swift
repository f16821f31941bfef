package import MynahCore
import MynahSupport

/// A decoded PDU of a client (Core Specification, Vol 3, Part F, 3.4).
package enum ATTRequest: Hashable, Sendable {
    case exchangeMTU(UInt16)
    case findInformation(ClosedRange<AttributeHandle>)
    case findByTypeValue(ClosedRange<AttributeHandle>, type: UInt16, value: [UInt8])
    case readByType(ClosedRange<AttributeHandle>, type: BluetoothUUID)
    case read(AttributeHandle)
    case readBlob(AttributeHandle, offset: UInt16)
    case readMultiple([AttributeHandle])
    case readByGroupType(ClosedRange<AttributeHandle>, type: BluetoothUUID)
    case write(AttributeHandle, [UInt8])
    case prepareWrite(AttributeHandle, offset: UInt16, [UInt8])
    case executeWrite(isCancelled: Bool)
    case readMultipleVariable([AttributeHandle])
    case confirmation
    case writeCommand(AttributeHandle, [UInt8])
    /// A signed write command; its signature is the 12 bytes after the value.
    case signedWriteCommand(AttributeHandle, [UInt8], signature: [UInt8])

    /// The reason why bytes are not a valid PDU; if `error` is `nil`, no Error Response is sent.
    package struct Refusal: Error, Hashable {
        package var error: ATTError?
        package var opcode: UInt8
        package var handle = AttributeHandle.none
    }

    /// Parses a PDU.
    ///
    /// Throws `invalidPDU` for a wrong length, `requestNotSupported` for an unknown request, and a refusal
    /// without an error for an unknown command (3.3, 3.4.1.1).
    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        guard let opcode = reader.readUInt8() else { throw Refusal(error: nil, opcode: 0) }
        guard let request = try Self.parse(opcode, &reader), reader.isAtEnd else {
            throw Refusal(error: ATTOpcode.isCommand(opcode) ? nil : .invalidPDU, opcode: opcode)
        }
        self = request
    }

    /// Parses the parameters of a PDU, or returns `nil` if the length is wrong.
    private static func parse(_ opcode: UInt8, _ reader: inout ByteReader) throws(Refusal) -> ATTRequest? {
        switch opcode {
        case ATTOpcode.exchangeMTURequest:
            return reader.readUInt16().map { .exchangeMTU($0) }
        case ATTOpcode.findInformationRequest:
            return try range(&reader, opcode, restAllowed: 0...0).map { .findInformation($0) }
        case ATTOpcode.findByTypeValueRequest:
            guard let range = try range(&reader, opcode, restAllowed: 2...Int.max),
                let type = reader.readUInt16()
            else { return nil }
            return .findByTypeValue(range, type: type, value: reader.readRest())
        case ATTOpcode.readByTypeRequest:
            return try rangeAndType(&reader, opcode).map { .readByType($0, type: $1) }
        case ATTOpcode.readByGroupTypeRequest:
            return try rangeAndType(&reader, opcode).map { .readByGroupType($0, type: $1) }
        case ATTOpcode.readRequest:
            return reader.readAttributeHandle().map { .read($0) }
        case ATTOpcode.readBlobRequest:
            guard let handle = reader.readAttributeHandle(), let offset = reader.readUInt16() else {
                return nil
            }
            return .readBlob(handle, offset: offset)
        case ATTOpcode.readMultipleRequest:
            return handles(&reader).map { .readMultiple($0) }
        case ATTOpcode.readMultipleVariableRequest:
            return handles(&reader).map { .readMultipleVariable($0) }
        case ATTOpcode.writeRequest:
            return reader.readAttributeHandle().map { .write($0, reader.readRest()) }
        case ATTOpcode.writeCommand:
            return reader.readAttributeHandle().map { .writeCommand($0, reader.readRest()) }
        case ATTOpcode.signedWriteCommand:
            guard let handle = reader.readAttributeHandle(),
                let value = reader.readBytes(reader.remaining - 12),
                let signature = reader.readBytes(12)
            else { return nil }
            return .signedWriteCommand(handle, value, signature: signature)
        case ATTOpcode.prepareWriteRequest:
            guard let handle = reader.readAttributeHandle(), let offset = reader.readUInt16() else {
                return nil
            }
            return .prepareWrite(handle, offset: offset, reader.readRest())
        case ATTOpcode.executeWriteRequest:
            guard let flags = reader.readUInt8() else { return nil }
            guard flags <= 1 else { throw Refusal(error: .invalidPDU, opcode: opcode) }
            return .executeWrite(isCancelled: flags == 0)
        case ATTOpcode.handleValueConfirmation:
            // A confirmation that is too long confirms nothing, and never gets a response.
            guard reader.isAtEnd else { throw Refusal(error: nil, opcode: opcode) }
            return .confirmation
        default:
            throw Refusal(error: isRequest(opcode) ? .requestNotSupported : nil, opcode: opcode)
        }
    }

    /// Whether an unknown PDU is a request, which needs a response.
    ///
    /// Bit 6 of the opcode marks a command (3.3.1). A server's PDU that arrives by mistake is dropped. Any
    /// other opcode is a request that this server does not support (3.3.2).
    private static func isRequest(_ opcode: UInt8) -> Bool {
        !ATTOpcode.isCommand(opcode) && !ATTOpcode.isOfServer(opcode)
    }

    /// Parses a range of handles; returns `nil` if the length is wrong.
    ///
    /// `restAllowed` is the allowed number of bytes after the range. Throws `invalidHandle`, with the
    /// starting handle, if the range starts at zero or ends before it starts (3.4.3.1).
    private static func range(
        _ reader: inout ByteReader, _ opcode: UInt8, restAllowed: ClosedRange<Int>
    ) throws(Refusal) -> ClosedRange<AttributeHandle>? {
        guard let start = reader.readAttributeHandle(), let end = reader.readAttributeHandle(),
            restAllowed.contains(reader.remaining)
        else { return nil }
        guard start > .none, start <= end else {
            throw Refusal(error: .invalidHandle, opcode: opcode, handle: start)
        }
        return start...end
    }

    private static func rangeAndType(
        _ reader: inout ByteReader, _ opcode: UInt8
    ) throws(Refusal) -> (ClosedRange<AttributeHandle>, BluetoothUUID)? {
        // The length is checked before the handles are.
        guard reader.remaining == 6 || reader.remaining == 20,
            let range = try range(&reader, opcode, restAllowed: 2...16),
            let type = BluetoothUUID(littleEndian: reader.readRest())
        else { return nil }
        return (range, type)
    }

    /// Parses two or more handles; returns `nil` if there are fewer (3.4.4.7).
    private static func handles(_ reader: inout ByteReader) -> [AttributeHandle]? {
        var handles: [AttributeHandle] = []
        while let handle = reader.readAttributeHandle() { handles.append(handle) }
        return handles.count >= 2 ? handles : nil
    }
}
