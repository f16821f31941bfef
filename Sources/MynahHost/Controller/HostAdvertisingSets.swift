import MynahCore
import MynahHCI

/// Changes a controller's advertising sets until they match the host's request, one step at a time.
///
/// Each set has a `HostAdvertiser`, whose index is the set's handle. Legacy commands support only one set.
struct HostAdvertisingSets {
    private var machines = [HostAdvertiser()]
    /// The handle of the set whose step waits for its answer.
    private var underWay: Int?

    /// The number of connected centrals at which connectable sets stop, or `nil` for no limit.
    var largestCentralCount: Int? {
        didSet { for index in machines.indices { machines[index].largestCentralCount = largestCentralCount } }
    }

    /// Identifies a request for several sets, by the number of the request for each set.
    struct Number: Hashable {
        fileprivate var ofSets: [UInt64]
    }

    /// Whether any set is requested.
    var isWanted: Bool { machines.contains { $0.number != nil } }
    /// `true` while the controller does not yet match the request.
    var isBusy: Bool { machines.contains(where: \.isBusy) }
    /// Whether advertising is off for all sets, and no step waits for its answer.
    var isQuiet: Bool { machines.allSatisfy(\.isQuiet) }
    /// The interval and the data length of each set on the air.
    var sent: [(interval: UInt16, dataLength: Int)] { machines.compactMap(\.sent) }
    /// The last report, or `nil` if nothing was reported to be on the air.
    var announced: AdvertisingReport? {
        let reports = machines.compactMap(\.announced)
        return reports.isEmpty ? nil : .combined(reports)
    }

    // MARK: Requests of the host

    /// Requests advertising sets, which replace the previous ones.
    mutating func want(_ sets: [HostAdvertiser.Configuration]) -> Number {
        while machines.count < sets.count { machines.append(machines[0].another) }
        for index in machines.indices.dropFirst(sets.count) { machines[index].stop() }
        return Number(ofSets: sets.enumerated().map { machines[$0].want($1) })
    }

    /// Requests that nothing is advertised.
    mutating func stop() {
        for index in machines.indices { machines[index].stop() }
    }

    /// Notes the reports about the sets of a request, unless a later request has replaced it.
    mutating func announce(_ reports: [AdvertisingReport], of number: Number) {
        for (index, report) in reports.enumerated() {
            machines[index].announce(report, of: number.ofSets[index])
        }
    }

    /// Updates the addresses in the reports of the announced sets.
    mutating func announceAddress() {
        for index in machines.indices { machines[index].announceAddress() }
    }

    /// Returns why an announced set is not on the air any longer; a second call returns `nil`.
    ///
    /// The other sets stop too.
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

    /// Ends `hold`; the controller now has this address.
    mutating func release(_ address: DeviceAddress?) {
        for index in machines.indices { machines[index].release(address) }
    }

    /// Returns the result of a request after the last step.
    ///
    /// The first set that is not on the air decides the result.
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

    /// Notes that the controller disappeared.
    mutating func ended() {
        underWay = nil
        for index in machines.indices { machines[index].ended() }
    }

    /// Notes that a link began.
    ///
    /// If centrals can connect to several sets, `stopped` reports which of them the controller stopped.
    mutating func linkBegan(_ role: LEConnection.Role) {
        let isOnlyOne = machines.count(where: \.isConnectable) <= 1
        for index in machines.indices {
            machines[index].linkBegan(role, isOfSet: isOnlyOne && machines[index].isConnectable)
        }
    }

    /// Notes that the controller reports a set as stopped because of a link.
    ///
    /// If only one set is connectable, the report is ignored: `linkBegan` has already noted the stop, and the
    /// set may be on the air again.
    mutating func stopped(_ handle: UInt8) {
        guard machines.indices.contains(Int(handle)), machines.count(where: \.isConnectable) > 1 else {
            return
        }
        machines[Int(handle)].stoppedByLink()
    }

    /// Notes that a link ended.
    ///
    /// `role` is the role of this side, or `nil` if the link was never reported.
    mutating func linkEnded(_ role: LEConnection.Role?) {
        for index in machines.indices { machines[index].linkEnded(role) }
    }

    // MARK: Steps

    /// Returns the next step and the handle of its set.
    ///
    /// Returns `nil` if there is nothing to do, or a step waits for its answer.
    mutating func next() -> (handle: UInt8, step: HostAdvertiser.Step)? {
        guard underWay == nil else { return nil }
        for index in machines.indices {
            guard let step = machines[index].next() else { continue }
            underWay = index
            return (UInt8(index), step)
        }
        return nil
    }

    /// Handles the answer to the current step.
    mutating func finished(_ outcome: CommandOutcome) {
        guard let index = underWay else { return }
        underWay = nil
        machines[index].finished(outcome)
    }
}
