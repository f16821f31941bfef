package import MynahCore

/// An event in an app's life cycle.
package enum AppEvent: Hashable, Sendable {
    /// The user, the system or the app itself changes the app's state.
    case transition(AppTransition)
    /// A Bluetooth event for the app.
    case bluetooth(BluetoothEvent)
    /// The app began work that keeps it from being suspended.
    case workBegan
    /// The app ended work that it had begun.
    case workEnded
    /// The app did work that is unrelated to the event that woke it.
    case extraneousWork
    /// The deadline of the app's life cycle was reached.
    case deadlineReached
    /// The Bluetooth state changed.
    case radioState(RadioState)
    /// The phone restarts, which ends the app if it is in memory.
    case phoneRestarted
    /// The system may no longer relaunch the app until its user opens it (TN3115).
    case relaunchForbidden
}

/// A role of an app, with managers and a background mode of its own.
package enum BluetoothRole: String, Hashable, Sendable, CaseIterable {
    /// The app publishes and advertises (CBPeripheralManager).
    case peripheral
    /// The app scans and connects (CBCentralManager).
    case central
}

/// The kind of a Bluetooth event in the rules for an app's life cycle.
///
/// The raw value is the reason in the event `app.woken`.
public enum BluetoothEvent: String, Hashable, Sendable, CaseIterable {
    /// A read of a value that is not static.
    case read
    /// A write request.
    case write
    /// A write command, to which no error can be sent.
    case writeCommand
    /// A central subscribed.
    case subscribe
    /// A central unsubscribed.
    case unsubscribe
    /// Any other event of a peripheral manager, such as a new link or buffer space for updates.
    case other

    /// A scan discovered a device.
    case discovered
    /// A connection was made.
    case connected
    /// A connection failed or ended.
    case disconnected
    /// A peripheral sent a value, or its services changed.
    case notified
    /// A request to a peripheral ended, or there is buffer space for another write command.
    case answered
    /// The Bluetooth state of a central manager changed.
    case state
    /// A device that the app registered for was connected to the phone or disconnected.
    case connectionEvent

    /// The role whose managers receive the event.
    package var role: BluetoothRole {
        switch self {
        case .read, .write, .writeCommand, .subscribe, .unsubscribe, .other: .peripheral
        case .discovered, .connected, .disconnected, .notified, .answered, .state, .connectionEvent: .central
        }
    }

    /// `true` if the event wakes a suspended app that has the background mode of the role.
    ///
    /// An app with the peripheral role is woken for "read, write, or subscription events", one with the
    /// central role "when any of the delegate methods are called" (Core Bluetooth Background Processing for
    /// iOS Apps).
    package var wakes: Bool { self != .other }

    /// `true` if the event relaunches an app that has ended, and whose managers the system keeps.
    ///
    /// TN3115 names a scan, a connection and a subscribed value. A request ends with the process that made
    /// it. It is an assumption that a disconnection relaunches too, and that a change of the Bluetooth state
    /// does not. A registration for connection events is not preserved.
    package var relaunches: Bool { wakes && ![.answered, .state, .connectionEvent].contains(self) }

    /// Whether the peer waits for a response.
    package var wantsAnswer: Bool { self == .read || self == .write }
}

/// An action after an event; actions are carried out in order.
package enum AppAction: Hashable, Sendable {
    /// Start the app's code; with `restoring`, its managers first get their preserved state.
    case launched(inBackground: Bool, restoring: Bool)
    case enteredForeground
    case enteredBackground
    case suspended
    /// The current event woke the app.
    case woken(by: BluetoothEvent)
    /// The app exceeded its time in the background.
    case throttled
    /// The app did work that is unrelated to the event that woke it.
    case extraneous
    case terminated(TerminationReason)
    case userQuit

    /// Deliver the current event to the app.
    ///
    /// Each Bluetooth event has exactly one of the actions `deliver`, `queue`, `refuse` and `discard`.
    case deliver
    /// Queue the current event for the app.
    case queue
    /// Answer the current event with an error if it is a request, or drop it if it is a command.
    case refuse
    /// Drop the current event.
    case discard

    /// Deliver the queued events to the app, in order.
    case deliverQueued
    /// Drop the queued events.
    case dropQueued

    /// Stop advertising, and keep the advertisement.
    case pauseAdvertising
    /// Start advertising again with the kept advertisement.
    case resumeAdvertising
    /// Stop advertising; with `forget`, the app has to request it again.
    case stopAdvertising(forget: Bool)
    /// Withdraw every service; with `forget`, the app has to add them again.
    case withdrawServices(forget: Bool)
    /// Delete the state that the system preserved for the app's managers.
    case forgetPreservedState
}

/// The reason that an app ended, other than its user quitting it.
public enum TerminationReason: String, Hashable, Sendable, CaseIterable {
    /// The system terminated the app.
    case system
    /// The system needed the app's memory.
    case memoryPressure
    /// The app exceeded its time in the background.
    case overran
    /// The app crashed.
    case crash
    /// The phone restarted.
    case restart
}
