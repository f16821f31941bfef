/// Spoils packets that make sense, the same way in every run: what a peer in ill will, or a bad cable, would
/// send.
package struct PacketMutator {
    private var random: SeededGenerator
    private let packets: [[UInt8]]

    /// Spoils some of these.
    package init(seed: UInt64, _ packets: [[UInt8]]) {
        random = SeededGenerator(seed: seed)
        self.packets = packets
    }

    /// One that was spoilt up to three times, or not at all.
    package mutating func next() -> [UInt8] {
        var bytes = packets.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...3, using: &random) { spoil(&bytes) }
        return bytes
    }

    /// A number below another.
    package mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func spoil(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: bytes.removeLast(bytes.count - place)
        case 1: bytes += random.bytes(upTo: 8)
        case 2: bytes.insert(contentsOf: random.bytes(upTo: 4), at: place)
        case 3: bytes.removeFirst(min(place, 2))
        case 4:
            let other = packets.randomElement(using: &random) ?? []
            bytes = bytes.prefix(place) + other.suffix(Int.random(in: 0...other.count, using: &random))
        default:
            guard place < bytes.count else { return }
            let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, bytes[place] &+ 1, bytes[place] ^ 0x10]
            bytes[place] = values.randomElement(using: &random) ?? 0
        }
    }
}
