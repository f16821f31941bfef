import MynahCore
import MynahHCI

/// Changes a controller's advertising sets until they match the host's request, one step at a time.
///
/// Each set has a `HostAdvertiser`, whose index is the set's handle. Legacy commands support only one set.
///
/// A set keeps its handle and its identifier while other sets are switched off and on.
struct HostAdvertisingSets {
    private var machines = [HostAdvertiser()]
    /// The name of the set of each `HostAdvertiser`, by handle, or `nil` for the first one before it has a
    /// set.
    private var names: [String?] = [nil]
    /// The identifiers (Advertising SID) of the extended sets, by name.
    private var identifiers: [String: UInt8] = [:]
    /// The handles of the requested sets, in the order of the request.
    private var order: [Int] = []
    /// The handle of the set whose step waits for its answer.
    private var underWay: Int?

    /// The number of connected centrals at which connectable sets stop, or `nil` for no limit.
    var largestCentralCount: Int? {
        didSet { for index in machines.indices { machines[index].largestCentralCount = largestCentralCount } }
    }

    /// The number of a request for several sets.
    struct Number: Equatable {
        fileprivate var ofSets: [(handle: Int, number: UInt64)]

        static func == (one: Number, other: Number) -> Bool {
            one.ofSets.elementsEqual(other.ofSets, by: ==)
        }
    }

    /// Whether any set is requested.
    var isWanted: Bool { machines.contains { $0.number != nil } }
    /// `true` while the controller may not match the request.
    var isBusy: Bool { machines.contains(where: \.isBusy) }
    /// Whether advertising is off for all sets, and no step waits for its answer.
    var isQuiet: Bool { machines.allSatisfy(\.isQuiet) }
    /// The advertising of each set on the air, as far as it is known.
    var sent: [RadioMeter.Activity.Advertising] { machines.compactMap(\.sent) }
    /// The combined report of the sets for which `announce` stored one, or `nil` if there is none.
    var announced: AdvertisingReport? {
        // In the order of the request, which may differ from that of the handles.
        let reports = order.compactMap { machines[$0].announced }
        return reports.isEmpty ? nil : .combined(reports)
    }

    // MARK: Requests of the host

    /// Requests advertising sets, which replace the previous ones.
    mutating func want(_ sets: [HostAdvertiser.Configuration]) -> Number {
        let handles = handles(of: sets.map(\.name))
        for index in machines.indices where !handles.contains(index) { machines[index].stop() }
        order = handles
        identify(sets.filter { $0.parameters.extended != nil }.map(\.name))
        return Number(
            ofSets: zip(handles, sets).map { handle, set in
                var set = set
                if set.parameters.extended != nil { set.parameters.identifier = identifiers[set.name] ?? 0 }
                return (handle, machines[handle].want(set))
            })
    }

    /// Returns the handles of the sets with these names.
    ///
    /// A set gets the handle that it had before. A new set gets the handle of a set that is no longer
    /// requested or, if there is none, the next handle. Controllers have few sets, so few handles must be
    /// used.
    private mutating func handles(of wanted: [String]) -> [Int] {
        var handles = wanted.map { name in names.firstIndex(of: name) }
        for (place, name) in wanted.enumerated() where handles[place] == nil {
            let free = names.indices.first { index in !handles.contains(index) }
            let handle = free ?? machines.count
            if free == nil {
                machines.append(machines[0].another)
                names.append(nil)
            }
            names[handle] = name
            handles[place] = handle
        }
        return handles.compactMap(\.self)
    }

    /// Gives each of the extended sets with these names an identifier (Advertising SID).
    ///
    /// Up to 16 sets have different identifiers.
    private mutating func identify(_ wanted: [String]) {
        for name in wanted where identifiers[name] == nil {
            let used = Set(wanted.compactMap { identifiers[$0] })
            identifiers[name] =
                (0...15).first { !used.contains($0) } ?? UInt8(identifiers.count & 0x0F)
        }
    }

    /// Requests that nothing is advertised.
    mutating func stop() {
        for index in machines.indices { machines[index].stop() }
    }

    /// Stores the reports of the sets of a request that is on the air, unless a later request has replaced
    /// it.
    mutating func announce(_ reports: [AdvertisingReport], of number: Number) {
        for (set, report) in zip(number.ofSets, reports) {
            machines[set.handle].announce(report, of: set.number)
        }
    }

    /// Updates the addresses in the stored reports.
    mutating func announceAddress() {
        for index in machines.indices { machines[index].announceAddress() }
    }

    /// Returns the refused step because of which a reported set is no longer on the air, and stops all sets.
    ///
    /// The result is `nil` if there is no such step, or if it was returned before.
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
    /// If a set was refused, the result is that of the first refused set. Otherwise it is that of the first
    /// set that is not on the air, if there is one.
    func verdict(on number: Number) -> HostAdvertiser.Verdict {
        let verdicts = number.ofSets.map { machines[$0.handle].verdict(on: $0.number) }
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
    /// `role` is the role of this side, or `nil` if the controller never reported the link's beginning.
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
