public import Logging
import MynahCore
import MynahDBus

/// A radio that acts as a peripheral through bluetoothd, which shares the adapter with other programs.
///
/// The radio runs on `GLibExecutor.shared`, as its D-Bus connection does, so a request from the bus and the
/// answer of the `RadioSink` need no change of thread. The radio consists of parts that keep the state and
/// make decisions. It passes events to them, and carries out the actions that they return.
public actor BlueZRadio {
    /// The settings of a radio.
    public typealias Options = BlueZOptions

    /// The bus, the adapter and the options that a radio uses.
    struct Environment {
        let options: BlueZOptions
        let logger: Logger
    }

    let environment: Environment
    var stage = RadioStage.stopped(epoch: 0)
    var adapter: AdapterClient
    var advertiser: Advertiser
    let services: ServicePublisher
    var centrals = CentralTable()
    var notifier: Notifier<NotifySocket>
    var pending = PendingRequests<MethodCall>()
    var recovery = RecoveryLoop()
    var timers: RadioTimers?
    var meter = UseMeter()
    /// The subjects of the warnings that were already reported.
    private var warned: Set<String> = []

    /// The executor, which the D-Bus connection uses too.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// Makes a radio that is not started.
    public init(options: BlueZOptions = BlueZOptions(), logger: Logger = Logger(label: "mynah.bluez")) {
        environment = Environment(options: options, logger: logger)
        adapter = AdapterClient(options, logger: logger)
        advertiser = Advertiser(adapter, logger: logger)
        services = ServicePublisher(logger: logger)
        notifier = Notifier(rate: options.notificationRate)
    }

    // MARK: Start and stop

    func begin(_ identity: DeviceIdentity, _ sink: any RadioSink) async throws(RadioError)
        -> RadioCapabilities
    {
        try stage.start(identity, sink)
        let (adapter, epoch) = (adapter, stage.epoch)
        timers = RadioTimers(events)
        do throws(RadioError) {
            try await adapter.start(identity, send: events)
        } catch {
            if stage.epoch == epoch { await end() }
            throw error
        }
        stage.started()
        advertiser.reached()
        notifier.usesSockets = adapter.offersSockets
        carryOut(adapter.session.start())
        for warning in adapter.session.warnings(wantsSockets: environment.options.acquiresNotify) {
            warnOnce(warning)
        }
        return adapter.session.capabilities
    }

    func end() async {
        guard stage.stop() else { return }
        timers?.cancel()
        recovery.cancel()
        adapter.beginStop()
        await advertiser.stop()
        await services.withdrawAll(through: adapter)
        await adapter.stop()
        adapter = AdapterClient(environment.options, logger: environment.logger)
        advertiser = Advertiser(adapter, logger: environment.logger)
        centrals = CentralTable()
        notifier = Notifier(rate: environment.options.notificationRate)
        pending.removeAll()
        meter.stop(at: RadioClock.now)
        (recovery, timers) = (RecoveryLoop(), nil)
        warned = []
        stage.stopped()
    }

    // MARK: Events

    /// Passes events of libdbus and GLib to the radio; their callbacks run on the radio's executor.
    nonisolated var events: BusEventHandler {
        { [weak self] event in self?.assumeIsolated { $0.handle(event) } }
    }

    private func handle(_ event: BusEvent) {
        switch event {
        case .busEnded: carryOut(adapter.session.busEnded())
        case .ownerChanged(let owner): carryOut(adapter.session.ownerChanged(to: owner))
        case .objectSignal(let message): objectChanged(message)
        case .timer(.retry): carryOut(adapter.session.retry())
        case .timer(.pace): carryOut(notifier.hasRoom())
        case .timer(.answer): answerOverdue()
        case .timer(.doubt): carryOut(notifier.resolveDoubts(at: RadioClock.now))
        case .gattRequest(let method, let key, let call): handle(method, key, call)
        case .agentRequest(let method, let call, let isRouted): handle(method, call, isRouted: isRouted)
        case .advertisementReleased(let number): advertiser.released(number)
        case .socket(let key, let events): carryOut(notifier.handle(events, of: key, at: RadioClock.now))
        case .answered(let number, let outcome):
            if let request = pending.remove(number) { request.finish(outcome) }
        case .report(let event): report(event)
        }
    }

    @discardableResult
    func report(_ event: RadioEvent) -> RadioAnswer {
        meter.note(event, at: RadioClock.now)
        return stage.sink?.handle(event) ?? .none
    }

    /// Asks the `RadioSink` to answer a read or a write of a central.
    @discardableResult
    func ask(_ request: RadioEvent) -> RadioAnswer { stage.requestSink?.handle(request) ?? .none }

    /// Reports a warning, unless one with the same code and `subject` was already reported.
    ///
    /// If `subject` is `nil`, the warning's message is compared instead.
    func warnOnce(_ warning: RadioWarning, about subject: String? = nil) {
        guard warned.insert(warning.code + " " + (subject ?? warning.message)).inserted else { return }
        report(.warning(warning))
    }
}
