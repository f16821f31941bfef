import MynahCore
import MynahHost
import MynahSupport

/// Tracks the requests of one client to one server on one link (Core Specification, Vol 3, Part F, 3.4).
///
/// Invalid packets are ignored, because a capture may begin in the middle of a link and may lack packets.
struct ATTObserver {
    private let link: Int
    private var request: ATTRequest?
    private var prepared: [(handle: AttributeHandle, offset: Int, part: [UInt8])] = []
    /// The writes without a response so far, by their indices in the server's list of writes.
    private var pendingWrites: [Int] = []
    private var clientMTU: Int?
    /// The ATT_MTU of the link, which is the same for both sides.
    var mtu = GATT.defaultMTU
    var isEncrypted = false
    /// The MTU that the server offered, or `nil` if the client did not request an exchange.
    private(set) var offeredMTU: Int?

    init(link: Int) {
        self.link = link
    }

    // MARK: The client

    mutating func client(_ pdu: [UInt8], at time: Int64, _ server: inout ObservedServer) {
        see(pdu)
        let request: ATTRequest
        do throws(ATTRequest.Refusal) {
            request = try ATTRequest(pdu)
        } catch {
            return
        }
        switch request {
        case .confirmation: return
        case .writeCommand(let handle, let value), .signedWriteCommand(let handle, let value, _):
            _ = server.add(.init(handle: handle, value: value, time: time, link: link, outcome: .sent))
            return
        case .write(let handle, let value):
            add(handle, value, time, &server)
        case .exchangeMTU(let mtu): clientMTU = Int(mtu)
        case .readByGroupType(let range, let type):
            // A discovery of the whole handle range finds all primary services.
            if range == AttributeHandle.all, type == Self.primaryService { server.beginDiscovery() }
        case .prepareWrite(let handle, let offset, let part):
            // A real server limits its prepared writes too.
            if prepared.count < 1024 { prepared.append((handle, Int(offset), part)) }
        case .executeWrite(let isCancelled):
            if !isCancelled {
                for (handle, value) in preparedValues() { add(handle, value, time, &server) }
            }
            prepared = []
        default: break
        }
        self.request = request
    }

    private mutating func add(
        _ handle: AttributeHandle, _ value: [UInt8], _ time: Int64, _ server: inout ObservedServer
    ) {
        if !isWriteRequest { pendingWrites = [] }
        pendingWrites.append(server.add(.init(handle: handle, value: value, time: time, link: link)))
    }

    private static let primaryService = BluetoothUUID(0x2800 as UInt16)

    /// Raises the MTU to the length of a PDU, because the capture may lack the MTU exchange.
    private mutating func see(_ pdu: [UInt8]) { mtu = max(mtu, pdu.count) }

    /// Whether the pending request is an Execute Write Request, whose writes are already in `pendingWrites`.
    private var isWriteRequest: Bool {
        if case .executeWrite? = request { true } else { false }
    }

    /// Joins the prepared parts into whole values, in the order of their first parts.
    private func preparedValues() -> [(AttributeHandle, [UInt8])] {
        var values: [(handle: AttributeHandle, value: [UInt8])] = []
        for (handle, offset, part) in prepared {
            guard let index = values.firstIndex(where: { $0.handle == handle }) else {
                if offset == 0 { values.append((handle, part)) }
                continue
            }
            guard offset <= values[index].value.count, offset + part.count <= GATT.maximumValueLength else {
                continue
            }
            values[index].value = values[index].value.prefix(offset) + part
        }
        return values
    }

    // MARK: The server

    mutating func server(_ pdu: [UInt8], at time: Int64, _ server: inout ObservedServer) {
        see(pdu)
        var reader = ByteReader(pdu)
        guard let opcode = reader.readUInt8() else { return }
        switch opcode {
        case ATTOpcode.handleValueNotification, ATTOpcode.handleValueIndication:
            guard let handle = reader.readAttributeHandle() else { return }
            server.add(.init(handle: handle, value: reader.readRest(), time: time, link: link))
            return
        case ATTOpcode.multipleHandleValueNotification:
            while let (handle, value) = reader.readCountedValue() {
                server.add(.init(handle: handle, value: value, time: time, link: link))
            }
            return
        default: break
        }
        guard let request else { return }
        self.request = nil
        if let handle = request.valueHandle { server.access(handle, isEncrypted: isEncrypted) }
        if opcode == ATTOpcode.errorResponse {
            fail(request, &reader, at: time, &server)
        } else {
            answer(request, opcode, &reader, at: time, &server)
        }
        pendingWrites = []
    }

    private mutating func fail(
        _ request: ATTRequest, _ reader: inout ByteReader, at time: Int64, _ server: inout ObservedServer
    ) {
        guard reader.readUInt8() != nil, let handle = reader.readAttributeHandle(),
            let code = reader.readUInt8()
        else { return }
        for index in pendingWrites {
            server.answer(index, .refused(code), at: time)
        }
        switch request {
        case .readByGroupType(let range, Self.primaryService) where code == ATTError.attributeNotFound.code:
            server.discovered(range)
            if range.upperBound == .last { server.endServices() }
        case .read(let handle), .readBlob(let handle, offset: 0):
            server.refuse(handle, isWrite: false, code, isEncrypted: isEncrypted)
        case .readBlob(let handle, let offset):
            // This error ends a long read if the value's length is a multiple of the length of a response.
            if code == ATTError.invalidOffset.code || code == ATTError.attributeNotLong.code {
                server.readOn([], of: handle, at: Int(offset), isLast: true)
            }
        case .readByType(_, let type) where code != ATTError.attributeNotFound.code:
            if type.assignedNumber.map({ $0 < 0x2800 || $0 > 0x2803 }) ?? true {
                server.refuse(handle, isWrite: false, code, isEncrypted: isEncrypted)
            }
        case .write(let handle, _):
            server.refuse(handle, isWrite: true, code, isEncrypted: isEncrypted)
        case .prepareWrite(let handle, _, _):
            _ = prepared.popLast()
            server.refuse(handle, isWrite: true, code, isEncrypted: isEncrypted)
        case .executeWrite:
            server.refuse(handle, isWrite: true, code, isEncrypted: isEncrypted)
        default: break
        }
    }

    private mutating func answer(
        _ request: ATTRequest, _ opcode: UInt8, _ reader: inout ByteReader, at time: Int64,
        _ server: inout ObservedServer
    ) {
        switch (request, opcode) {
        case (.exchangeMTU, ATTOpcode.exchangeMTUResponse):
            guard let theirs = reader.readUInt16(), let clientMTU else { return }
            offeredMTU = Int(theirs)
            mtu = max(GATT.defaultMTU, min(clientMTU, Int(theirs)))
        case (.readByGroupType(let range, let type), ATTOpcode.readByGroupTypeResponse):
            groups(&reader, from: range.lowerBound, isPrimary: type == Self.primaryService, &server)
        case (.findByTypeValue(_, 0x2800, let value), ATTOpcode.findByTypeValueResponse):
            while let start = reader.readAttributeHandle(), let end = reader.readAttributeHandle() {
                guard start > .none, start <= end else { return }
                server.declare(BluetoothUUID(littleEndian: value), start...end, isPrimary: true)
            }
        case (.readByType(_, let type), ATTOpcode.readByTypeResponse):
            typed(&reader, type, at: time, &server)
        case (.findInformation, ATTOpcode.findInformationResponse): types(&reader, &server)
        case (.read(let handle), ATTOpcode.readResponse):
            let value = reader.readRest()
            server.read(value, of: handle, isWhole: value.count < mtu - 1, at: time)
        case (.readBlob(let handle, 0), ATTOpcode.readBlobResponse):
            let value = reader.readRest()
            server.read(value, of: handle, isWhole: value.count < mtu - 1, at: time)
        case (.readBlob(let handle, let offset), ATTOpcode.readBlobResponse):
            let part = reader.readRest()
            server.readOn(part, of: handle, at: Int(offset), isLast: part.count < mtu - 1)
        case (.readMultipleVariable(let handles), ATTOpcode.readMultipleVariableResponse):
            for handle in handles {
                guard let length = reader.readUInt16(), let value = reader.readBytes(Int(length)) else {
                    return
                }
                server.read(value, of: handle, isWhole: true, at: time)
            }
        case (.write, ATTOpcode.writeResponse), (.executeWrite, ATTOpcode.executeWriteResponse):
            for index in pendingWrites {
                server.answer(index, .stored, at: time)
            }
        default: break
        }
    }

    private func groups(
        _ reader: inout ByteReader, from first: AttributeHandle, isPrimary: Bool,
        _ server: inout ObservedServer
    ) {
        guard let length = reader.readUInt8(), length == 6 || length == 20 else { return }
        while let start = reader.readAttributeHandle(), let end = reader.readAttributeHandle(),
            let bytes = reader.readBytes(Int(length) - 4), let uuid = BluetoothUUID(littleEndian: bytes)
        {
            guard start > .none, start <= end else { return }
            server.declare(uuid, start...end, isPrimary: isPrimary)
            // There is no service between two services of one response.
            if isPrimary, first <= end { server.discovered(first...end) }
            if isPrimary, end == .last { server.endServices() }
        }
    }

    /// Handles a Read By Type Response: stores declarations, or the values of one attribute type.
    private func typed(
        _ reader: inout ByteReader, _ type: BluetoothUUID, at time: Int64, _ server: inout ObservedServer
    ) {
        guard let length = reader.readUInt8(), length >= 2 else { return }
        while let handle = reader.readAttributeHandle(), let bytes = reader.readBytes(Int(length) - 2) {
            guard handle > .none else { return }
            var content = ByteReader(bytes)
            switch type.assignedNumber {
            case 0x2803:
                guard let properties = content.readUInt8(), let value = content.readAttributeHandle(),
                    let uuid = BluetoothUUID(littleEndian: content.readRest()), value > handle
                else { return }
                server.declare(
                    .init(uuid: uuid.shortest, properties: properties, value: value), at: handle)
            case 0x2802:
                guard let start = content.readAttributeHandle(), let end = content.readAttributeHandle()
                else { return }
                let uuid = BluetoothUUID(littleEndian: content.readRest())
                server.include(.init(start: start, end: end, uuid: uuid?.shortest), at: handle)
            default:
                server.setType(type, of: handle)
                // A response with several values has one length for all of them.
                server.read(bytes, of: handle, isWhole: bytes.count < min(mtu - 4, 253), at: time)
            }
        }
    }

    private func types(_ reader: inout ByteReader, _ server: inout ObservedServer) {
        guard let format = reader.readUInt8(), format == 1 || format == 2 else { return }
        while let handle = reader.readAttributeHandle(),
            let bytes = reader.readBytes(format == 1 ? 2 : 16),
            let uuid = BluetoothUUID(littleEndian: bytes)
        {
            server.setType(uuid, of: handle)
        }
    }
}

extension ATTRequest {
    /// The handle of the attribute whose value the request reads or writes.
    fileprivate var valueHandle: AttributeHandle? {
        switch self {
        case .read(let handle), .readBlob(let handle, _), .write(let handle, _),
            .prepareWrite(let handle, _, _):
            handle
        default: nil
        }
    }
}

extension ByteReader {
    /// Reads a handle, a length, and a value with this length.
    fileprivate mutating func readCountedValue() -> (AttributeHandle, [UInt8])? {
        guard let handle = readAttributeHandle(), let length = readUInt16(),
            let value = readBytes(Int(length))
        else { return nil }
        return (handle, value)
    }
}
