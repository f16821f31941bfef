import MynahSupport

/// This side of a link's signalling channel: its identifiers, and the requests that wait for an answer (Core
/// Specification, Vol 3, Part A, 4).
struct Signalling: Sendable {
    /// A request that waits for its answer, with the number of the call that made it.
    enum Request: Hashable, Sendable {
        /// Open a channel to a PSM of the peer; `own` is the channel identifier at this side.
        case openChannel(call: UInt64, psm: UInt16, own: UInt16)
        case updateParameters(call: UInt64)
    }

    /// The largest number of waiting requests, so that an identifier is always left for a signal without a
    /// response.
    static let limit = 128

    private var lastIdentifier: UInt8 = 0
    private(set) var requests = SortedMap<UInt8, Request>()

    /// Returns the next identifier, which is neither zero nor that of a waiting request (4).
    mutating func nextIdentifier() -> UInt8 {
        repeat {
            lastIdentifier = lastIdentifier == 255 ? 1 : lastIdentifier + 1
        } while requests[lastIdentifier] != nil
        return lastIdentifier
    }

    /// Adds a request and returns its identifier, or `nil` if too many are waiting.
    mutating func add(_ request: Request) -> UInt8? {
        guard requests.count < Self.limit else { return nil }
        let identifier = nextIdentifier()
        requests[identifier] = request
        return identifier
    }

    /// Removes and returns the request that an answer is for, or returns `nil` if none has that identifier.
    mutating func removeRequest(_ identifier: UInt8) -> Request? {
        requests.isEmpty ? nil : requests.removeValue(forKey: identifier)
    }

    /// Whether a waiting request uses a channel identifier of this side.
    func isAsking(for own: UInt16) -> Bool {
        requests.values.contains {
            if case .openChannel(_, _, own) = $0 { true } else { false }
        }
    }
}
