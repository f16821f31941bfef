import MynahCore
import MynahSupport

/// An action of the server after a PDU.
enum ATTAction: Hashable, Sendable {
    case send([UInt8])
    /// Asks for a value from an offset on; `answered` brings it.
    case read(AttributeKey, offset: Int)
    /// Carry out a write; `answered` brings the response if one is wanted.
    case write([WriteRequest.Part], wantsResponse: Bool)
    /// A signed command, whose whole PDU's signature is to be checked before it is carried out.
    case signedWrite(WriteRequest.Part, pdu: [UInt8])
    /// The host answered a read by itself.
    case answered(AttributeKey, offset: Int, [UInt8])
    /// The host refused a request for a value of the application, or for its client characteristic
    /// configuration.
    case refused(AttributeKey, RefusedRequest.Access, ATTError)
    /// A client configured a characteristic: 1 notifications, 2 indications.
    case configured(AttributeKey, UInt16)
    /// An indication was confirmed.
    case confirmed(AttributeHandle)
    case mtuChanged(Int)
    /// The client said which features it has.
    case clientFeatures(UInt8)
    /// The client is change-aware: it knows the present services.
    case becameAware
}

/// The server's end of one ATT bearer (Core Specification, Vol 3, Part F and G), without I/O: PDUs in,
/// actions out.
struct ATTServer: Sendable {
    /// The request that waits for the application's answer.
    enum Pending: Hashable {
        case read(opcode: UInt8, handle: AttributeHandle)
        case multiple(opcode: UInt8, handles: [AttributeHandle], values: [[UInt8]])
        case byType(range: ClosedRange<AttributeHandle>, handles: [AttributeHandle], found: FoundAttributes)
        case write(opcode: UInt8, handle: AttributeHandle)
        /// The application's part of a queue that is carried out; the host's own follows.
        case execute(handle: AttributeHandle, [PrepareQueue.OwnWrite])
        case valueSearch(ValueSearch)

        /// The access that the request needs, or `nil` if it compares values.
        var access: RefusedRequest.Access? {
            switch self {
            case .read, .multiple, .byType: .read
            case .write, .execute: .write
            case .valueSearch: nil
            }
        }
    }

    /// A Find By Type Value request that is being answered.
    struct ValueSearch: Hashable {
        /// The first handle of the range.
        var start: AttributeHandle
        var value: [UInt8]
        /// Attributes of the type that are not compared yet.
        var handles: [AttributeHandle]
        /// Attributes that match, each with the end of its group.
        var found: [ClosedRange<AttributeHandle>] = []

        /// Leaves out the next attribute.
        mutating func skip() { handles.removeFirst() }

        /// Notes the result of comparing the next attribute.
        mutating func compared(_ isMatch: Bool, _ groupEnd: AttributeHandle) {
            let handle = handles.removeFirst()
            if isMatch { found.append(handle...max(handle, groupEnd)) }
        }
    }

    /// The largest MTU that this side takes.
    var ownMTU = 517
    private(set) var mtu = GATT.defaultMTU
    private(set) var pending: Pending?
    var prepared = PrepareQueue()
    var client = ATTClientState()
    /// The handle of the indication that waits for its confirmation.
    private(set) var indicated: AttributeHandle?

    /// Receives a PDU of the client.
    mutating func receive(
        _ bytes: [UInt8], _ database: AttributeDatabase, _ security: LinkSecurity
    ) -> [ATTAction] {
        guard let opcode = bytes.first else { return [] }
        // A list of handles could otherwise be as long as an L2CAP frame (Part F, 3.2.8).
        guard bytes.count <= mtu else {
            let isRequest = !ATTOpcode.isCommand(opcode) && opcode != ATTOpcode.handleValueConfirmation
            return isRequest ? [.send(ATTPDU.error(.invalidPDU, to: opcode, at: .none))] : []
        }
        let request: ATTRequest
        do throws(ATTRequest.Refusal) {
            request = try ATTRequest(bytes)
        } catch {
            guard let code = error.error else { return [] }
            return [.send(ATTPDU.error(code, to: error.opcode, at: error.handle))]
        }
        if case .confirmation = request { return confirm() }
        if ATTOpcode.isCommand(opcode) {
            guard client.awareness == .aware else { return [] }
            return command(request, bytes, database, security)
        }
        // One request at a time: a client that does not wait is not answered twice (Part F, 3.3.2).
        guard pending == nil else { return [] }
        var actions: [ATTAction] = []
        if client.awareness == .informed {
            client.awareness = .aware
            actions = [.becameAware]
        }
        do throws(Denial) {
            if client.awareness == .unaware, request.needsAwareness {
                client.awareness = .informed
                throw Denial(.databaseOutOfSync, at: request.firstHandle)
            }
            return actions + (try answer(request, opcode, ATTContext(database: database, security: security)))
        } catch {
            return actions + refusal(request.access, error, database)
                + [.send(ATTPDU.error(error.error, to: opcode, at: error.handle))]
        }
    }

    /// The request to report to the application because the host refused it.
    ///
    /// Two errors are not reported: that a client's database is out of sync, and that a search found
    /// nothing. The latter's error names the handle at which the search began, with or without an
    /// attribute there.
    private func refusal(
        _ access: RefusedRequest.Access?, _ denial: Denial, _ database: AttributeDatabase
    ) -> [ATTAction] {
        guard let access, denial.error != .databaseOutOfSync, denial.error != .attributeNotFound,
            let content = database[denial.handle]?.content
        else { return [] }
        switch content {
        // A subscription is a write to the characteristic's configuration.
        case .value(let key, _), .configuration(let key, _): return [.refused(key, access, denial.error)]
        case .constant, .service, .databaseHash, .clientFeatures: return []
        }
    }

    /// A request is answered with this error.
    struct Denial: Error {
        var error: ATTError
        var handle: AttributeHandle

        init(_ error: ATTError, at handle: AttributeHandle) {
            self.error = error
            self.handle = handle
        }
    }

    private mutating func answer(
        _ request: ATTRequest, _ opcode: UInt8, _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        switch request {
        case .exchangeMTU(let theirs): return exchange(theirs)
        case .findInformation(let range): return try findInformation(range, context)
        case .findByTypeValue(let range, let type, let value):
            return try findByTypeValue(range, BluetoothUUID(type), value, context)
        case .readByGroupType(let range, let type): return try readByGroupType(range, type, context)
        case .readByType(let range, let type): return try readByType(range, type, context)
        case .read(let handle): return try read(handle, 0, opcode, context)
        case .readBlob(let handle, let offset): return try read(handle, Int(offset), opcode, context)
        case .readMultiple(let handles), .readMultipleVariable(let handles):
            return try continueMultiple(opcode, handles, [], context)
        case .write(let handle, let value): return try write(handle, value, context)
        case .prepareWrite(let handle, let offset, let value):
            return try prepare(handle, offset, value, context)
        case .executeWrite(let isCancelled): return try execute(isCancelled, context)
        case .confirmation, .writeCommand, .signedWriteCommand: return []
        }
    }

    /// Handles the answer of the application to the last question.
    ///
    /// A request for several values continues with the next one.
    mutating func answered(
        _ outcome: PendingReply.Outcome, _ database: AttributeDatabase, _ security: LinkSecurity
    ) -> [ATTAction] {
        guard let pending else { return [] }
        self.pending = nil
        let context = ATTContext(database: database, security: security)
        do throws(Denial) {
            return try resume(pending, outcome, context)
        } catch {
            // Its own error is no news to the application.
            var refused: [ATTAction] = []
            if case .success = outcome { refused = refusal(pending.access, error, database) }
            return refused + [.send(ATTPDU.error(error.error, to: pending.opcode, at: error.handle))]
        }
    }

    private mutating func resume(
        _ pending: Pending, _ outcome: PendingReply.Outcome, _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        switch (pending, outcome) {
        case (.read(let opcode, _), .success(let value)):
            return [.send(ATTPDU.value(opcode + 1, value, mtu: mtu))]
        case (.read(_, let handle), .failure(let error)), (.write(_, let handle), .failure(let error)):
            throw Denial(error, at: handle)
        case (.execute(let handle, _), .failure(let error)):
            throw Denial(error, at: handle)
        case (.write(let opcode, _), .success):
            return [.send([opcode + 1])]
        case (.execute(_, let own), .success):
            return try finish(own, context)
        case (.multiple(let opcode, let handles, let values), .success(let value)):
            return try continueMultiple(opcode, Array(handles.dropFirst()), values + [value], context)
        case (.multiple(_, let handles, _), .failure(let error)):
            throw Denial(error, at: handles.first ?? .none)
        case (.byType(let range, let handles, let found), .success(let value)):
            var found = found
            found.entries.append(.init(handle: handles.first ?? .none, value: value))
            return try continueByType(range, Array(handles.dropFirst()), found, context)
        case (.byType(_, let handles, let found), .failure(let error)):
            // Values found before the error are sent. Only an error for the first attribute is sent itself
            // (Part F, 3.4.4.1).
            guard found.entries.isEmpty else { return [.send(found.response(mtu: mtu))] }
            throw Denial(error, at: handles.first ?? .none)
        case (.valueSearch(var search), .success(let value)):
            let handle = search.handles.first ?? .none
            search.compared(value == search.value, handle)
            return try continueSearch(search, context)
        case (.valueSearch(var search), .failure):
            search.skip()
            return try continueSearch(search, context)
        }
    }

    mutating func wait(for pending: Pending) {
        self.pending = pending
    }

    // MARK: MTU, notifications, indications

    /// The MTU is the smaller of both sides', and never below the default (Part F, 3.4.2).
    private mutating func exchange(_ theirs: UInt16) -> [ATTAction] {
        let new = max(GATT.defaultMTU, min(ownMTU, Int(theirs)))
        let response = ATTAction.send(ATTPDU.exchangeMTUResponse(UInt16(ownMTU)))
        guard new != mtu else { return [response] }
        mtu = new
        return [response, .mtuChanged(new)]
    }

    /// The client's end of the bearer, which is this side too, has agreed on an MTU.
    mutating func agreed(on mtu: Int) {
        self.mtu = max(GATT.defaultMTU, mtu)
    }

    /// An indication, or `nil` if another one waits for its confirmation.
    mutating func indicate(_ handle: AttributeHandle, _ value: [UInt8]) -> [UInt8]? {
        guard indicated == nil else { return nil }
        indicated = handle
        return ATTPDU.handleValue(ATTOpcode.handleValueIndication, handle, value)
    }

    private mutating func confirm() -> [ATTAction] {
        guard let handle = indicated else { return [] }
        indicated = nil
        return [.confirmed(handle)]
    }

    /// The client has confirmed that services changed (Vol 3, Part G, 2.5.2.1).
    mutating func toldOfServices() {
        client.awareness = .aware
    }

    /// Notes that the client does not know the current database.
    mutating func databaseChanged() {
        client.databaseChanged()
        prepared = PrepareQueue()
    }
}

extension ATTServer.Pending {
    var opcode: UInt8 {
        switch self {
        case .read(let opcode, _), .multiple(let opcode, _, _), .write(let opcode, _): opcode
        case .byType: ATTOpcode.readByTypeRequest
        case .execute: ATTOpcode.executeWriteRequest
        case .valueSearch: ATTOpcode.findByTypeValueRequest
        }
    }
}

extension ATTRequest {
    /// `true` if the request names attributes by handle, which a client gets wrong that knows another
    /// database (Vol 3, Part G, 2.5.2.1).
    var needsAwareness: Bool {
        switch self {
        case .readByType(let range, let type):
            type != AttributeType.include && type != AttributeType.characteristic
                && range != AttributeHandle.all
        case .read, .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite: true
        default: false
        }
    }

    /// The access that it needs, or `nil` if it accesses no value.
    var access: RefusedRequest.Access? {
        switch self {
        case .read, .readBlob, .readMultiple, .readMultipleVariable, .readByType: .read
        case .write, .prepareWrite, .executeWrite: .write
        default: nil
        }
    }

    var firstHandle: AttributeHandle {
        switch self {
        case .read(let handle), .readBlob(let handle, _), .write(let handle, _),
            .prepareWrite(let handle, _, _):
            handle
        case .readMultiple(let handles), .readMultipleVariable(let handles): handles.first ?? .none
        case .readByType(let range, _), .readByGroupType(let range, _), .findInformation(let range),
            .findByTypeValue(let range, _, _):
            range.lowerBound
        default: .none
        }
    }
}
