import Mynah
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Receives the events of a central manager, and passes them on as reports (`ConnectReport`).
final class ConnectSink: CentralManagerSink {
    private struct State {
        var onDiscovery: (@Sendable (Discovery) -> Void)?
        var onEvent: (@Sendable (CentralManagerEvent) -> Void)?
        var observer: (any ConnectObserver)?
        var services: [DiscoveredService] = []
        /// The number of times that the radio has reported room for writes without response.
        var rooms = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Calls that wait for the end of a link.
        var ending: [(peripheral: PeripheralIdentifier, end: FirstResult<Void>)] = []
    }

    /// A function that answers the questions of a pairing, so that the user is not asked.
    struct PairingAnswers: Sendable {
        var answer: @Sendable (PairingStep) -> RadioAnswer
    }

    private let state = Lock(State())
    /// The order of the reports; the lock is held while reports are passed on, so that the observer gets them
    /// in order.
    private let order = Lock(ReportOrder())
    private let questions: (any QuestionAsker)?
    private let passkey: UInt32?
    private let answers: PairingAnswers?
    private let clock: RunClock

    /// Makes a sink that lets `answers` answer the questions of a pairing or, with `nil`, the user.
    ///
    /// `questions` asks the user, or is `nil` if the user cannot be asked. `passkey` is the passkey to enter,
    /// or `nil` to ask the user for it.
    init(
        questions: (any QuestionAsker)?, passkey: UInt32?, answers: PairingAnswers? = nil, clock: RunClock
    ) {
        self.questions = questions
        self.passkey = passkey
        self.answers = answers
        self.clock = clock
    }

    /// Sets the observer of reports, or removes it if `observer` is `nil`.
    func tells(_ observer: (any ConnectObserver)?) {
        state.withLock { $0.observer = observer }
        guard observer == nil else { return }
        tellOfRoom()
        ended(nil)
    }

    /// Reports an event of a device, or of the phone itself if `device` is `nil`.
    func tell(_ report: ConnectReport, _ device: EventPeripheral? = nil) {
        give { $0.reports(report, of: device, at: .now(clock)) }
    }

    /// Reports the result of a command, with the time of the device's last answer.
    ///
    /// The report `former`, if there is one, is passed on first, with the same time.
    func tellResult(
        _ report: ConnectReport, _ device: EventPeripheral? = nil, after former: ConnectReport? = nil
    ) {
        give { order in
            var reports = order.commandReports(report, of: device, at: .now(clock))
            if let former, let time = reports.first?.time {
                reports.insert(.init(report: former, time: time, device: device), at: 0)
            }
            return reports
        }
    }

    /// Records that a request was sent to a device or, with `isAnswered`, that the device has answered it.
    func asked(isAnswered: Bool) {
        give { isAnswered ? $0.answered(at: .now(clock)) : $0.release() }
    }

    /// Marks the beginning of a command that sends requests to the device.
    func commandBegan() { give { $0.begin() } }

    /// Marks the end of a command.
    func commandEnded() { give { $0.end() } }

    private func give(_ body: (inout ReportOrder) -> [ReportOrder.Report]) {
        let observer = state.withLock { $0.observer }
        order.withLock { order in
            for each in body(&order) { observer?.observe(each.report, of: each.device, at: each.time) }
        }
    }

    /// The number of times that the radio has reported room for writes without response.
    var rooms: Int { state.withLock { $0.rooms } }

    /// Waits until `rooms` differs from the given number; `rooms` also changes when a link ends.
    func waitForRoom(after rooms: Int) async {
        await withCheckedContinuation { continuation in
            let isLate = state.withLock { state in
                guard state.rooms == rooms else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isLate { continuation.resume() }
        }
    }

    private func tellOfRoom() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.rooms += 1
            return state.waiting
        }
        for each in waiting { each.resume() }
    }

    /// Returns a result that gets its value when the manager reports the end of the peripheral's link.
    func expectEnd(of peripheral: Peripheral) -> FirstResult<Void> {
        let end = FirstResult<Void>()
        state.withLock { $0.ending.append((peripheral.identifier, end)) }
        return end
    }

    /// Resumes the calls that wait for the end of this peripheral's link, or with `nil` all such calls.
    private func ended(_ peripheral: PeripheralIdentifier?) {
        let over = state.withLock { state in
            let over = state.ending.filter { peripheral == nil || $0.peripheral == peripheral }
            state.ending.removeAll { peripheral == nil || $0.peripheral == peripheral }
            return over.map(\.end)
        }
        for end in over { end.give(()) }
    }

    func onDiscovery(_ handler: (@Sendable (Discovery) -> Void)?) {
        state.withLock { $0.onDiscovery = handler }
    }

    /// Sets the function that is also called with each event of the manager; `nil` removes the function.
    func onEvent(_ handler: (@Sendable (CentralManagerEvent) -> Void)?) {
        state.withLock { $0.onEvent = handler }
    }

    /// The discovered services, for completions at the prompt.
    var services: [DiscoveredService] {
        get { state.withLock { $0.services } }
        set { state.withLock { $0.services = newValue } }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        let (observer, onDiscovery, onEvent) = state.withLock {
            ($0.observer, $0.onDiscovery, $0.onEvent)
        }
        onEvent?(event)
        switch event {
        case .discovered(let discovery):
            onDiscovery?(discovery)
            tell(.discovered(discovery), discovery.peripheral)
        case .connected(let peripheral, _):
            tell(.connected(peripheral.address, name: peripheral.look { $0.name }), peripheral)
        case .failedToConnect(let peripheral, let error): tell(.failedToConnect(error), peripheral)
        case .disconnected(let peripheral, let end):
            questions?.withdrawQuestion()
            tell(.disconnected(end.error), peripheral)
            tellOfRoom()
            ended(peripheral.identifier)
        case .mtuChanged(let peripheral, let mtu): tell(.mtu(mtu), peripheral)
        case .valueUpdated(let update): tell(update)
        case .servicesChanged(let peripheral, let range, _): tell(.servicesChanged(range), peripheral)
        case .paired(let peripheral): tell(.paired, peripheral)
        case .pairing(let peripheral, let step): return pair(step, peripheral)
        case .lost(let error): tell(.problem(error.description))
        case .warning(let warning):
            // The question may be part of the failed pairing, and needs no answer then.
            if warning.code == "pairingFailed" { questions?.withdrawQuestion() }
            observer?.warn(warning)
        case .readyToWrite: tellOfRoom()
        case .stateChanged, .willRestoreState, .connectionEvent, .nameUpdated, .recovered, .missed: break
        }
        return .none
    }

    /// Reports an event of a peripheral; must be called on the manager's executor.
    private func tell(_ report: ConnectReport, _ peripheral: Peripheral) {
        tell(report, EventPeripheral(address: peripheral.address, name: peripheral.look { $0.name }))
    }

    private func tell(_ update: ValueUpdate) {
        guard let characteristic = update.characteristic else {
            return tell(.sentFrom(update.delivery, update.handle, update.value), update.peripheral)
        }
        let services = update.peripheral.look { $0.services }
        tell(
            .sent(update.delivery, .characteristic(characteristic.numbered(in: services)), update.value),
            update.peripheral)
    }

    // MARK: - Pairing

    private func pair(_ step: PairingStep, _ peripheral: Peripheral) -> RadioAnswer {
        // A command whose request was refused may wait for this pairing, so its result comes later.
        give { $0.release() }
        switch step {
        case .display(let number): tell(.passkey(.display, number), peripheral)
        case .compare(let number): tell(.passkey(.compare, number), peripheral)
        case .enter: tell(.passkeyWanted, peripheral)
        case .agree: break
        }
        if let answers { return answers.answer(step) }
        switch step {
        case .display: return .none
        case .agree: return .pairing(.agreed)
        case .compare:
            guard let questions else { return .pairing(.agreed) }
            return ask(
                questions, "yes or no:", hint: "type yes if the numbers are the same, else no",
                PairingAnswer.init(comparing:))
        case .enter:
            if let passkey { return .pairing(.passkey(passkey)) }
            // A device without input has no passkey entry (Vol 3, Part H, 2.3.5.1).
            guard let questions else { return .pairing(.declined) }
            return ask(
                questions, "type the number that the device shows:",
                hint: "type the number that the device shows, up to six digits, or no",
                PairingAnswer.init(entering:))
        }
    }

    private func ask(
        _ asker: any QuestionAsker, _ question: String, hint: String,
        _ read: @escaping @Sendable (String) -> PairingAnswer?
    ) -> RadioAnswer {
        let reply = PendingPairingReply()
        asker.ask(question, hint: hint) { line in
            guard let answer = read(line) else { return nil }
            return { reply.answer(answer) }
        }
        return .pairingLater(reply.pending)
    }
}
