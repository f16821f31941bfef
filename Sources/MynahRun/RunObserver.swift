package import MynahEmulator

/// Shows or keeps the events of a run.
package protocol RunObserver: Sendable {
    /// `true` if the observer wants events; if no observer does, none are made.
    var takesEvents: Bool { get }

    /// Calls `closed` when no reader is left, which ends the run.
    func onClose(_ closed: @escaping @Sendable () -> Void)

    /// Observes an event of a device, or of the run itself if `device` is `nil`.
    func observe(_ event: DeviceEvent, of device: String?)

    /// The run begins anew, at its first instant: what it has shown is over.
    func beginAnew()

    /// The time of the run has moved, without any event; only a clock of `manual` reports it.
    func timeMoved(to time: WallTime)

    /// Returns when everything is written.
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
    /// Returns what is typed for the devices of an emulator, in order, or `nil` if there are no keys.
    func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<KeyedAction>?

    /// The phone that an emulator plays has these apps from now on.
    func change(_ emulator: Emulator, apps: [String])

    /// Stops giving keys and numbers to devices that have been removed.
    func detach(_ emulator: Emulator)
}

/// Something that was typed for the devices of an emulator.
package enum KeyedAction: Sendable {
    /// An action on these apps.
    case action(UserAction, AppTarget)
    /// The number that a pairing asks for.
    case passkey(UInt32)
}

/// Where a run reports, and from where it is controlled by hand.
package struct RunOutputs: Sendable {
    package var observers: [any RunObserver]
    /// The keys of the terminal, or `nil` if there is no terminal.
    package var keys: (any RunKeys)?
    /// Prints a message for the user that is not an event.
    package var print: @Sendable (String) -> Void

    /// Outputs to observers, which take events in this order.
    package init(
        _ observers: [any RunObserver], keys: (any RunKeys)? = nil,
        print: @escaping @Sendable (String) -> Void
    ) {
        self.observers = observers
        self.keys = keys
        self.print = print
    }
}
