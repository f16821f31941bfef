import Mynah
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahSupport

/// Handles the events of the central manager for `connect` and `record`.
final class ConnectSink: CentralManagerSink {
    private struct State {
        var onDiscovery: (@Sendable (Discovery) -> Void)?
        var onEvent: (@Sendable (CentralManagerEvent) -> Void)?
        var observer: (any ConnectObserver)?
        var services: [DiscoveredService] = []
        /// The number of times that the radio has reported room for writes without response.
        var rooms = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    /// Locked while reports are passed on, so that each observer gets them in order.
    private let order = Lock(ReportOrder())
    private let questions: (any QuestionAsker)?
    private let passkey: UInt32?
    private let clock: RunClock

    /// Makes a sink; `questions` asks the user during pairing, except for the passkey if it is given.
    init(questions: (any QuestionAsker)?, passkey: UInt32?, clock: RunClock) {
        self.questions = questions
        self.passkey = passkey
        self.clock = clock
    }

    /// Sets the observer of reports, or removes it if `observer` is `nil`.
    func tells(_ observer: (any ConnectObserver)?) {
        state.withLock { $0.observer = observer }
        if observer == nil { tellOfRoom() }
    }

    private func tell(_ report: ConnectReport) {
        give { $0.reports(report, at: .now(clock)) }
    }

    /// Reports the result of a command, with the time of its last answer.
    func tellResult(_ report: ConnectReport) { give { $0.commandReports(report, at: .now(clock)) } }

    /// Records in the order of reports that a request was sent or, with `isAnswered`, that its answer
    /// arrived.
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
            for report in body(&order) { observer?.observe(report.report, at: report.time) }
        }
    }

    /// The number of times that the radio has reported room for writes without response.
    var rooms: Int { state.withLock { $0.rooms } }

    /// Waits until `rooms` differs from the given number; the end of the link also changes it.
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

    func onDiscovery(_ handler: (@Sendable (Discovery) -> Void)?) {
        state.withLock { $0.onDiscovery = handler }
    }

    /// Sets or removes a function that is also called with each event.
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
        case .discovered(let discovery): onDiscovery?(discovery)
        case .connected(let peripheral, _):
            tell(.connected(peripheral.address, name: peripheral.look { $0.name }))
        case .disconnected(_, let end):
            questions?.withdrawQuestion()
            tell(.disconnected(end.error))
            tellOfRoom()
        case .mtuChanged(_, let mtu): tell(.mtu(mtu))
        case .valueUpdated(let update): tell(update)
        case .servicesChanged(_, let range, _):
            tell(.servicesChanged(range))
        case .paired: tell(.paired)
        case .pairing(_, let step): return pair(step)
        case .lost(let error): tell(.problem(error.description))
        case .warning(let warning):
            // The question may be part of the failed pairing, and needs no answer then.
            if warning.code == "pairingFailed" { questions?.withdrawQuestion() }
            observer?.warn(warning)
        case .readyToWrite: tellOfRoom()
        // A failed connection is thrown to the caller of `connect`.
        case .stateChanged, .failedToConnect, .willRestoreState, .connectionEvent, .nameUpdated,
            .recovered, .missed:
            break
        }
        return .none
    }

    private func tell(_ update: ValueUpdate) {
        guard let characteristic = update.characteristic else {
            return tell(.sentFrom(update.delivery, update.handle, update.value))
        }
        tell(.sent(update.delivery, .characteristic(characteristic), update.value))
    }

    // MARK: - Pairing

    private func pair(_ step: PairingStep) -> RadioAnswer {
        switch step {
        case .display(let number):
            tell(.passkey(.display, number))
            return .none
        case .agree: return .pairing(.agreed)
        case .compare(let number):
            tell(.passkey(.compare, number))
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
