import MynahCore

/// The values that centrals are reading in several parts, so that all parts come from the same value.
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

    /// Keeps a value whose first part a central has read.
    mutating func keep(_ value: [UInt8], of read: ReadRequest) {
        values[Reading(read)] = value
    }

    /// Returns the whole value that a central continues to read.
    ///
    /// Returns `nil` if the offset is 0, or if no value is kept.
    func value(continuedBy read: ReadRequest) -> [UInt8]? {
        read.offset == 0 || values.isEmpty ? nil : values[Reading(read)]
    }

    /// Removes the value of an attribute that a central reads from the beginning again.
    mutating func forget(_ read: ReadRequest) {
        if !values.isEmpty { values[Reading(read)] = nil }
    }

    /// Removes the values of a central that has disconnected.
    mutating func forgetAll(of central: Peer.ID) {
        if !values.isEmpty { values = values.filter { $0.key.central != central } }
    }

    /// Removes the values of all centrals.
    mutating func forgetAll() { values = [:] }
}
