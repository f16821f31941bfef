package import MynahEmulator

/// Receives the events of a run, to show or store them.
package protocol RunObserver: Sendable {
    /// Whether the observer needs events; if no observer does, no events are made.
    var takesEvents: Bool { get }

    /// Sets the function that ends the run; the observer calls it when the last reader has closed the output.
    func onClose(_ closed: @escaping @Sendable () -> Void)

    /// Observes an event of a device, or of the run itself if `device` is `nil`.
    func observe(_ event: DeviceEvent, of device: String?)

    /// Called when the run starts again from the beginning; earlier events no longer count.
    func beginAnew()

    /// Called when the time has changed without an event, which happens only with a `manual` clock.
    func timeMoved(to time: WallTime)

    /// Waits until all output is written.
    func end()
}

extension RunObserver {
    package var takesEvents: Bool { true }

    package func onClose(_ closed: @escaping @Sendable () -> Void) {}

    package func beginAnew() {}

    package func timeMoved(to time: WallTime) {}

    package func end() {}
}

/// The keyboard of a run.
package protocol RunKeys: Sendable {
    /// Returns the stream of key presses for an emulator's devices, or `nil` if there is no keyboard.
    func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<KeyedAction>?

    /// Handles a change of the apps on an emulator's phone.
    func change(_ emulator: Emulator, apps: [String])

    /// Ends the stream of key presses for an emulator whose devices were removed.
    func detach(_ emulator: Emulator)
}

/// A key press for the devices of an emulator.
package enum KeyedAction: Sendable {
    /// An action on these apps.
    case action(UserAction, AppTarget)
    /// The passkey for a pairing.
    case passkey(UInt32)
}

/// The outputs of a run, and its keyboard.
package struct RunOutputs: Sendable {
    package var observers: [any RunObserver]
    /// The keyboard, or `nil` if there is none.
    package var keys: (any RunKeys)?
    /// Prints a message for the user that is not an event.
    package var print: @Sendable (String) -> Void

    /// Makes outputs; the observers get each event in this order.
    package init(
        _ observers: [any RunObserver], keys: (any RunKeys)? = nil,
        print: @escaping @Sendable (String) -> Void
    ) {
        self.observers = observers
        self.keys = keys
        self.print = print
    }
}
