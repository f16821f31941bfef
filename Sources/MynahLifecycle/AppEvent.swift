package import MynahCore

/// An event in an app's life.
package enum AppEvent: Hashable, Sendable {
    /// The user, the system or the app itself changes its state.
    case transition(AppTransition)
    /// A Bluetooth event for the app.
    case bluetooth(BluetoothEvent)
    /// The app began a task that takes time.
    case workBegan
    /// The app ended that task.
    case workEnded
    /// The app did work that is unrelated to the event that woke it.
    case extraneousWork
    /// The time in `deadline` has come.
    case deadlineReached
    /// The Bluetooth state changed.
    case radioState(RadioState)
    /// The phone restarts, and ends it if it is in memory.
    case phoneRestarted
    /// The system no longer works for it if it is terminated, until its user opens it (TN3115).
    case relaunchForbidden
}

/// A role that an app plays, each with its own managers and its own background mode.
package enum BluetoothRole: String, Hashable, Sendable, CaseIterable {
    /// The app publishes and advertises (CBPeripheralManager).
    case peripheral
    /// The app scans and connects (CBCentralManager).
    case central
}

/// A radio event, by its meaning for the app's life.
///
/// The raw value is the reason in the event `app.woken`.
public enum BluetoothEvent: String, Hashable, Sendable, CaseIterable {
    /// A read of a value that is not static.
    case read
    /// A write request.
    case write
    /// A write command, which cannot be refused.
    case writeCommand
    /// A central subscribed.
    case subscribe
    /// A central unsubscribed.
    case unsubscribe
    /// Anything else for a peripheral manager: links, MTU, confirmations, room for updates, the Bluetooth
    /// state.
    case other

    /// A scan found a device.
    case discovered
    /// A connection was made.
    case connected
    /// A connection failed or ended.
    case disconnected
    /// A peripheral notified or indicated a value, or its services changed.
    case notified
    /// A request to a peripheral ended, or there is room for another command.
    case answered
    /// The Bluetooth state of a central manager changed.
    case state
    /// A device that the app registered for was connected to the phone or disconnected.
    case connectionEvent

    /// The role whose managers hear of it.
    package var role: BluetoothRole {
        switch self {
        case .read, .write, .writeCommand, .subscribe, .unsubscribe, .other: .peripheral
        case .discovered, .connected, .disconnected, .notified, .answered, .state, .connectionEvent: .central
        }
    }

    /// `true` if the event wakes a suspended app that has the background mode of the role.
    ///
    /// A peripheral is woken for "read, write, or subscription events", a central "when any of the delegate
    /// methods are called" (Core Bluetooth Background Processing for iOS Apps).
    package var wakes: Bool { self != .other }

    /// `true` if the event relaunches an app that the system works for after it has ended it.
    ///
    /// TN3115 names a scan, a connection and a subscribed value. A request ends with the process that made
    /// it. That a disconnection relaunches too, and that a change of the Bluetooth state does not, are
    /// assumptions. A registration for connection events is not preserved.
    package var relaunches: Bool { wakes && ![.answered, .state, .connectionEvent].contains(self) }

    /// Whether an answer is waited for.
    package var wantsAnswer: Bool { self == .read || self == .write }
}

/// An action after an event; actions are carried out in order.
package enum AppAction: Hashable, Sendable {
    /// Starts the app's code; if `restoring`, its managers get their preserved state first.
    case launched(inBackground: Bool, restoring: Bool)
    case enteredForeground
    case enteredBackground
    case suspended
    /// The current event woke the app.
    case woken(by: BluetoothEvent)
    /// The app exceeded its time.
    case throttled
    /// The app did work that is unrelated to the event that woke it.
    case extraneous
    case terminated(TerminationReason)
    case userQuit

    /// Delivers the current event to the app. Each Bluetooth event has exactly one of these four actions.
    case deliver
    /// Queues the current event for the app.
    case queue
    /// Answers the current event, a request, with an error in place of the app; a command is dropped.
    case refuse
    /// Drops the current event.
    case discard

    /// Delivers the queued events to the app, in order.
    case deliverQueued
    /// Drops the queued events.
    case dropQueued

    /// Stops advertising, and keeps the advertisement.
    case pauseAdvertising
    /// Starts advertising again with the kept advertisement.
    case resumeAdvertising
    /// Stops advertising; with `forget`, the app has to request it again.
    case stopAdvertising(forget: Bool)
    /// Withdraws every service; with `forget`, the app has to add them again.
    case withdrawServices(forget: Bool)
    /// Deletes the state that the system preserved for the app's managers.
    case forgetPreservedState
}

/// The reason why an app ended without the user.
public enum TerminationReason: String, Hashable, Sendable, CaseIterable {
    /// The system terminated it.
    case system
    /// The system needed its memory.
    case memoryPressure
    /// The app exceeded its time in the background.
    case overran
    /// The app crashed.
    case crash
    /// The phone restarted.
    case restart
}
