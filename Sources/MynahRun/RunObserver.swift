package import MynahEmulator

/// Takes what happens in a run, and shows or keeps it.
package protocol RunObserver: Sendable {
    /// `true` if the observer wants events; if nobody does, none are made.
    var takesEvents: Bool { get }

    /// The run exists: `closed` is to be called when nobody reads any more, which ends the run.
    func begin(closed: @escaping @Sendable () -> Void)

    /// Takes an event of a device, or of the run itself if `device` is `nil`.
    func take(_ event: DeviceEvent, of device: String?)

    /// The run begins anew, at its first instant: what it has shown is over.
    func beginAnew()

    /// The time of the run has moved, without any event; only a clock of `manual` reports it.
    func take(_ time: WallTime)

    /// Returns when everything is written.
    func end()
}

extension RunObserver {
    package var takesEvents: Bool { true }

    package func begin(closed: @escaping @Sendable () -> Void) {}

    package func beginAnew() {}

    package func take(_ time: WallTime) {}

    package func end() {}
}

/// The keys that the user of a run presses.
package protocol RunKeys: Sendable {
    /// Returns what is typed for the devices of an emulator, in order, or `nil` if there are no keys.
    func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<KeyedAction>?

    /// The phone that an emulator plays has these apps from now on.
    func change(_ emulator: Emulator, apps: [String])

    /// Gives keys and numbers no more to devices that have been removed.
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
    /// `nil` if there is no terminal to type on.
    package var keys: (any RunKeys)?
    /// Takes messages for the user that are no events.
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
