import MynahCore
import MynahSupport

/// The client's end of one ATT bearer (Core Specification, Vol 3, Part F).
///
/// This state machine has no I/O: procedures and received PDUs go in, and actions for the driver come out.
///
/// Procedures run one after the other, because the server has a single prepare queue, in which the writes of
/// two procedures would mix. A procedure sends one request at a time (3.3.2).
struct ATTClient {
    /// An action for the driver.
    enum Action: Hashable, Sendable {
        case send([UInt8])
        /// The client and the server have agreed on an MTU.
        case mtuChanged(Int)
        /// The server sent a notification or an indication.
        case notified(AttributeHandle, [UInt8], Delivery)
        /// The services in this range of handles changed.
        case servicesChanged(ClosedRange<AttributeHandle>)
        /// The server will indicate changes of the Service Changed value with this handle.
        case subscribedToServices(AttributeHandle)
    }

    /// The state of a bearer: the MTU, the discovery of services, and the subscription to Service Changed.
    struct Bearer: Hashable, Sendable {
        var mtu = GATT.defaultMTU
        /// `true` after the client has sent an Exchange MTU request, which it may send only once (3.4.2.1).
        var hasExchangedMTU = false
        /// `true` after the client has discovered services, which makes it subscribe to Service Changed.
        var hasDiscovered = false
        var serviceChanged = ServiceChanged.unknown
    }

    /// The state of the bearer.
    ///
    /// The server at this end of the bearer has the same MTU, and may have negotiated it.
    var bearer = Bearer()
    /// Whether the client confirms indications.
    var confirmsIndications = true
    /// The opcode of the request that is waiting for its response, or `nil` if no request is waiting.
    private var asked: UInt8?
    private var running: QueuedProcedure?
    private var waiting: [QueuedProcedure] = []
    /// `true` after a transaction timeout: no other transaction may follow on this bearer (3.3.3).
    private(set) var isDead = false
    /// The number of requests sent, which identifies the current transaction.
    private(set) var transaction: UInt64 = 0

    /// Whether a request is waiting for its response.
    var isAwaiting: Bool { asked != nil }

    /// Whether the client must handle a PDU with this opcode: a response, a notification or an indication.
    ///
    /// All other PDUs are for the server, which also answers unknown requests.
    static func takes(_ opcode: UInt8) -> Bool { ATTOpcode.isOfServer(opcode) }

    /// Queues a procedure; `done` is called exactly once, when the procedure ends.
    mutating func add<Procedure: GATTProcedure>(
        _ procedure: Procedure, into actions: inout [Action],
        done: @escaping @Sendable (Result<Procedure.Value, RequestError>) -> Void
    ) {
        guard !isDead else { return done(.failure(Self.overdue)) }
        waiting.append(QueuedProcedure(procedure, done: done))
        startNext(&actions)
    }

    private mutating func startNext(_ actions: inout [Action]) {
        while running == nil, !waiting.isEmpty {
            let before = bearer
            running = waiting.removeFirst()
            carryOn(running?.handle(.begin, &bearer), from: before, &actions)
        }
    }

    /// Sends `request`, the next one of the current procedure, or ends the procedure if `request` is `nil`.
    ///
    /// `before` is the bearer's state before the last step; changes of it since then are added to `actions`.
    private mutating func carryOn(_ request: [UInt8]?, from before: Bearer, _ actions: inout [Action]) {
        if bearer.mtu != before.mtu { actions.append(.mtuChanged(bearer.mtu)) }
        if bearer.serviceChanged != before.serviceChanged,
            case .subscribed(let handle) = bearer.serviceChanged
        {
            actions.append(.subscribedToServices(handle))
        }
        if bearer.hasDiscovered, bearer.serviceChanged == .unknown { lookForServiceChanged() }
        guard let request else {
            running = nil
            return
        }
        asked = request.first
        transaction += 1
        actions.append(.send(request))
    }

    /// Queues the procedure that finds the Service Changed characteristic and subscribes to it.
    private mutating func lookForServiceChanged() {
        bearer.serviceChanged = .unavailable
        waiting.append(QueuedProcedure(ServiceChangedSubscription(), done: { _ in }))
    }

    /// Subscribes to Service Changed again, after encryption, if the server refused that before.
    mutating func secured(into actions: inout [Action]) {
        guard !isDead, case .refused = bearer.serviceChanged else { return }
        lookForServiceChanged()
        startNext(&actions)
    }

    /// Handles a PDU of the server.
    ///
    /// A response that matches no request is dropped.
    mutating func receive(_ bytes: [UInt8], into actions: inout [Action]) {
        var reader = ByteReader(bytes)
        guard let opcode = reader.readUInt8() else { return }
        switch opcode {
        case ATTOpcode.handleValueNotification:
            guard let handle = reader.readAttributeHandle() else { return }
            actions.append(.notified(handle, reader.readRest(), .notification))
        case ATTOpcode.handleValueIndication:
            guard let handle = reader.readAttributeHandle() else { return }
            let value = reader.readRest()
            let range = handle == bearer.serviceChanged.handle ? Self.range(value) : nil
            actions.append(
                range.map { .servicesChanged($0) } ?? .notified(handle, value, .indication))
            // The indication is reported before it is confirmed.
            if confirmsIndications { actions.append(.send([ATTOpcode.handleValueConfirmation])) }
        case ATTOpcode.multipleHandleValueNotification:
            while let handle = reader.readAttributeHandle(), let length = reader.readUInt16(),
                let value = reader.readBytes(Int(length))
            {
                actions.append(.notified(handle, value, .notification))
            }
        case ATTOpcode.errorResponse:
            guard let asked, reader.readUInt8() == asked, reader.readUInt16() != nil,
                let code = reader.readUInt8()
            else { return }
            answered(.failure(ATTError(code: code)), &actions)
        default:
            guard let asked, opcode == asked + 1 else { return }
            answered(.success(reader.readRest()), &actions)
        }
    }

    private static func range(_ value: [UInt8]) -> ClosedRange<AttributeHandle>? {
        var reader = ByteReader(value)
        return reader.readHandles()
    }

    private mutating func answered(_ answer: Result<[UInt8], ATTError>, _ actions: inout [Action]) {
        guard running != nil else { return }
        asked = nil
        let before = bearer
        carryOn(running?.handle(.answer(answer), &bearer), from: before, &actions)
        startNext(&actions)
    }

    /// Handles the transaction timeout of 30 s for the request with this `transaction` number.
    ///
    /// Does nothing if the request was already answered.
    mutating func timedOut(_ number: UInt64) {
        guard isAwaiting, transaction == number else { return }
        isDead = true
        end(Self.overdue)
    }

    /// Ends all procedures with an error, because the server will not answer any more.
    mutating func end(_ error: RequestError) {
        let all = [running].compactMap { $0 } + waiting
        asked = nil
        running = nil
        waiting = []
        for procedure in all { _ = procedure.handle(.end(error), &bearer) }
    }

    private static let overdue = RequestError.failed(
        RadioError(
            .timedOut, "the peripheral did not answer a request in time; this link takes no more requests"))
}
