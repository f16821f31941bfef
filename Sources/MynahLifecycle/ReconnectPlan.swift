package import MynahCore

/// How an app gets back to one device: by several ways, in order or at once.
///
/// The app's player drives it, one plan for each device that it wants. It gives what the retrieve calls
/// returned, devices that match, and the fate of connections. It carries out the actions.
///
/// | state | retrieved or discovered | connected | failed | the wait is over |
/// |---|---|---|---|---|
/// | idle | – | – | – | – |
/// | trying | connects | connected, cancels all others | the next device or stage | the next stage too |
/// | connected | – | – | – | – |
/// | exhausted | – | – | – | – |
///
/// A stage that finds no device gives way to the next at once. If a stage connects, the next one begins
/// after `patience` too: a pending connection never times out, and a device whose address changed never
/// answers. Earlier stages continue. The guide's flow chart says only "connection attempt succeeds?", so
/// `patience` and the pending connections of earlier stages are assumptions.
package struct ReconnectPlan: Sendable {
    /// An action for the player.
    package enum Action: Hashable, Sendable {
        /// Call retrievePeripherals(withIdentifiers:), and give the result to `retrieved`.
        case retrieveKnown
        /// Call retrieveConnectedPeripherals(withServices:), and give the devices that match to `retrieved`.
        case retrieveConnected
        /// The plan wants a scan.
        case startScan
        /// The plan wants a scan no longer.
        case stopScan
        /// Connect to a device.
        case connect(PeripheralIdentifier)
        /// Cancel a pending connection.
        case cancel(PeripheralIdentifier)
        /// After this time call `waited` with the number.
        case wait(UInt64, Duration)
        /// Every way was tried, and none is left.
        case exhausted
    }

    /// The procedures under way.
    private struct Attempt: Sendable {
        var stage: Int
        /// The retrieve calls that have not returned.
        var retrieving: Set<ReconnectWay> = []
        var isScanning = false
        /// The devices with a pending connection, in the order in which they were found.
        var pending: [PeripheralIdentifier] = []
        /// Those of them that the stage of now led to.
        var found: Set<PeripheralIdentifier> = []
        /// Devices that were retrieved after another, which are tried if that one fails.
        var spare: [PeripheralIdentifier] = []
        var wait: UInt64?
    }

    private enum State: Sendable {
        case idle
        case trying(Attempt)
        case connected(PeripheralIdentifier)
        case exhausted
    }

    /// How many connections are pending at once; one more cancels the oldest.
    package static let limit = 8

    /// How long a stage has before the next one begins too.
    private static let patience: Duration = .seconds(10)

    private let stages: [[ReconnectWay]]
    private var state = State.idle
    private var lastWait: UInt64 = 0

    /// A plan with these stages, one after the other, the ways of each at once.
    package init(_ stages: [[ReconnectWay]]) {
        self.stages = stages.filter { !$0.isEmpty }
    }

    /// The device that is connected; `nil` if none is.
    package var connected: PeripheralIdentifier? {
        if case .connected(let device) = state { device } else { nil }
    }
    /// Whether a scan is wanted.
    package var isScanning: Bool {
        if case .trying(let attempt) = state { attempt.isScanning } else { false }
    }
    /// Whether a connection to a device is pending.
    package func isPending(_ device: PeripheralIdentifier) -> Bool {
        if case .trying(let attempt) = state { attempt.pending.contains(device) } else { false }
    }
    /// Whether something is under way.
    package var isTrying: Bool { if case .trying = state { true } else { false } }

    // MARK: Requests of the player

    /// Begins with the first stage, in place of anything under way.
    package mutating func begin(into actions: inout [Action]) {
        stop(into: &actions)
        var attempt = Attempt(stage: -1)
        advance(&attempt, into: &actions)
    }

    /// Goes on with the stage that scans, which an earlier process of the app began, with its pending
    /// connections.
    package mutating func resume(pending: [PeripheralIdentifier], into actions: inout [Action]) {
        guard let stage = stages.firstIndex(where: { $0.contains(.scan) }) else { return }
        var attempt = Attempt(stage: stage)
        (attempt.isScanning, attempt.pending) = (true, pending)
        wait(&attempt, into: &actions)
        state = .trying(attempt)
    }

    /// Ends what is under way.
    package mutating func stop(into actions: inout [Action]) {
        if case .trying(let attempt) = state { cancel(attempt, except: nil, into: &actions) }
        state = .idle
    }

    // MARK: Events

    /// A retrieve call returned these devices, which may be none.
    package mutating func retrieved(
        _ way: ReconnectWay, _ found: [PeripheralIdentifier], into actions: inout [Action]
    ) {
        guard case .trying(var attempt) = state, attempt.retrieving.remove(way) != nil else { return }
        let new = found.filter { !attempt.pending.contains($0) && !attempt.spare.contains($0) }
        if let first = new.first { connect(first, &attempt, into: &actions) }
        attempt.spare += new.dropFirst()
        attempt.found.formUnion(found.filter { attempt.pending.contains($0) })
        proceed(&attempt, into: &actions)
    }

    /// The scan discovered a device that matches.
    package mutating func discovered(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard case .trying(var attempt) = state, attempt.isScanning, !attempt.pending.contains(device) else {
            return
        }
        attempt.spare.removeAll { $0 == device }
        connect(device, &attempt, into: &actions)
        state = .trying(attempt)
    }

    /// A connection was made.
    package mutating func connected(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard case .trying(let attempt) = state, attempt.pending.contains(device) else { return }
        cancel(attempt, except: device, into: &actions)
        state = .connected(device)
    }

    /// A connection failed, or was cancelled by the app's user.
    package mutating func failed(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard case .trying(var attempt) = state, attempt.pending.contains(device) else { return }
        attempt.pending.removeAll { $0 == device }
        attempt.found.remove(device)
        if !attempt.spare.isEmpty {
            let next = attempt.spare.removeFirst()
            connect(next, &attempt, into: &actions)
            attempt.found.insert(next)
        }
        proceed(&attempt, into: &actions)
    }

    /// A connection ended; the player decides what follows.
    package mutating func disconnected(_ device: PeripheralIdentifier) {
        if case .connected(device) = state { state = .idle }
    }

    /// The time of a wait is over; a wait that is no longer of interest changes nothing.
    package mutating func waited(_ wait: UInt64, into actions: inout [Action]) {
        guard case .trying(var attempt) = state, attempt.wait == wait else { return }
        advance(&attempt, into: &actions)
    }

    // MARK: Stages

    private func connect(
        _ device: PeripheralIdentifier, _ attempt: inout Attempt, into actions: inout [Action]
    ) {
        if attempt.pending.count >= Self.limit {
            let oldest = attempt.pending.removeFirst()
            attempt.found.remove(oldest)
            actions.append(.cancel(oldest))
        }
        attempt.pending.append(device)
        actions.append(.connect(device))
    }

    /// Goes on with this stage, or takes the next one if this one has nothing left to wait for.
    private mutating func proceed(_ attempt: inout Attempt, into actions: inout [Action]) {
        let isScanStage = stages[attempt.stage].contains(.scan)
        if attempt.retrieving.isEmpty, attempt.found.isEmpty, !isScanStage {
            advance(&attempt, into: &actions)
        } else {
            state = .trying(attempt)
        }
    }

    private mutating func advance(_ attempt: inout Attempt, into actions: inout [Action]) {
        attempt.wait = nil
        guard attempt.stage + 1 < stages.count else {
            // An earlier stage may still find a device.
            guard attempt.retrieving.isEmpty, attempt.pending.isEmpty, !attempt.isScanning else {
                state = .trying(attempt)
                return
            }
            state = .exhausted
            return actions.append(.exhausted)
        }
        attempt.stage += 1
        attempt.found = []
        for way in stages[attempt.stage] { begin(way, &attempt, into: &actions) }
        wait(&attempt, into: &actions)
        state = .trying(attempt)
    }

    /// Gives a stage its time, unless it is the last.
    private mutating func wait(_ attempt: inout Attempt, into actions: inout [Action]) {
        guard attempt.stage + 1 < stages.count else { return }
        lastWait += 1
        attempt.wait = lastWait
        actions.append(.wait(lastWait, Self.patience))
    }

    private func begin(_ way: ReconnectWay, _ attempt: inout Attempt, into actions: inout [Action]) {
        switch way {
        case .known where attempt.retrieving.insert(.known).inserted: actions.append(.retrieveKnown)
        case .connected where attempt.retrieving.insert(.connected).inserted:
            actions.append(.retrieveConnected)
        case .scan where !attempt.isScanning:
            attempt.isScanning = true
            actions.append(.startScan)
        case .known, .connected, .scan: break
        }
    }

    private func cancel(_ attempt: Attempt, except kept: PeripheralIdentifier?, into actions: inout [Action])
    {
        if attempt.isScanning { actions.append(.stopScan) }
        for device in attempt.pending where device != kept { actions.append(.cancel(device)) }
    }
}
