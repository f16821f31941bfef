import MynahCore
import MynahSupport

/// An action of the server after a PDU.
enum ATTAction: Hashable, Sendable {
    case send([UInt8])
    /// Ask the application for a value from an offset on; `answered` handles its answer.
    case read(AttributeKey, offset: Int)
    /// Write values of the application; `answered` handles its answer if the client wants a response.
    case write([WriteRequest.Part], wantsResponse: Bool)
    /// Check the signature of the whole PDU of a signed command, and then write its value.
    case signedWrite(WriteRequest.Part, pdu: [UInt8])
    /// Report that the host answered a read by itself.
    case answered(AttributeKey, offset: Int, [UInt8])
    /// Report that the host refused a request for a value or a Client Characteristic Configuration of the
    /// application.
    case refused(AttributeKey, RefusedRequest.Access, ATTError)
    /// Report that a client wrote a Client Characteristic Configuration: 1 for notifications, 2 for
    /// indications.
    case configured(AttributeKey, UInt16)
    /// Report that an indication was confirmed.
    case confirmed(AttributeHandle)
    case mtuChanged(Int)
    /// Report that the client has written its Client Supported Features.
    case clientFeatures(UInt8)
    /// Report that the client is now change-aware: it knows the current services.
    case becameAware
}

/// The server's end of one ATT bearer (Core Specification, Vol 3, Part F and G), without I/O: PDUs in,
/// actions out.
struct ATTServer: Sendable {
    /// A request that waits for the application's answer.
    enum Pending: Hashable {
        case read(opcode: UInt8, handle: AttributeHandle)
        case multiple(opcode: UInt8, handles: [AttributeHandle], values: [[UInt8]])
        case byType(range: ClosedRange<AttributeHandle>, handles: [AttributeHandle], found: FoundAttributes)
        case write(opcode: UInt8, handle: AttributeHandle)
        /// An Execute Write request: the application has to answer its part, and the writes to the host's own
        /// attributes follow.
        case execute(handle: AttributeHandle, [PrepareQueue.OwnWrite])
        case valueSearch(ValueSearch)

        /// The access of the request, or `nil` if it compares values.
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
        /// The lowest handle of the range.
        var start: AttributeHandle
        var value: [UInt8]
        /// The handles of attributes of the type that are not compared yet.
        var handles: [AttributeHandle]
        /// The handles of attributes that match, each with the last handle of its group.
        var found: [ClosedRange<AttributeHandle>] = []

        /// Skips the next attribute.
        mutating func skip() { handles.removeFirst() }

        /// Adds the result of comparing the next attribute.
        mutating func compared(_ isMatch: Bool, _ groupEnd: AttributeHandle) {
            let handle = handles.removeFirst()
            if isMatch { found.append(handle...max(handle, groupEnd)) }
        }
    }

    /// The largest MTU that this side accepts.
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

    /// The refused request to report to the application, or `nil` if it is not reported.
    ///
    /// Two errors are not reported: the client's database is out of sync, or a search found nothing. The
    /// error of such a search has the handle at which the search began, whether or not an attribute has that
    /// handle.
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

    /// The error with which a request is answered, and the handle in the error.
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

    /// Handles the application's answer to the last request for a value or a write.
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

    /// Handles Exchange MTU: the MTU is the smaller of both sides', and at least the default (Part F, 3.4.2).
    private mutating func exchange(_ theirs: UInt16) -> [ATTAction] {
        let new = max(GATT.defaultMTU, min(ownMTU, Int(theirs)))
        let response = ATTAction.send(ATTPDU.exchangeMTUResponse(UInt16(ownMTU)))
        guard new != mtu else { return [response] }
        mtu = new
        return [response, .mtuChanged(new)]
    }

    /// Adopts the MTU that the client on this side of the bearer has agreed on.
    mutating func agreed(on mtu: Int) {
        self.mtu = max(GATT.defaultMTU, mtu)
    }

    /// Returns an indication, or `nil` if another one waits for its confirmation.
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

    /// Notes that the client has confirmed an indication of Service Changed (Vol 3, Part G, 2.5.2.1).
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
    /// `true` if the request contains attribute handles, which are wrong if the client knows an old database
    /// (Vol 3, Part G, 2.5.2.1).
    var needsAwareness: Bool {
        switch self {
        case .readByType(let range, let type):
            type != AttributeType.include && type != AttributeType.characteristic
                && range != AttributeHandle.all
        case .read, .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite: true
        default: false
        }
    }

    /// The access of the request, or `nil` if it accesses no value.
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
