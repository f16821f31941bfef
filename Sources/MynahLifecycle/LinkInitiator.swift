package import MynahCore

/// Makes the pending connections of apps, one at a time, when the advertising of their devices is received.
///
/// A device with a pending connection is called an awaited device.
///
/// The phone drives this state machine. It passes in the devices of `PhoneScan.listensFor`, each advertising
/// report of its radio, each new link, and the result of each attempt. It carries out the actions.
///
/// A controller initiates to one device at a time, and cannot change its random address meanwhile (Core
/// Specification, Vol 4, Part E, 7.8.4). So the phone only listens for a pending connection, and initiates
/// when the device is received. There can be any number of pending connections, and a private address can
/// change between two attempts. For a device that has made a link to the phone, the radio is asked at once,
/// and uses that link.
///
/// | state | device is heard | device is no longer awaited | attempt ends |
/// |---|---|---|---|
/// | idle | an attempt begins | – | – |
/// | initiating | another device queues | the attempt is cancelled | the next in the queue, or idle |
/// | cancelling | any device queues | – | the next in the queue, or idle |
package struct LinkInitiator: Sendable {
    /// An action for the phone.
    package enum Action: Hashable, Sendable {
        /// Connect to a device, and stop trying after the timeout; the number identifies the attempt.
        case initiate(DeviceAddress, attempt: UInt64, timeout: Duration)
        /// Cancel this attempt, and report its end like that of any other attempt.
        case cancel(attempt: UInt64)
        /// Restart the scan if the controller's duplicate filter is on, so that it reports the devices again.
        case listenAnew
        /// Warn that the controller is at its limit of connections, so that no pending connection can be
        /// made.
        case linksExhausted(limit: Int)
        /// The connection has failed, and will not be tried again.
        case failed(DeviceAddress, RadioError)
    }

    /// The result of a connection attempt.
    package enum Outcome: Hashable, Sendable {
        /// The link was made.
        case connected
        /// The device did not answer in time, or the attempt was cancelled.
        case notReached
        /// The controller is at its limit of connections.
        case noRoom
        /// The radio refused, and would refuse again.
        case failed(RadioError)
    }

    private enum State {
        case idle
        case initiating(DeviceAddress, attempt: UInt64)
        case cancelling(DeviceAddress, attempt: UInt64)
    }

    /// The longest time of an attempt; an assumption.
    package static let timeout: Duration = .seconds(2)

    private var state = State.idle
    private var wanted: Set<DeviceAddress> = []
    /// The awaited devices that were received and are queued for an attempt, in the order in which they were
    /// received.
    private var heard: [DeviceAddress] = []
    private var links = 0
    /// The devices that have made a link to the phone; connections to them need no advertising.
    private var linked: Set<DeviceAddress> = []
    private let limit: Int?
    /// The number of links at which the controller last refused another one.
    ///
    /// The value is `nil` if it never did, or if a link has ended since.
    private var shownLimit: Int?
    private var isExhaustionReported = false
    private var lastAttempt: UInt64 = 0

    /// Makes an initiator without pending connections.
    ///
    /// `limit` is the largest number of links of the controller, or `nil` if it is not known.
    package init(limit: Int? = nil) {
        self.limit = limit
    }

    /// Whether no attempt is running.
    package var isIdle: Bool { if case .idle = state { true } else { false } }

    private var knownLimit: Int? { [limit, shownLimit].compactMap(\.self).min() }
    private var hasRoom: Bool { knownLimit.map { links < $0 } ?? true }

    /// Sets the devices with pending connections, each of which is connected when its advertising is
    /// received.
    package mutating func want(_ addresses: [DeviceAddress], into actions: inout [Action]) {
        let new = Set(addresses)
        let isGrown = !new.isSubset(of: wanted)
        wanted = new
        heard.removeAll { !new.contains($0) }
        if case .initiating(let address, let attempt) = state, !new.contains(address) {
            state = .cancelling(address, attempt: attempt)
            actions.append(.cancel(attempt: attempt))
        }
        // The controller may have reported a device before it was awaited.
        if isGrown { actions.append(.listenAnew) }
        takeLinked(addresses, into: &actions)
    }

    /// Begins attempts for devices that have made a link to the phone, without waiting for their advertising.
    private mutating func takeLinked(_ addresses: [DeviceAddress], into actions: inout [Action]) {
        for address in addresses where linked.contains(address) && !heard.contains(address) {
            if case .initiating(address, _) = state { continue }
            heard.append(address)
        }
        next(into: &actions)
    }

    /// Handles an advertising report; only reports of connectable devices with a pending connection have an
    /// effect.
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

    /// Handles a new link, which the radio reports before the attempt's result.
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

    /// Handles the result of an attempt; if its link was reported before, nothing changes.
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
            // The next attempt begins when the device is received again.
            if isWanted { actions.append(.listenAnew) }
        case .noRoom:
            // If the controller refuses its first link, the limit is 1, so that it is asked again.
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

    /// Sets the number of the phone's links, of both roles.
    ///
    /// `devices` have made links that the phone does not use as a central yet.
    package mutating func has(
        links count: Int, madeBy devices: [DeviceAddress] = [], into actions: inout [Action]
    ) {
        let hadRoom = hasRoom
        linked = Set(devices)
        defer { takeLinked(devices.filter(wanted.contains), into: &actions) }
        // The controller may have refused for another reason, such as a link that was not reported.
        if count < links { shownLimit = nil }
        links = count
        guard hasRoom, !hadRoom else { return }
        isExhaustionReported = false
        // Devices that were received at the limit were dropped, so the scan starts again.
        if !wanted.isEmpty { actions.append(.listenAnew) }
        next(into: &actions)
    }

    /// Forgets all attempts, because the radio is off or lost.
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
