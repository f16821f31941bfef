import Mynah
import MynahCore

/// The requests that wait for a test's answer.
struct AskedRequests<Instant: Comparable & Sendable> {
    /// A request that waits for a test's answer.
    struct Request {
        /// The request's number, which is unique in the run.
        let id: Int
        let access: Access
        /// The attribute that the request accesses.
        let attribute: AttributeKey
        let central: Central
        /// The time limit, after which the request is answered with an error.
        let due: Instant
        let reply: PendingReply
    }

    /// A read, or a write with a response.
    enum Access {
        case read(ReadRequest)
        case write(WriteRequest)
    }

    private var waiting: [Int: Request] = [:]
    /// The values of answered reads that centrals may continue to read.
    private var longReads = LongReads()

    /// The earliest time limit of the requests, or `nil` if none waits.
    var nextDue: Instant? { waiting.values.lazy.map(\.due).min() }

    /// The request with this number, or `nil` if it does not wait.
    subscript(id: Int) -> Request? { waiting[id] }

    /// Whether a request of this central waits.
    func hasRequest(of central: Peer.ID) -> Bool { waiting.values.contains { $0.central.id == central } }

    mutating func add(_ request: Request) {
        waiting[request.id] = request
        if case .read(let read) = request.access { longReads.forget(read) }
    }

    /// Removes and returns a request, or returns `nil` if it does not wait.
    @discardableResult
    mutating func end(_ id: Int) -> Request? { waiting.removeValue(forKey: id) }

    /// Removes and returns the requests whose time limit has elapsed, in the order of their numbers.
    mutating func endOverdue(at now: Instant) -> [Request] {
        end { $0.due <= now }
    }

    /// Removes and returns the requests of a central that has disconnected.
    mutating func endAll(of central: Peer.ID) -> [Request] {
        longReads.forgetAll(of: central)
        return end { $0.central.id == central }
    }

    /// Removes and returns all requests, in the order of their numbers.
    mutating func endAll() -> [Request] {
        longReads.forgetAll()
        return end { _ in true }
    }

    private mutating func end(_ isMeant: (Request) -> Bool) -> [Request] {
        waiting.values.filter(isMeant).map(\.id).sorted().compactMap { end($0) }
    }

    // MARK: Long values

    /// Keeps the whole value of an answered read.
    ///
    /// The central can then read the later parts without another request to the test.
    mutating func keep(_ value: [UInt8], for read: ReadRequest) {
        longReads.keep(value, of: read)
    }

    /// Returns the whole value that a central continues to read.
    ///
    /// Returns `nil` if the offset is 0, or if no value is kept.
    func value(continuedBy read: ReadRequest) -> [UInt8]? {
        longReads.value(continuedBy: read)
    }
}

extension RadioCapabilities {
    /// The time limit for a test's answer: one second less than the radio or the central allows.
    ///
    /// An ATT transaction times out after 30 s (Core Specification, Vol 3, Part F, 3.3.3).
    var askLimit: Duration { (answerDeadline ?? .seconds(30)) - .seconds(1) }
}
