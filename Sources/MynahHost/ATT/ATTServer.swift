import MynahCore
import MynahSupport

/// An action of the server after a PDU.
enum ATTAction: Hashable, Sendable {
    case send([UInt8])
    /// Ask the application for a value from an offset on, and pass its answer to `answered`.
    case read(AttributeKey, offset: Int)
    /// Ask the application to write these parts of values.
    ///
    /// If the client wants a response, the application's answer must be passed to `answered`.
    case write([WriteRequest.Part], wantsResponse: Bool)
    /// Check the signature of a signed write command, and write the value if it is valid.
    ///
    /// `pdu` is the whole command with its signature.
    case signedWrite(WriteRequest.Part, pdu: [UInt8])
    /// Report that the host answered a read without asking the application.
    case answered(AttributeKey, offset: Int, [UInt8])
    /// Report that the host refused to read or write a value or a Client Characteristic Configuration.
    case refused(AttributeKey, RefusedRequest.Access, ATTError)
    /// Report that a client wrote a Client Characteristic Configuration.
    ///
    /// Bit 0 enables notifications, bit 1 indications.
    case configured(AttributeKey, UInt16)
    /// Report that the client confirmed the indication of this handle.
    case confirmed(AttributeHandle)
    case mtuChanged(Int)
    /// Report that the client has written its Client Supported Features.
    case clientFeatures(UInt8)
    /// Report that the client is now change-aware.
    case becameAware
}

/// The server's end of one ATT bearer (Core Specification, Vol 3, Part F and G).
///
/// This state machine has no I/O: received PDUs go in, and actions for the driver come out.
struct ATTServer: Sendable {
    /// A request that waits for the application's answer.
    enum Pending: Hashable {
        case read(opcode: UInt8, handle: AttributeHandle)
        case multiple(opcode: UInt8, handles: [AttributeHandle], values: [[UInt8]])
        case byType(range: ClosedRange<AttributeHandle>, handles: [AttributeHandle], found: FoundAttributes)
        case write(opcode: UInt8, handle: AttributeHandle)
        /// An Execute Write request with writes to values of the application.
        ///
        /// The writes to the host's own attributes follow after the application has accepted the writes to
        /// its values.
        case execute(handle: AttributeHandle, [PrepareQueue.OwnWrite])
        case valueSearch(ValueSearch)

        /// The kind of access that is reported if the request is refused.
        ///
        /// The value is `nil` for a search by value, whose refusal is not reported.
        var access: RefusedRequest.Access? {
            switch self {
            case .read, .multiple, .byType: .read
            case .write, .execute: .write
            case .valueSearch: nil
            }
        }
    }

    /// A Find By Type Value request in progress.
    struct ValueSearch: Hashable {
        /// The first handle of the requested range.
        var start: AttributeHandle
        var value: [UInt8]
        /// The handles of attributes that have the type and are not compared yet.
        var handles: [AttributeHandle]
        /// The groups that match, each from its first to its last handle.
        var found: [ClosedRange<AttributeHandle>] = []

        /// Skips the next attribute as not matching.
        mutating func skip() { handles.removeFirst() }

        /// Records the result of comparing the next attribute, whose group ends with the handle `groupEnd`.
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
    /// The handle of the indication that waits for its confirmation, or `nil` if none does.
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
        // One request at a time: a request before the last response is dropped (Part F, 3.3.2).
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

    /// The report of a refused request, or no action if the refusal is not reported.
    ///
    /// Two errors are not reported: Database Out Of Sync, and Attribute Not Found after a search. The handle
    /// in the second is where the search began, and may belong to no attribute.
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

    /// The error in the response to a request, and the attribute handle in it.
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

    /// Handles the application's answer to the last read or write.
    ///
    /// A request for several values continues with the next value.
    mutating func answered(
        _ outcome: PendingReply.Outcome, _ database: AttributeDatabase, _ security: LinkSecurity
    ) -> [ATTAction] {
        guard let pending else { return [] }
        self.pending = nil
        let context = ATTContext(database: database, security: security)
        do throws(Denial) {
            return try resume(pending, outcome, context)
        } catch {
            // The application knows of an error that it returned itself.
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
            // Values found before the error are sent. The error is sent only if it is of the first attribute
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

    /// Handles Exchange MTU: the MTU becomes the smaller of both sides' values, but at least 23 (Part F,
    /// 3.4.2).
    private mutating func exchange(_ theirs: UInt16) -> [ATTAction] {
        let new = max(GATT.defaultMTU, min(ownMTU, Int(theirs)))
        let response = ATTAction.send(ATTPDU.exchangeMTUResponse(UInt16(ownMTU)))
        guard new != mtu else { return [response] }
        mtu = new
        return [response, .mtuChanged(new)]
    }

    /// Adopts the MTU that the client at this end of the bearer has negotiated.
    mutating func agreed(on mtu: Int) {
        self.mtu = max(GATT.defaultMTU, mtu)
    }

    /// Returns the PDU of an indication, or `nil` if another indication waits for its confirmation.
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

    /// Makes the client change-aware, after it confirmed an indication of Service Changed (Vol 3, Part G,
    /// 2.5.2.1).
    mutating func toldOfServices() {
        client.awareness = .aware
    }

    /// Handles a change of the database: the prepare queue is cleared, and the client may become
    /// change-unaware.
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
    /// Whether a change-unaware client must not send this request, because its handles may be wrong (Vol 3,
    /// Part G, 2.5.2.1).
    var needsAwareness: Bool {
        switch self {
        case .readByType(let range, let type):
            type != AttributeType.include && type != AttributeType.characteristic
                && range != AttributeHandle.all
        case .read, .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite: true
        default: false
        }
    }

    /// The kind of access that is reported if the request is refused, or `nil` if it accesses no value.
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
