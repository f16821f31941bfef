import Mynah
import MynahCore
import MynahLifecycle
import MynahSupport

// The app that plays the device.
extension DevicePlayer {
    /// Makes the app and opens it, as its user would.
    func launch() async {
        guard let emulated = device.app, appSide.app == nil else { return }
        let app = await phone.makeApp(
            emulated.description, delegate: link, clock: clock, isTerminated: emulated.isTerminated)
        appSide.app = app
        if emulated.isTerminated { return takeOver(app) }
        await app.enterForeground()
    }

    /// The phone serves without the app what it preserved.
    private func takeOver(_ app: App) {
        let services = app.access.services
        guard !services.isEmpty else {
            return events.warn(
                "nothingPreserved",
                "\(device.label) is terminated and has preserved no services: it is silent until its user opens it"
            )
        }
        if let mapping = device.services.keys(in: services) { rekey(mapping) }
    }

    /// Whether its app does not start with the run.
    var isTerminated: Bool { device.app?.isTerminated ?? false }

    /// The services on the radio when the run begins.
    var served: [ServiceDefinition] {
        isTerminated ? appSide.app?.access.services ?? [] : device.services
    }

    func carryOut(_ transition: AppTransition) async {
        await appSide.app?.carryOut(transition)
    }

    func carryOut(_ action: UserAction) async {
        switch action {
        case .transition(let transition): await carryOut(transition)
        case .startAdvertising: await setAdvertising(true)
        case .stopAdvertising: await setAdvertising(false)
        // The phone's, which the emulator has.
        case .setPower: break
        }
    }

    /// Its user starts or stops advertising, for as long as the app remembers it.
    private func setAdvertising(_ isWanted: Bool) async {
        guard await appSide.app?.state == .foreground else {
            return events.warn(
                "notOnScreen",
                "\(device.label) is not on the screen, where its user could \(isWanted ? "start" : "stop") advertising"
            )
        }
        appSide.isSilenced = !isWanted
        guard let manager else { return }
        do throws(RadioError) {
            try await advertise(with: manager)
        } catch {
            events.report(.error, [.init("message", .string(error.description))])
        }
    }

    func finishLaunching(_ app: App, _ options: LaunchOptions) {
        appSide.launched(app)
        events.report(
            .appLaunched,
            [
                .init("restoreIdentifiers", .array(options.restoreIdentifiers.map { .string($0) })),
                .init(
                    "centralRestoreIdentifiers",
                    .array(options.centralRestoreIdentifiers.map { .string($0) })),
                .init("inBackground", .bool(options.isInBackground)),
            ])
        let identifier = device.app?.description.restoreIdentifiers.first
        do throws(RadioError) {
            launched(
                try app.access.makePeripheralManager(restoreIdentifier: identifier, sink: link))
        } catch {
            launched(nil)
            events.report(.error, [.init("message", .string(error.description))])
        }
    }

    func take(_ change: AppChange) {
        switch change {
        case .enteredForeground:
            events.report(.appForeground)
            ticks.resume()
        case .enteredBackground: events.report(.appBackground)
        case .suspended:
            ticks.stop()
            events.report(.appSuspended)
        case .woken(let kind, let attribute, let central): woken(by: kind, attribute, central)
        case .throttled:
            ticks.stop()
            events.report(.appThrottled)
        case .extraneous(let attribute?): report(.appExtraneous, on: attribute)
        case .extraneous(nil): events.report(.appExtraneous)
        case .terminated(let reason):
            ended()
            events.report(.appTerminated, [.init("reason", .string(reason.rawValue))])
        case .quit:
            ended()
            events.report(.appQuit)
        }
    }

    private func woken(by kind: BluetoothEvent, _ attribute: AttributeKey?, _ central: Central?) {
        appSide.woken(for: attribute)
        let cause = JSON.Member("by", .string(kind.rawValue))
        if let attribute {
            report(.appWoken, on: attribute, central) { [cause] }
        } else {
            events.report(.appWoken, [cause])
        }
        ticks.resume()
    }
}
