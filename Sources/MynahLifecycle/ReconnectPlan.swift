package import MynahCore

/// A plan by which an app connects to one device: in several ways, one after the other or at the same time.
///
/// The central role of the emulated app (`CentralScript`) drives this state machine, one for each device. It
/// passes in the results of the retrieve calls, matching devices, and the results of connections. It carries
/// out the actions.
///
/// | state | retrieved or discovered | connected | failed | the wait is over |
/// |---|---|---|---|---|
/// | idle | – | – | – | – |
/// | trying | connects | connected, cancels all others | the next device or stage | the next stage too |
/// | connected | – | – | – | – |
/// | exhausted | – | – | – | – |
///
/// If a stage finds no device, the next one begins at once. If a stage has a pending connection, the next one
/// begins after `patience`, because a pending connection never times out, and a device whose address changed
/// never answers. Earlier stages continue. The guide's flow chart says only "connection attempt succeeds?",
/// so `patience` and the pending connections of earlier stages are assumptions.
package struct ReconnectPlan: Sendable {
    /// An action for the app.
    package enum Action: Hashable, Sendable {
        /// Call retrievePeripherals(withIdentifiers:), and pass the result to `retrieved`.
        case retrieveKnown
        /// Call retrieveConnectedPeripherals(withServices:), and pass the matching devices to `retrieved`.
        case retrieveConnected
        /// Begin to scan for the device.
        case startScan
        /// Stop scanning for the device.
        case stopScan
        /// Connect to a device.
        case connect(PeripheralIdentifier)
        /// Cancel a pending connection.
        case cancel(PeripheralIdentifier)
        /// Call `waited` with the number, after this time.
        case wait(UInt64, Duration)
        /// Every way was tried without success.
        case exhausted
    }

    /// The state of the running stages.
    private struct Attempt: Sendable {
        var stage: Int
        /// The ways whose retrieve calls have not returned yet.
        var retrieving: Set<ReconnectWay> = []
        var isScanning = false
        /// The devices with a pending connection, in the order in which they were found.
        var pending: [PeripheralIdentifier] = []
        /// The pending devices that the current stage found.
        var found: Set<PeripheralIdentifier> = []
        /// Further retrieved devices, which are tried if the first one fails.
        var spare: [PeripheralIdentifier] = []
        var wait: UInt64?
    }

    private enum State: Sendable {
        case idle
        case trying(Attempt)
        case connected(PeripheralIdentifier)
        case exhausted
    }

    /// The largest number of pending connections; one more cancels the oldest.
    package static let limit = 8

    /// The time after which the next stage begins, while the earlier ones continue.
    private static let patience: Duration = .seconds(10)

    private let stages: [[ReconnectWay]]
    private var state = State.idle
    private var lastWait: UInt64 = 0

    /// Makes a plan with these stages, which begin one after the other; the ways within a stage begin
    /// together.
    package init(_ stages: [[ReconnectWay]]) {
        self.stages = stages.filter { !$0.isEmpty }
    }

    /// The connected device, or `nil` if none is connected.
    package var connected: PeripheralIdentifier? {
        if case .connected(let device) = state { device } else { nil }
    }
    /// Whether the plan needs a scan.
    package var isScanning: Bool {
        if case .trying(let attempt) = state { attempt.isScanning } else { false }
    }
    /// Whether a connection to a device is pending.
    package func isPending(_ device: PeripheralIdentifier) -> Bool {
        if case .trying(let attempt) = state { attempt.pending.contains(device) } else { false }
    }
    /// Whether the plan is trying to connect.
    package var isTrying: Bool { if case .trying = state { true } else { false } }

    // MARK: Requests of the player

    /// Stops all running procedures, and begins the first stage.
    package mutating func begin(into actions: inout [Action]) {
        stop(into: &actions)
        var attempt = Attempt(stage: -1)
        advance(&attempt, into: &actions)
    }

    /// Continues a plan that an earlier process of the app began, at the first stage that scans.
    ///
    /// `pending` are the devices with a pending connection from that process.
    package mutating func resume(pending: [PeripheralIdentifier], into actions: inout [Action]) {
        guard let stage = stages.firstIndex(where: { $0.contains(.scan) }) else { return }
        var attempt = Attempt(stage: stage)
        (attempt.isScanning, attempt.pending) = (true, pending)
        wait(&attempt, into: &actions)
        state = .trying(attempt)
    }

    /// Stops all running procedures.
    package mutating func stop(into actions: inout [Action]) {
        if case .trying(let attempt) = state { cancel(attempt, except: nil, into: &actions) }
        state = .idle
    }

    // MARK: Events

    /// Handles the devices that a retrieve call returned, which may be none.
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

    /// Handles a matching device that the scan discovered.
    package mutating func discovered(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard case .trying(var attempt) = state, attempt.isScanning, !attempt.pending.contains(device) else {
            return
        }
        attempt.spare.removeAll { $0 == device }
        connect(device, &attempt, into: &actions)
        state = .trying(attempt)
    }

    /// Handles a new connection.
    package mutating func connected(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard case .trying(let attempt) = state, attempt.pending.contains(device) else { return }
        cancel(attempt, except: device, into: &actions)
        state = .connected(device)
    }

    /// Handles a connection that failed, or that the app's user cancelled.
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

    /// Handles the end of a connection; the app decides what follows.
    package mutating func disconnected(_ device: PeripheralIdentifier) {
        if case .connected(device) = state { state = .idle }
    }

    /// Handles the end of a wait; a wait of an earlier stage is ignored.
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

    /// Continues with the current stage, or begins the next one if this stage can find nothing more.
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

    /// Begins the wait for the next stage, unless this stage is the last.
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
