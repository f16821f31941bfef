import Mynah
import MynahCore

/// The requests that wait for a test's answer, and the ends of those before them.
struct AskedRequests<Instant: Comparable & Sendable> {
    /// A request for which a central waits.
    struct Request {
        /// Its number in the run.
        let id: Int
        let access: Access
        /// The attribute that it was asked for.
        let attribute: AttributeKey
        let central: Central
        /// When it is answered with an error.
        let due: Instant
        let reply: PendingReply
    }

    /// A read, or a write with a response.
    enum Access {
        case read(ReadRequest)
        case write(WriteRequest)
    }

    /// How a request has ended; the words of `request.unanswered`.
    enum End: String {
        case answered
        /// Nobody answered in time.
        case timeout
        /// The link of its central has ended.
        case disconnected
        /// The device was reset.
        case reset
        /// The app or the run has ended.
        case ended
    }

    /// How many ends are remembered: anybody on the air could otherwise grow our memory.
    static var memory: Int { 1024 }

    private var waiting: [Int: Request] = [:]
    private var ends: [(id: Int, end: End)] = []
    /// The answers of which a central may want the rest.
    private var longReads = LongReads()

    /// When the next request has to be answered, or `nil` if none waits.
    var nextDue: Instant? { waiting.values.lazy.map(\.due).min() }

    /// Whether a request of this number was asked, as far as that is remembered.
    func hasAsked(_ id: Int) -> Bool { waiting[id] != nil || ends.contains { $0.id == id } }

    /// Adds a request.
    mutating func add(_ request: Request) {
        waiting[request.id] = request
        if case .read(let read) = request.access { longReads.forget(read) }
    }

    /// The request of a number; throws why it cannot be answered any more.
    func request(_ id: Int) throws(ControlRefusal) -> Request {
        if let request = waiting[id] { return request }
        switch ends.last(where: { $0.id == id })?.end {
        case nil: throw .notFound("there is no request \(id)")
        case .answered?: throw .conflict("request \(id) was answered before")
        case .timeout?: throw .conflict("request \(id) was not answered in time: its central got 0x0E")
        case .disconnected?: throw .conflict("the central of request \(id) has disconnected")
        case .reset?: throw .conflict("request \(id) was answered with 0x0E, because its device was reset")
        case .ended?: throw .conflict("request \(id) was answered with 0x0E, because its app has ended")
        }
    }

    /// Ends a request; returns `nil` if it does not wait.
    @discardableResult
    mutating func end(_ id: Int, _ end: End) -> Request? {
        guard let request = waiting.removeValue(forKey: id) else { return nil }
        if ends.count == Self.memory { ends.removeFirst() }
        ends.append((id, end))
        return request
    }

    /// Ends the requests that should have been answered by now, and returns them in their order.
    mutating func endOverdue(at now: Instant) -> [Request] {
        end(.timeout) { $0.due <= now }
    }

    /// Ends the requests of a central, which has left, and returns them.
    mutating func endAll(of central: Peer.ID) -> [Request] {
        longReads.forgetAll(of: central)
        return end(.disconnected) { $0.central.id == central }
    }

    /// Ends all requests, and returns them in their order.
    mutating func endAll(_ end: End) -> [Request] {
        longReads.forgetAll()
        return self.end(end) { _ in true }
    }

    private mutating func end(_ end: End, _ isMeant: (Request) -> Bool) -> [Request] {
        let ids = waiting.values.filter(isMeant).map(\.id).sorted()
        return ids.compactMap { self.end($0, end) }
    }

    // MARK: Long values

    /// A read was answered with a whole value: later parts of it are read without a new question.
    mutating func keep(_ value: [UInt8], for read: ReadRequest) {
        longReads.begin(read, value)
    }

    /// The whole value of which a central reads on, or `nil` if it begins, or has read nothing before.
    func value(continuedBy read: ReadRequest) -> [UInt8]? {
        longReads.value(continuedBy: read)
    }
}

extension RadioCapabilities {
    /// How long a test may take for its answer: until a second before the radio or the central gives up.
    ///
    /// An ATT transaction times out after 30 s (Core Specification, Vol 3, Part F, 3.3.3).
    var askLimit: Duration { (answerDeadline ?? .seconds(30)) - .seconds(1) }
}
