import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

// The app that plays the device.
extension DevicePlayer {
    /// Makes the app, and opens it as its user would.
    ///
    /// If `cause` is not `nil`, a terminated app is neither relaunched nor restored.
    func launch(forbiddenBy cause: RelaunchCause?) async {
        guard let emulated = memory.device.app, memory.appSide.app == nil else { return }
        let app = await phone.makeApp(
            emulated.description, delegate: link, clock: memory.clock, isTerminated: emulated.isTerminated)
        memory.appSide.app = app
        if let cause, forbidRelaunch(after: cause) { return }
        if emulated.isTerminated { return takeOver(app, emulated.description.rules) }
        await app.enterForeground()
    }

    /// Ends the work that the system does for the terminated app, as if the user had quit the app.
    ///
    /// Returns `false` if the system did no such work.
    @discardableResult
    func forbidRelaunch(after cause: RelaunchCause) -> Bool {
        guard memory.appSide.app?.access.forbidRelaunch() == true else { return false }
        for central in centrals { central.ended(byUser: true) }
        events.report(.appNotRelaunched, .app(.init(reason: cause.rawValue)))
        return true
    }

    /// Gives the device's attributes the keys of the services that iOS has preserved for the terminated app.
    ///
    /// Warns if there are no such services.
    private func takeOver(_ app: App, _ rules: AppRules) {
        let services = app.access.services
        guard !services.isEmpty else {
            if rules.isRelaunched(for: .central) { return }
            let why = rules.isBackgroundPeripheral ? "has preserved no services" : "has no background mode"
            return events.warn(
                "nothingPreserved",
                "\(memory.device.label) is terminated and \(why): it is silent until its user opens it")
        }
        if let mapping = memory.device.allowedServices.keys(in: services) { rekey(mapping) }
    }

    /// `true` if the app is not launched at the beginning of the run.
    var isTerminated: Bool { memory.device.app?.isTerminated ?? false }

    /// The services that are published at the beginning of the run.
    var served: [ServiceDefinition] {
        isTerminated ? memory.appSide.app?.access.services ?? [] : memory.device.allowedServices
    }

    func carryOut(_ transition: AppTransition) async {
        await memory.appSide.app?.carryOut(transition)
    }

    func finishLaunching(_ app: App, _ options: LaunchOptions) {
        memory.appSide.launched(app, publishesChannel: memory.device.app?.channel != nil)
        events.report(.appLaunched, .app(.init(options)))
        let identifier = memory.device.app?.description.restoreIdentifiers.first
        do throws(RadioError) {
            launched(
                memory.device.isPeripheral
                    ? try app.access.makePeripheralManager(restoreIdentifier: identifier, sink: link) : nil)
            for central in centrals { try central.launched(app) }
            if memory.appSide.isStopped(.scan) { centrals.forEach { $0.setScanning(false) } }
        } catch {
            launched(nil)
            events.fail(error.description)
        }
    }

    func appChanged(_ change: AppChange) {
        switch change {
        case .enteredForeground:
            events.report(.appForeground)
            sender.resume()
        case .enteredBackground: events.report(.appBackground)
        case .suspended, .throttled:
            sender.stop()
            if case .suspended = change { events.report(.appSuspended) } else { events.report(.appThrottled) }
        case .woken(let kind, let attribute, let central): woken(by: kind, attribute, central)
        case .extraneous(let attribute?):
            events.report(.appExtraneous, .notice(.init(on: memory.table.eventAttribute(of: attribute))))
        case .extraneous(nil): events.report(.appExtraneous)
        case .terminated(let reason):
            ended(byUser: false)
            events.report(.appTerminated, .app(.init(reason: reason.rawValue)))
        case .quit:
            ended(byUser: memory.appSide.app?.access.isKept != true)
            events.report(.appQuit)
        case .authorizationChanged(let new):
            events.report(.appAuthorization, .app(.init(authorization: new.rawValue)))
        }
    }

    private func woken(by kind: BluetoothEvent, _ attribute: AttributeKey?, _ central: Central?) {
        memory.appSide.woken(by: kind, for: attribute)
        if let attribute {
            memory.report(.appWoken, on: attribute, central) { $0.reason = kind.rawValue }
        } else {
            events.report(.appWoken, .attribute(.init(because: kind.rawValue)))
        }
        sender.resume()
    }
}
