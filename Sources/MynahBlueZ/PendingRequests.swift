import MynahCore
import MynahSupport

/// The requests that the sink has not answered yet.
///
/// bluetoothd gives up a request after 5 s (ATTRIBUTE_TIMEOUT) and drops a later answer, so each request has
/// to be answered before that.
struct PendingRequests<Call> {
    struct Request {
        let call: Call
        let central: Peer.ID
        let attribute: AttributeKey
        let isRead: Bool
        /// The time at which the request is answered with an error.
        let due: Duration

        /// The warning that a request was not answered within `limit`.
        func lateWarning(_ uuid: String, limit: Duration) -> RadioWarning {
            RadioWarning(
                "answerTooLate",
                """
                no answer to a \(isRead ? "read" : "write") of \(uuid) within \(limit.text); the central \
                got 0x0E, because bluetoothd waits only 5 s
                """
            )
        }
    }

    private var requests: [UInt64: Request] = [:]
    private var lastNumber: UInt64 = 0
    /// The centrals whose links are being ended; if the set contains `nil`, all links are.
    private var ending: Set<Peer.ID?> = []

    var isEmpty: Bool { requests.isEmpty }

    /// The earliest time at which a request is overdue, or `nil` if there is no request.
    var nextDue: Duration? { requests.values.lazy.map(\.due).min() }

    /// Adds a request, and returns its number.
    mutating func add(_ request: Request) -> UInt64 {
        lastNumber += 1
        requests[lastNumber] = request
        return lastNumber
    }

    /// Removes and returns a request, or returns `nil` if it is no longer pending.
    mutating func remove(_ number: UInt64) -> Request? {
        requests.removeValue(forKey: number)
    }

    /// Removes all requests.
    mutating func removeAll() {
        requests = [:]
        ending = []
    }

    /// Removes the requests of some centrals, and returns them in the order of their arrival.
    ///
    /// If the list contains `nil`, this removes the requests of all centrals.
    ///
    /// Until `linksEnded` is called, the sink may not postpone its answer to these centrals.
    mutating func takeAll(ofLinksThatEnd centrals: [Peer.ID?]) -> [Request] {
        ending.formUnion(centrals)
        return removeAll { [self] in !mayWait($0.central) }
    }

    /// Handles that links have ended, or could not be ended.
    mutating func linksEnded(of centrals: [Peer.ID?]) { ending.subtract(centrals) }

    /// Whether the sink may postpone its answer to a request of a central.
    func mayWait(_ central: Peer.ID) -> Bool { !ending.contains(central) && !ending.contains(nil) }

    /// Removes the overdue requests, and returns them in the order of their arrival.
    mutating func takeOverdue(at now: Duration) -> [Request] {
        removeAll { $0.due <= now }
    }

    private mutating func removeAll(where isTaken: (Request) -> Bool) -> [Request] {
        let taken = requests.filter { isTaken($0.value) }.sorted { $0.key < $1.key }
        for (number, _) in taken { requests[number] = nil }
        return taken.map(\.value)
    }
}
