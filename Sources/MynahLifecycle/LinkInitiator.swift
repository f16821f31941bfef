package import MynahCore

/// Makes the connections that apps wait for, one after the other, when their devices are heard.
///
/// The phone drives it. It gives the devices of `PhoneScan.listensFor`, each report that its radio hears,
/// each link that begins, and the result of each attempt. It carries out the actions.
///
/// A controller initiates to one device at a time, and cannot change its random address meanwhile (Core
/// Specification, Vol 4, Part E, 7.8.4). So a pending connection costs only listening, and initiating begins
/// when the device is heard. There can be any number of pending connections, and a private address can rotate
/// between two attempts. A device that has made a link to the phone need not be heard: the radio is asked at
/// once, and uses that link.
///
/// | state | device is heard | device is no longer wanted | attempt ends |
/// |---|---|---|---|
/// | idle | an attempt begins | – | – |
/// | initiating | another device queues | the attempt is cancelled | the next in the queue, or idle |
/// | cancelling | any device queues | – | the next in the queue, or idle |
package struct LinkInitiator: Sendable {
    /// An action for the phone.
    package enum Action: Hashable, Sendable {
        /// Connect to a device, and give up after the timeout; the number names the attempt.
        case initiate(DeviceAddress, attempt: UInt64, timeout: Duration)
        /// Cancel this attempt, and report its end like that of any other attempt.
        case cancel(attempt: UInt64)
        /// Restart the scan if the controller's duplicate filter is on, so that it reports devices again.
        case listenAnew
        /// Warn that the controller has no link left for the devices that wait.
        case linksExhausted(limit: Int)
        /// The connection has failed for good.
        case failed(DeviceAddress, RadioError)
    }

    /// The outcome of a connection attempt.
    package enum Outcome: Hashable, Sendable {
        /// There is a link.
        case connected
        /// The device did not answer in time, or the attempt was cancelled.
        case notReached
        /// The controller has no room for a further link.
        case noRoom
        /// The radio refused, and would refuse again.
        case failed(RadioError)
    }

    private enum State {
        case idle
        case initiating(DeviceAddress, attempt: UInt64)
        case cancelling(DeviceAddress, attempt: UInt64)
    }

    /// How long one attempt lasts at most: an assumption.
    package static let timeout: Duration = .seconds(2)

    private var state = State.idle
    private var wanted: Set<DeviceAddress> = []
    /// The wanted devices that were heard and wait for their attempt, in the order in which they were heard.
    private var heard: [DeviceAddress] = []
    private var links = 0
    /// The devices that are linked to the phone by links that they made: there is nothing to wait for.
    private var linked: Set<DeviceAddress> = []
    private let limit: Int?
    /// How many links the controller had when it had no room for another, until one of them ends.
    private var shownLimit: Int?
    private var isExhaustionReported = false
    private var lastAttempt: UInt64 = 0

    /// Waits for nothing, on a controller with room for `limit` links, or `nil` if that is not known.
    package init(limit: Int? = nil) {
        self.limit = limit
    }

    /// Whether no attempt is under way.
    package var isIdle: Bool { if case .idle = state { true } else { false } }

    private var knownLimit: Int? { [limit, shownLimit].compactMap(\.self).min() }
    private var hasRoom: Bool { knownLimit.map { links < $0 } ?? true }

    /// Other devices are waited for than before.
    package mutating func want(_ addresses: [DeviceAddress], into actions: inout [Action]) {
        let new = Set(addresses)
        let isGrown = !new.isSubset(of: wanted)
        wanted = new
        heard.removeAll { !new.contains($0) }
        if case .initiating(let address, let attempt) = state, !new.contains(address) {
            state = .cancelling(address, attempt: attempt)
            actions.append(.cancel(attempt: attempt))
        }
        // The controller may have reported a device before it was wanted.
        if isGrown { actions.append(.listenAnew) }
        takeLinked(addresses, into: &actions)
    }

    /// Devices that have made a link to the phone wait for no advertisement.
    private mutating func takeLinked(_ addresses: [DeviceAddress], into actions: inout [Action]) {
        for address in addresses where linked.contains(address) && !heard.contains(address) {
            if case .initiating(address, _) = state { continue }
            heard.append(address)
        }
        next(into: &actions)
    }

    /// A device was heard; it is of interest if it is wanted and can be connected to.
    package mutating func heard(_ report: ScanReport, into actions: inout [Action]) {
        guard report.kind == .connectable || report.kind == .directed, wanted.contains(report.address) else {
            return
        }
        if case .initiating(report.address, _) = state { return }
        guard hasRoom else { return reportExhaustion(into: &actions) }
        guard !heard.contains(report.address) else { return }
        heard.append(report.address)
        next(into: &actions)
    }

    /// The radio reports a new link to a device, before the attempt returns.
    package mutating func connected(to address: DeviceAddress, into actions: inout [Action]) {
        wanted.remove(address)
        heard.removeAll { $0 == address }
        switch state {
        case .initiating(address, _), .cancelling(address, _):
            state = .idle
            next(into: &actions)
        case .idle, .initiating, .cancelling: break
        }
    }

    /// An attempt ended; the end of one whose link was reported before changes nothing.
    package mutating func ended(_ attempt: UInt64, _ outcome: Outcome, into actions: inout [Action]) {
        let address: DeviceAddress
        switch state {
        case .initiating(let current, attempt), .cancelling(let current, attempt): address = current
        case .idle, .initiating, .cancelling: return
        }
        let isWanted = wanted.contains(address)
        switch outcome {
        case .connected: return connected(to: address, into: &actions)
        case .notReached:
            // The device must be heard again.
            if isWanted { actions.append(.listenAnew) }
        case .noRoom:
            // A controller that refuses its first link is asked again.
            shownLimit = max(links, 1)
            if hasRoom {
                if isWanted { actions.append(.listenAnew) }
            } else {
                heard = []
                if isWanted { reportExhaustion(into: &actions) }
            }
        case .failed(let error):
            if isWanted { actions.append(.failed(address, error)) }
            wanted.remove(address)
            heard.removeAll { $0 == address }
        }
        state = .idle
        next(into: &actions)
    }

    /// The number of the phone's links, of either role, is now `count`; these devices have made one of which
    /// the central's half makes no use yet.
    package mutating func has(
        links count: Int, madeBy devices: [DeviceAddress] = [], into actions: inout [Action]
    ) {
        let hadRoom = hasRoom
        linked = Set(devices)
        defer { takeLinked(devices.filter(wanted.contains), into: &actions) }
        // It may have refused because of a link that is not reported, or of something else.
        if count < links { shownLimit = nil }
        links = count
        guard hasRoom, !hadRoom else { return }
        isExhaustionReported = false
        // Devices that were found while there was no room were not kept, so the scan starts again.
        if !wanted.isEmpty { actions.append(.listenAnew) }
        next(into: &actions)
    }

    /// The radio is off or gone, and every attempt with it.
    package mutating func reset() {
        self = LinkInitiator(limit: limit, lastAttempt: lastAttempt)
    }

    private init(limit: Int?, lastAttempt: UInt64) {
        self.limit = limit
        self.lastAttempt = lastAttempt
    }

    private mutating func reportExhaustion(into actions: inout [Action]) {
        guard !isExhaustionReported, let knownLimit else { return }
        isExhaustionReported = true
        actions.append(.linksExhausted(limit: knownLimit))
    }

    private mutating func next(into actions: inout [Action]) {
        guard case .idle = state, !heard.isEmpty else { return }
        if !hasRoom {
            heard.removeAll { !linked.contains($0) }
            guard !heard.isEmpty else { return reportExhaustion(into: &actions) }
        }
        lastAttempt += 1
        let address = heard.removeFirst()
        state = .initiating(address, attempt: lastAttempt)
        actions.append(.initiate(address, attempt: lastAttempt, timeout: Self.timeout))
    }
}
