/// One decoder or machine, with conditions that hold for all inputs; one that does not hold traps.
struct FuzzTarget: Sendable {
    var name: String
    var run: @Sendable ([UInt8]) -> Void

    init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.run = run
    }

    static let all: [FuzzTarget] = [
        .h4, .hci, .l2cap, .channel, .attServer, .attClient, .smp, .ad, .air, .controller, .json, .dbus,
        .profile, .capture, .update,
    ]
}

/// An input taken for a row of steps: what to do, how many bytes to do it with, the bytes.
struct Steps: Sequence, IteratorProtocol {
    var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) {
        rest = ArraySlice(bytes)
    }

    mutating func next() -> (kind: UInt8, bytes: [UInt8])? {
        guard let kind = rest.popFirst() else { return nil }
        let bytes = Array(rest.prefix(Int(rest.popFirst() ?? 0)))
        rest = rest.dropFirst(bytes.count)
        return (kind, bytes)
    }
}
