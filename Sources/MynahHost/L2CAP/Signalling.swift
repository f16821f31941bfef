import MynahSupport

/// The identifiers and pending requests of this side on a link's signalling channel (Core Specification, Vol
/// 3, Part A, 4).
struct Signalling: Sendable {
    /// A pending request, with the number of the call that made it.
    enum Request: Hashable, Sendable {
        /// Open a channel to a PSM of the peer; `own` is the channel identifier at this side.
        case openChannel(call: UInt64, psm: UInt16, own: UInt16)
        case updateParameters(call: UInt64)
    }

    /// The largest number of pending requests; signals without a response need identifiers too.
    static let limit = 128

    private var lastIdentifier: UInt8 = 0
    private(set) var requests = SortedMap<UInt8, Request>()

    /// Returns the next identifier that is neither zero nor used by a pending request (4).
    mutating func nextIdentifier() -> UInt8 {
        repeat {
            lastIdentifier = lastIdentifier == 255 ? 1 : lastIdentifier + 1
        } while requests[lastIdentifier] != nil
        return lastIdentifier
    }

    /// Adds a request; returns its identifier, or `nil` if too many requests are pending.
    mutating func add(_ request: Request) -> UInt8? {
        guard requests.count < Self.limit else { return nil }
        let identifier = nextIdentifier()
        requests[identifier] = request
        return identifier
    }

    /// Removes and returns the request with an identifier; returns `nil` if there is none.
    mutating func removeRequest(_ identifier: UInt8) -> Request? {
        requests.isEmpty ? nil : requests.removeValue(forKey: identifier)
    }

    /// Whether a pending request uses this channel identifier of this side.
    func isAsking(for own: UInt16) -> Bool {
        requests.values.contains {
            if case .openChannel(_, _, own) = $0 { true } else { false }
        }
    }
}
