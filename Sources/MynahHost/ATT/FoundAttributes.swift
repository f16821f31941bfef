import MynahCore
import MynahSupport

/// The attributes of a Read By Type Response (Core Specification, Vol 3, Part F, 3.4.4.2).
struct FoundAttributes: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    var entries: [Entry] = []

    /// Whether the response has room for one more attribute.
    ///
    /// There is no room after a value with another length than the first.
    func hasRoom(mtu: Int) -> Bool {
        guard let first = entries.first else { return true }
        guard entries.allSatisfy({ $0.value.count == first.value.count }) else { return false }
        return 2 + (entries.count + 1) * (2 + first.value.count) <= mtu
    }

    /// The response, with as many attributes as fit.
    func response(mtu: Int) -> [UInt8] {
        // The length field has one byte, so at most 253 bytes of a value fit.
        let length = min(entries.first?.value.count ?? 0, mtu - 4, 253)
        var writer = ByteWriter(capacity: mtu)
        writer.write([ATTOpcode.readByTypeResponse, UInt8(2 + length)])
        for entry in entries where entry.value.count == entries[0].value.count {
            guard writer.bytes.count + 2 + length <= mtu else { break }
            writer.write(entry.handle)
            writer.write(entry.value.prefix(length))
        }
        return writer.bytes
    }
}
