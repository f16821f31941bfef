import MynahCore

/// The values that centrals read in several parts, so that all parts come from the same value.
struct LongReads {
    /// A central and the attribute that it is reading.
    private struct Reading: Hashable {
        var central: Peer.ID
        var attribute: AttributeKey

        init(_ read: ReadRequest) {
            (central, attribute) = (read.central, read.attribute)
        }
    }

    private var values: [Reading: [UInt8]] = [:]

    /// Keeps a value that a central has begun to read, and may continue to read.
    mutating func keep(_ value: [UInt8], of read: ReadRequest) {
        values[Reading(read)] = value
    }

    /// The whole value that a central continues to read, or `nil` if it begins to read, or if no value is
    /// kept.
    func value(continuedBy read: ReadRequest) -> [UInt8]? {
        read.offset == 0 || values.isEmpty ? nil : values[Reading(read)]
    }

    /// Forgets a value that a central reads from the beginning again.
    mutating func forget(_ read: ReadRequest) {
        if !values.isEmpty { values[Reading(read)] = nil }
    }

    /// Forgets the values of a central that has disconnected.
    mutating func forgetAll(of central: Peer.ID) {
        if !values.isEmpty { values = values.filter { $0.key.central != central } }
    }

    /// Forgets the values of all centrals.
    mutating func forgetAll() { values = [:] }
}
