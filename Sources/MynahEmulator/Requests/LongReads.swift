import MynahCore

/// The values that centrals read in several parts: each central gets all parts of one and the same value.
struct LongReads {
    /// A central, and the attribute that it reads.
    private struct Reading: Hashable {
        var central: Peer.ID
        var attribute: AttributeKey

        init(_ read: ReadRequest) {
            (central, attribute) = (read.central, read.attribute)
        }
    }

    private var values: [Reading: [UInt8]] = [:]

    /// Keeps a value that a central has begun to read, and may read on.
    mutating func keep(_ value: [UInt8], of read: ReadRequest) {
        values[Reading(read)] = value
    }

    /// The whole value of which a central reads on, or `nil` if it begins, or has read nothing before.
    func value(continuedBy read: ReadRequest) -> [UInt8]? {
        read.offset == 0 || values.isEmpty ? nil : values[Reading(read)]
    }

    /// A central reads the value from its beginning again.
    mutating func forget(_ read: ReadRequest) {
        if !values.isEmpty { values[Reading(read)] = nil }
    }

    /// A central has left.
    mutating func forgetAll(of central: Peer.ID) {
        if !values.isEmpty { values = values.filter { $0.key.central != central } }
    }

    /// Forgets the values of all centrals.
    mutating func forgetAll() { values = [:] }
}
