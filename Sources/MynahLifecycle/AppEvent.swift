package import MynahCore

/// An event in an app's life.
package enum AppEvent: Hashable, Sendable {
    /// The user, the system or the app itself acts on its life.
    case transition(AppTransition)
    /// Something of Bluetooth is for it.
    case bluetooth(BluetoothEvent)
    /// It has begun something that takes time.
    case workBegan
    /// It has ended that.
    case workEnded
    /// It did something that has nothing to do with why it was woken.
    case extraneousWork
    /// The time that `deadline` named has come.
    case deadlineReached
    /// The Bluetooth state changed.
    case radioState(RadioState)
}

/// A role that an app plays, each with its own managers and its own background mode.
package enum BluetoothRole: String, Hashable, Sendable, CaseIterable {
    /// It publishes and advertises (CBPeripheralManager).
    case peripheral
    /// It scans and connects (CBCentralManager).
    case central
}

/// A radio event, by its meaning for the app's life.
///
/// The raw value is the reason in the event `app.woken`.
public enum BluetoothEvent: String, Hashable, Sendable, CaseIterable {
    /// A dynamic value is read.
    case read
    /// A value is written with a request.
    case write
    /// A value is written with a command, which nobody can refuse.
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
    /// A peripheral sent a value by itself, or its services changed.
    case notified
    /// A request to a peripheral ended, or there is room for another.
    case answered
    /// The Bluetooth state of a central manager changed.
    case state
    /// A device that the app registered for connected to the phone or left it.
    case connectionEvent

    /// The role whose managers hear of it.
    package var role: BluetoothRole {
        switch self {
        case .read, .write, .writeCommand, .subscribe, .unsubscribe, .other: .peripheral
        case .discovered, .connected, .disconnected, .notified, .answered, .state, .connectionEvent: .central
        }
    }

    /// Whether it wakes a suspended app that has the background mode of the role.
    ///
    /// A peripheral is woken for "read, write, or subscription events", a central "when any of the delegate
    /// methods are called" (Core Bluetooth Background Processing for iOS Apps).
    package var wakes: Bool { self != .other }

    /// Whether it relaunches an app that the system works for after it has ended it.
    ///
    /// TN3115 names a scan, a connection and a subscribed value. That a disconnection and an answer relaunch
    /// too, and that a change of the Bluetooth state does not, are assumptions. A registration for connection
    /// events is not preserved.
    package var relaunches: Bool { wakes && self != .state && self != .connectionEvent }

    /// Whether an answer is waited for.
    package var wantsAnswer: Bool { self == .read || self == .write }
}

/// An action after an event; actions are carried out in order.
package enum AppAction: Hashable, Sendable {
    /// Its code is started; `restoring`: its managers' state is handed back to it first.
    case launched(inBackground: Bool, restoring: Bool)
    case enteredForeground
    case enteredBackground
    case suspended
    /// The event at hand woke it.
    case woken(by: BluetoothEvent)
    /// It overran its time.
    case throttled
    /// It did what it was not woken for.
    case extraneous
    case terminated(TerminationReason)
    case userQuit

    /// The event at hand goes to the app. Of these four there is one for each event of Bluetooth.
    case deliver
    /// The event at hand waits for the app.
    case queue
    /// The event at hand is a request, and is answered with an error in the app's place.
    case refuse
    /// The event at hand is dropped.
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
    /// Every service is withdrawn; to `forget` them means that the app has to add them again.
    case withdrawServices(forget: Bool)
    /// Deletes the state that the system preserved for the app's managers.
    case forgetPreservedState
}

/// Why an app ended that the user did not end.
public enum TerminationReason: String, Hashable, Sendable, CaseIterable {
    /// The system said so.
    case system
    /// Another app needed its memory.
    case memoryPressure
    /// It ran longer than it may in the background.
    case overran
    /// It ended by itself.
    case crash
}
