import MynahSupport

/// This side of a link's signalling channel: its identifiers, and the requests that await an answer (Core
/// Specification, Vol 3, Part A, 4).
struct Signalling: Sendable {
    /// A request that awaits its answer, with the number of the call that made it.
    enum Request: Hashable, Sendable {
        /// A channel to a number of the peer's; `own` is this end's channel identifier.
        case openChannel(call: UInt64, psm: UInt16, own: UInt16)
        case updateParameters(call: UInt64)
    }

    /// How many requests may await an answer, so that an identifier is always left for a signal that awaits
    /// none.
    static let limit = 128

    private var lastIdentifier: UInt8 = 0
    private(set) var requests = SortedMap<UInt8, Request>()

    /// Returns the next identifier, which is never zero nor that of a request that awaits its answer (4).
    mutating func nextIdentifier() -> UInt8 {
        repeat {
            lastIdentifier = lastIdentifier == 255 ? 1 : lastIdentifier + 1
        } while requests[lastIdentifier] != nil
        return lastIdentifier
    }

    /// Notes a request and returns its identifier, or `nil` if too many await an answer.
    mutating func add(_ request: Request) -> UInt8? {
        guard requests.count < Self.limit else { return nil }
        let identifier = nextIdentifier()
        requests[identifier] = request
        return identifier
    }

    /// Removes and returns the request that an answer is for, or returns `nil` if no request awaits it.
    mutating func removeRequest(_ identifier: UInt8) -> Request? {
        requests.isEmpty ? nil : requests.removeValue(forKey: identifier)
    }

    /// Whether a request for a channel uses a channel identifier of this end.
    func isAsking(for own: UInt16) -> Bool {
        requests.values.contains {
            if case .openChannel(_, _, own) = $0 { true } else { false }
        }
    }
}
