import MynahCore
import MynahHCI

/// Changes a controller's advertising sets until they match the host's request, one step at a time.
///
/// Each set has a `HostAdvertiser`; its index is the advertising handle. Legacy commands support only one
/// set.
struct HostAdvertisingSets {
    private var machines = [HostAdvertiser()]
    /// The handle of the set whose step waits for its answer.
    private var underWay: Int?

    /// The number of connected centrals at which connectable sets stop, or `nil` for no limit.
    var largestCentralCount: Int? {
        didSet { for index in machines.indices { machines[index].largestCentralCount = largestCentralCount } }
    }

    /// The number of a request for several sets.
    struct Number: Hashable {
        fileprivate var ofSets: [UInt64]
    }

    /// Whether any set is requested.
    var isWanted: Bool { machines.contains { $0.number != nil } }
    /// `true` while the controller may not match the request.
    var isBusy: Bool { machines.contains(where: \.isBusy) }
    /// Whether advertising is off for all sets, and no step waits for its answer.
    var isQuiet: Bool { machines.allSatisfy(\.isQuiet) }
    /// The advertising interval, in units of 0.625 ms, and the data length of each set on the air.
    var sent: [(interval: UInt16, dataLength: Int)] { machines.compactMap(\.sent) }
    /// The combined report of the sets that were reported as on the air, or `nil` if none was.
    var announced: AdvertisingReport? {
        var reports = machines.compactMap(\.announced)
        guard !reports.isEmpty else { return nil }
        var report = reports.removeFirst()
        report.otherSets = reports
        return report
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

    /// Stores the reports of the sets of a request, unless a later request has replaced it.
    mutating func announce(_ reports: [AdvertisingReport], of number: Number) {
        for (index, report) in reports.enumerated() {
            machines[index].announce(report, of: number.ofSets[index])
        }
    }

    /// Updates the addresses in the stored reports.
    mutating func announceAddress() {
        for index in machines.indices { machines[index].announceAddress() }
    }

    /// Returns the reason if a reported set is no longer on the air; a second call returns `nil`.
    ///
    /// The other sets are stopped too.
    mutating func takeLostAnnouncement() -> (step: HostAdvertiser.Step, status: HCIStatus)? {
        for index in machines.indices {
            guard let lost = machines[index].takeLostAnnouncement() else { continue }
            stop()
            return lost
        }
        return nil
    }

    /// Turns advertising off until `release`.
    ///
    /// The address cannot change while advertising is on (Vol 4, Part E, 7.8.4).
    mutating func hold() {
        for index in machines.indices { machines[index].hold() }
    }

    /// Turns advertising on again after `hold`, with the controller's new address.
    mutating func release(_ address: DeviceAddress?) {
        for index in machines.indices { machines[index].release(address) }
    }

    /// Returns the result of a request after the last step.
    ///
    /// If not all sets are on the air, the result is that of the first refused set, or else of the first
    /// other one.
    func verdict(on number: Number) -> HostAdvertiser.Verdict {
        let verdicts = number.ofSets.enumerated().map { machines[$0].verdict(on: $1) }
        return verdicts.first { if case .refused = $0 { true } else { false } }
            ?? verdicts.first { $0 != .onAir } ?? .onAir
    }

    /// The address that a set has on the air.
    func address(of set: HostAdvertiser.Configuration) -> DeviceAddress? { machines[0].address(of: set) }

    // MARK: Events of the controller

    /// Handles the end of bring-up.
    mutating func began(_ address: DeviceAddress?, identity: DeviceAddress?) {
        underWay = nil
        for index in machines.indices { machines[index].began(address, identity: identity) }
    }

    /// Handles the loss of the controller.
    mutating func ended() {
        underWay = nil
        for index in machines.indices { machines[index].ended() }
    }

    /// Handles the beginning of a link.
    ///
    /// If several sets are connectable, only `stopped` reports which of them the controller has stopped.
    mutating func linkBegan(_ role: LEConnection.Role) {
        let isOnlyOne = machines.count(where: \.isConnectable) <= 1
        for index in machines.indices {
            machines[index].linkBegan(role, isOfSet: isOnlyOne && machines[index].isConnectable)
        }
    }

    /// Handles a report that the controller has stopped a set because of a link.
    ///
    /// If only one set is connectable, the report is ignored: `linkBegan` has already handled it, and the set
    /// may be on the air again.
    mutating func stopped(_ handle: UInt8) {
        guard machines.indices.contains(Int(handle)), machines.count(where: \.isConnectable) > 1 else {
            return
        }
        machines[Int(handle)].stoppedByLink()
    }

    /// Handles the end of a link.
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
