/// Keeps each advertising set of the radio as requested, with one `AdvertisementMachine` for each.
///
/// A set's number identifies its object on the bus. A number is free again after its set was unregistered.
///
/// This part does no I/O.
struct AdvertisementSets {
    private struct Member {
        let number: Int
        var machine: AdvertisementMachine
    }

    private var members: [String: Member] = [:]
    /// The names of the requested sets, in their order.
    private var order: [String] = []
    private var isReached = false

    /// Whether a set is requested.
    var isWanted: Bool { !order.isEmpty }

    /// The sets that bluetoothd has registered, in the order of their request.
    var held: [BlueZAdvertising] { order.compactMap { members[$0]?.machine.held } }

    // MARK: Requests

    /// Requests sets instead of the previous ones.
    ///
    /// A set replaces the previous set with the same name, if possible without a new registration.
    mutating func want(_ sets: [BlueZAdvertising]) {
        order = sets.map(\.advertisement.name)
        for name in members.keys where !order.contains(name) { members[name]?.machine.stop() }
        for set in sets {
            var member = members[set.advertisement.name] ?? newMember
            member.machine.want(set)
            members[set.advertisement.name] = member
        }
    }

    /// Requests that nothing is advertised.
    mutating func stop() { want([]) }

    private var newMember: Member {
        let used = Set(members.values.map(\.number))
        var machine = AdvertisementMachine()
        if isReached { machine.reached() }
        return Member(number: (0...).first { !used.contains($0) } ?? 0, machine: machine)
    }

    // MARK: Events

    /// Notes that a central connected.
    ///
    /// A controller with extended advertising stops only sets that are connectable.
    mutating func linkBegan(hasExtendedAdvertising: Bool) {
        for name in members.keys {
            guard let machine = members[name]?.machine, machine.isConnectable || !hasExtendedAdvertising
            else { continue }
            members[name]?.machine.linkBegan()
        }
    }

    /// Notes that a link ended.
    mutating func linkEnded() { change { $0.linkEnded() } }

    /// Notes that bluetoothd and the adapter can be used.
    mutating func reached() {
        isReached = true
        change { $0.reached() }
    }

    /// Notes that the adapter was turned off.
    mutating func poweredOff() {
        isReached = false
        change { $0.poweredOff() }
    }

    /// Notes that bluetoothd or the adapter disappeared.
    mutating func lost() {
        isReached = false
        change { $0.lost() }
    }

    /// Notes that bluetoothd released a set by itself; returns whether bluetoothd had registered it.
    mutating func released(_ number: Int) -> Bool {
        guard let name = name(of: number) else { return false }
        return members[name]?.machine.released() ?? false
    }

    private mutating func change(_ body: (inout AdvertisementMachine) -> Void) {
        for name in members.keys {
            guard var member = members[name] else { continue }
            body(&member.machine)
            members[name] = member
        }
    }

    private func name(of number: Int) -> String? { members.first { $0.value.number == number }?.key }

    // MARK: Steps

    /// Returns the next step and the number of its set.
    ///
    /// The step counts as started unless it is `rest` or `wait`.
    ///
    /// Sets that are no longer requested are unregistered first, because the adapter has room for few sets.
    mutating func next(at now: Duration) -> (number: Int, step: AdvertisementMachine.Step) {
        members = members.filter { !$0.value.machine.isIdle }
        let ending = members.filter { !order.contains($0.key) }.sorted { $0.value.number < $1.value.number }
        var wait: (number: Int, time: Duration)?
        for name in ending.map(\.key) + order {
            guard var member = members[name] else { continue }
            let step = member.machine.next(at: now)
            members[name] = member
            switch step {
            case .rest: continue
            case .wait(let time): if wait.map({ time < $0.time }) ?? true { wait = (member.number, time) }
            case .register, .unregister, .change: return (member.number, step)
            }
        }
        return wait.map { ($0.number, .wait($0.time)) } ?? (0, .rest)
    }

    /// Notes that bluetoothd accepted a registration.
    ///
    /// Returns whether the driver must report that the set is on the air again.
    mutating func registered(_ number: Int) -> Bool {
        guard let name = name(of: number) else { return false }
        return members[name]?.machine.registered() != nil
    }

    /// Notes that bluetoothd refused a registration, and returns the consequence.
    mutating func refused(_ number: Int) -> AdvertisementMachine.Refusal {
        guard let name = name(of: number), let refusal = members[name]?.machine.refused() else {
            return .overtaken
        }
        if refusal == .givenUp { order.removeAll { $0 == name } }
        return refusal
    }
}
