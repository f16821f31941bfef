package import MynahEmulator

/// Shows or stores the events of a run.
package protocol RunObserver: Sendable {
    /// `true` if the observer needs events; if no observer does, none are made.
    var takesEvents: Bool { get }

    /// Sets a function to call when the last reader has closed the output, which ends the run.
    func onClose(_ closed: @escaping @Sendable () -> Void)

    /// Observes an event of a device, or of the run itself if `device` is `nil`.
    func observe(_ event: DeviceEvent, of device: String?)

    /// Handles that the run begins again at the start of its time, so that earlier events no longer count.
    func beginAnew()

    /// Handles that the time has changed without an event; only a `manual` clock reports this.
    func timeMoved(to time: WallTime)

    /// Returns when all output is written.
    func end()
}

extension RunObserver {
    package var takesEvents: Bool { true }

    package func onClose(_ closed: @escaping @Sendable () -> Void) {}

    package func beginAnew() {}

    package func timeMoved(to time: WallTime) {}

    package func end() {}
}

/// The keys that the user of a run presses.
package protocol RunKeys: Sendable {
    /// Returns the input for the devices of an emulator, in order, or `nil` if there is no keyboard.
    func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<KeyedAction>?

    /// Handles that an emulator's phone now has these apps.
    func change(_ emulator: Emulator, apps: [String])

    /// Stops passing input to devices that were removed.
    func detach(_ emulator: Emulator)
}

/// Input of the user for the devices of an emulator.
package enum KeyedAction: Sendable {
    /// An action on these apps, by a key.
    case action(UserAction, AppTarget)
    /// The passkey that a pairing asks for.
    case passkey(UInt32)
}

/// The outputs of a run, and its keyboard.
package struct RunOutputs: Sendable {
    package var observers: [any RunObserver]
    /// The keyboard of the terminal, or `nil` if there is none.
    package var keys: (any RunKeys)?
    /// Prints a message for the user that is not an event.
    package var print: @Sendable (String) -> Void

    /// Makes outputs of observers, which get each event in this order.
    package init(
        _ observers: [any RunObserver], keys: (any RunKeys)? = nil,
        print: @escaping @Sendable (String) -> Void
    ) {
        self.observers = observers
        self.keys = keys
        self.print = print
    }
}
