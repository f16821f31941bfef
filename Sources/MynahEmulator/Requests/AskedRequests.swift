import Mynah
import MynahCore

/// The requests that wait for a test's answer.
struct AskedRequests<Instant: Comparable & Sendable> {
    /// A request for which a central waits.
    struct Request {
        /// The request's number in the run.
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

    private var waiting: [Int: Request] = [:]
    /// The answers of which a central may want the rest.
    private var longReads = LongReads()

    /// When the next request has to be answered, or `nil` if none waits.
    var nextDue: Instant? { waiting.values.lazy.map(\.due).min() }

    /// The request of a number, or `nil` if none of this number waits.
    subscript(id: Int) -> Request? { waiting[id] }

    /// Whether a request of a central waits.
    func hasRequest(of central: Peer.ID) -> Bool { waiting.values.contains { $0.central.id == central } }

    /// Adds a request.
    mutating func add(_ request: Request) {
        waiting[request.id] = request
        if case .read(let read) = request.access { longReads.forget(read) }
    }

    /// Ends a request; returns `nil` if it does not wait.
    @discardableResult
    mutating func end(_ id: Int) -> Request? { waiting.removeValue(forKey: id) }

    /// Ends the requests that should have been answered by now, and returns them in their order.
    mutating func endOverdue(at now: Instant) -> [Request] {
        end { $0.due <= now }
    }

    /// Ends the requests of a central, which has left, and returns them.
    mutating func endAll(of central: Peer.ID) -> [Request] {
        longReads.forgetAll(of: central)
        return end { $0.central.id == central }
    }

    /// Ends all requests, and returns them in their order.
    mutating func endAll() -> [Request] {
        longReads.forgetAll()
        return end { _ in true }
    }

    private mutating func end(_ isMeant: (Request) -> Bool) -> [Request] {
        waiting.values.filter(isMeant).map(\.id).sorted().compactMap { end($0) }
    }

    // MARK: Long values

    /// A read was answered with a whole value: later parts of it are read without a new question.
    mutating func keep(_ value: [UInt8], for read: ReadRequest) {
        longReads.keep(value, of: read)
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
