import MynahCore
import MynahHCI

/// Changes a controller's advertising sets until they match the host's request, one step at a time.
///
/// Each set has a machine of its own, whose index is the set's handle. Commands of the legacy style know one
/// set.
struct HostAdvertisingSets {
    private var machines = [HostAdvertiser()]
    /// The set whose step is under way.
    private var underWay: Int?

    /// The number of centrals with which connectable sets leave the air; `nil` for no limit.
    var largestCentralCount: Int? {
        didSet { for index in machines.indices { machines[index].largestCentralCount = largestCentralCount } }
    }

    /// The numbers of a request, one for each of its sets.
    struct Number: Hashable {
        fileprivate var ofSets: [UInt64]
    }

    /// Whether any set is to be on the air.
    var isWanted: Bool { machines.contains { $0.number != nil } }
    /// `true` while the controller does not yet match the request.
    var isBusy: Bool { machines.contains(where: \.isBusy) }
    /// Whether nothing is on and nothing is under way.
    var isQuiet: Bool { machines.allSatisfy(\.isQuiet) }
    /// The interval and length of data of each set on the air.
    var sent: [(interval: UInt16, dataLength: Int)] { machines.compactMap(\.sent) }
    /// The last report, or `nil` if it said that nothing is advertised.
    var announced: AdvertisingReport? {
        var reports = machines.compactMap(\.announced)
        guard !reports.isEmpty else { return nil }
        var report = reports.removeFirst()
        report.otherSets = reports
        return report
    }

    // MARK: Requests of the host

    /// Asks for these sets in place of any others.
    mutating func want(_ sets: [HostAdvertiser.Configuration]) -> Number {
        while machines.count < sets.count { machines.append(machines[0].another) }
        for index in machines.indices.dropFirst(sets.count) { machines[index].stop() }
        return Number(ofSets: sets.enumerated().map { machines[$0].want($1) })
    }

    /// Asks for silence.
    mutating func stop() {
        for index in machines.indices { machines[index].stop() }
    }

    /// Notes the reports about the sets of a request, unless a later request has replaced it.
    mutating func announce(_ reports: [AdvertisingReport], of number: Number) {
        for (index, report) in reports.enumerated() {
            machines[index].announce(report, of: number.ofSets[index])
        }
    }

    /// Notes the addresses that the announced sets have now.
    mutating func announceAddress() {
        for index in machines.indices { machines[index].announceAddress() }
    }

    /// Returns, once, why a set that was announced is not on the air any more; the other sets stop too.
    mutating func takeLostAnnouncement() -> (step: HostAdvertiser.Step, status: HCIStatus)? {
        for index in machines.indices {
            guard let lost = machines[index].takeLostAnnouncement() else { continue }
            stop()
            return lost
        }
        return nil
    }

    /// Switches advertising off until `release`, because the address may not change while it is on (Vol 4,
    /// Part E, 7.8.4).
    mutating func hold() {
        for index in machines.indices { machines[index].hold() }
    }

    /// Goes on after `hold`, with the address that the controller has now.
    mutating func release(_ address: DeviceAddress?) {
        for index in machines.indices { machines[index].release(address) }
    }

    /// Returns the result of a request, after the last step: the first of its sets that is not on the air
    /// decides.
    func verdict(on number: Number) -> HostAdvertiser.Verdict {
        let verdicts = number.ofSets.enumerated().map { machines[$0].verdict(on: $1) }
        return verdicts.first { if case .refused = $0 { true } else { false } }
            ?? verdicts.first { $0 != .onAir } ?? .onAir
    }

    /// The address that a set has on the air.
    func address(of set: HostAdvertiser.Configuration) -> DeviceAddress? { machines[0].address(of: set) }

    // MARK: Events of the controller

    /// Notes that the controller was reset and brought up.
    mutating func began(_ address: DeviceAddress?, identity: DeviceAddress?) {
        underWay = nil
        for index in machines.indices { machines[index].began(address, identity: identity) }
    }

    /// The controller is gone.
    mutating func ended() {
        underWay = nil
        for index in machines.indices { machines[index].ended() }
    }

    /// A link began.
    ///
    /// Of several sets that a central can connect to, `stopped` says which it was.
    mutating func linkBegan(_ role: LEConnection.Role) {
        let isOnlyOne = machines.count(where: \.isConnectable) <= 1
        for index in machines.indices {
            machines[index].linkBegan(role, isOfSet: isOnlyOne && machines[index].isConnectable)
        }
    }

    /// The controller reports that it stopped a set because of a link.
    ///
    /// The only one that a central can connect to was known to have stopped when the link began, and may be
    /// on the air again.
    mutating func stopped(_ handle: UInt8) {
        guard machines.indices.contains(Int(handle)), machines.count(where: \.isConnectable) > 1 else {
            return
        }
        machines[Int(handle)].stoppedByLink()
    }

    /// A link ended, in which this side had a role, if it was ever reported.
    mutating func linkEnded(_ role: LEConnection.Role?) {
        for index in machines.indices { machines[index].linkEnded(role) }
    }

    // MARK: Steps

    /// The next step and the handle of its set, or `nil` if there is nothing to do or one is under way.
    mutating func next() -> (handle: UInt8, step: HostAdvertiser.Step)? {
        guard underWay == nil else { return nil }
        for index in machines.indices {
            guard let step = machines[index].next() else { continue }
            underWay = index
            return (UInt8(index), step)
        }
        return nil
    }

    /// Takes the answer to the step under way.
    mutating func finished(_ outcome: CommandOutcome) {
        guard let index = underWay else { return }
        underWay = nil
        machines[index].finished(outcome)
    }
}
