import MynahCore

/// The links that are wanted, without I/O: what the controller is to be asked for, and whose wish a link fulfils.
///
/// A controller initiates once at a time, for one address or for all in its filter accept list (Core Specification, Vol 4,
/// Part E, 7.8.12). So whoever wants one more has what is under way cancelled and begun again for all of them: a peripheral
/// that is never there holds up no other.
struct ConnectionQueue: Sendable {
    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Initiate, for one or for several.
        case initiate([DeviceAddress])
        /// Stop initiating; the controller then tells that it has.
        case cancel
    }

    private struct Wish: Sendable {
        var number: UInt64
        var address: DeviceAddress
    }

    private enum State: Hashable, Sendable {
        case idle
        case initiating([DeviceAddress])
        case cancelling
    }

    private var wishes: [Wish] = []
    private var state = State.idle
    /// Changes with each time that the controller is asked to initiate.
    private(set) var round: UInt64 = 0

    /// How many addresses are wanted at once; controllers' lists have room for eight at the least that is sold.
    static let limit = 8

    /// Whether nobody wants a link.
    var isEmpty: Bool { wishes.isEmpty }

    /// The addresses that are wanted.
    var addresses: [DeviceAddress] { wishes.map(\.address) }

    func wants(_ address: DeviceAddress) -> Bool { wishes.contains { $0.address == address } }

    /// Somebody wants a link.
    mutating func want(_ number: UInt64, _ address: DeviceAddress) -> [Action] {
        wishes.append(Wish(number: number, address: address))
        switch state {
        case .idle: return begin()
        case .initiating(let asked) where asked.count < Self.limit: return cancel()
        case .initiating, .cancelling: return []
        }
    }

    /// Somebody wants it no more; nil: he has it, or never wanted it.
    mutating func giveUp(_ number: UInt64) -> [Action]? {
        guard let index = wishes.firstIndex(where: { $0.number == number }) else { return nil }
        let wish = wishes.remove(at: index)
        guard case .initiating(let asked) = state, asked.contains(wish.address) else { return [] }
        return cancel()
    }

    /// A peripheral is there by another address than before.
    mutating func moved(_ address: DeviceAddress) -> [Action] {
        guard case .initiating(let asked) = state, asked.contains(address) else { return [] }
        return cancel()
    }

    /// A link came to be; nil: nobody wants it.
    mutating func connected(to address: DeviceAddress) -> (number: UInt64?, [Action]) {
        state = .idle
        let index = wishes.firstIndex { $0.address == address }
        let number = index.map { wishes.remove(at: $0).number }
        return (number, begin())
    }

    /// It came to nothing, or was refused: those whom it was for, unless it was cancelled.
    mutating func ended() -> (failed: [UInt64], [Action]) {
        var failed: [UInt64] = []
        if case .initiating(let asked) = state {
            failed = wishes.filter { asked.contains($0.address) }.map(\.number)
            wishes.removeAll { failed.contains($0.number) }
        }
        state = .idle
        return (failed, begin())
    }

    /// The controller has not told in time that it stopped; it is taken for said.
    mutating func overdue(_ round: UInt64) -> [Action] {
        guard state == .cancelling, round == self.round else { return [] }
        return ended().1
    }

    private mutating func begin() -> [Action] {
        guard !wishes.isEmpty else { return [] }
        let asked = wishes.prefix(Self.limit).map(\.address)
        state = .initiating(asked)
        round += 1
        return [.initiate(asked)]
    }

    private mutating func cancel() -> [Action] {
        state = .cancelling
        return [.cancel]
    }
}
