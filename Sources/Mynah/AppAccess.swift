package import MynahCore

/// Synchronous access to an app, for code that already runs on its phone's executor.
///
/// A call acts at once, and traps if it comes from another executor.
package struct AppAccess: Sendable {
    private let name: String
    /// The app's number, which is unique while its phone lives.
    package let number: UInt64
    private let link: PhoneLink

    init(_ app: AppProcess, _ link: PhoneLink) {
        name = app.description.name
        number = app.number
        self.link = link
    }

    /// Whether the app's code can run.
    package var isRunning: Bool { look { app, _ in app.isRunning } ?? false }

    /// `true` if the app has exceeded its background time, and does nothing by itself until the next event.
    package var isThrottled: Bool { look { app, _ in app.isThrottled } ?? false }

    /// `true` if the app runs because an event woke it.
    package var isWoken: Bool { look { app, _ in app.isWoken } ?? false }

    /// `true` if the app is suspended, and a change of the Bluetooth state would wake it.
    ///
    /// Such an app has the central background mode, a central manager, and permission to use Bluetooth.
    package var isToBeWokenByState: Bool { look { app, _ in app.isToBeWokenByState } ?? false }

    /// Whether the event that is being delivered was queued because the app was not running.
    package var isDeliveringQueued: Bool { look { app, _ in app.mail.hasWaited } ?? false }

    /// The services that the app's managers have published, including while the app does not run.
    package var services: [ServiceDefinition] { look { app, _ in app.managers.flatMap(\.services) } ?? [] }

    /// Makes a manager as `App.makePeripheralManager` does.
    package func makePeripheralManager(
        restoreIdentifier: String?, sink: (any PeripheralSink)?
    ) throws(RadioError) -> PeripheralManager {
        try make { app, phone throws(RadioError) in
            try app.makeManager(restoreIdentifier, sink: sink, in: phone.memory)
        }
    }

    /// Makes a manager as `App.makeCentralManager` does.
    package func makeCentralManager(
        restoreIdentifier: String?, options: CentralManager.Options, sink: (any CentralManagerSink)?
    ) throws(RadioError) -> CentralManager {
        try make { app, phone throws(RadioError) in
            try app.makeCentralManager(
                restoreIdentifier, options: options, sink: sink, in: phone.central)
        }
    }

    private func make<Manager: Sendable>(
        _ body: @Sendable (AppProcess, isolated Phone) throws(RadioError) -> Manager
    ) throws(RadioError) -> Manager {
        let number = number
        let made = try link.run { phone throws(RadioError) in
            try phone.memory.app(number).map { app throws(RadioError) in try body(app, phone) }
        }
        guard let made, let manager = made else {
            throw RadioError(.invalidState, "the phone of the app \(name) was stopped")
        }
        return manager
    }

    /// Records that an event woke the app, and the app did work that is unrelated to the event.
    ///
    /// `attribute` is the attribute whose value the app sent, or `nil` for other work.
    package func noteExtraneousWork(on attribute: AttributeKey?) {
        look { app, _ in app.noteExtraneousWork(on: attribute) }
    }

    /// Calls `body` with the app and its phone, and returns the result, or `nil` if the phone was stopped.
    @discardableResult
    func look<Value: Sendable>(_ body: @Sendable (AppProcess, isolated Phone) -> Value) -> Value? {
        let number = number
        return link.run { phone in phone.memory.app(number).map { body($0, phone) } } ?? nil
    }
}
