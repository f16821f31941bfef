import MynahCore
import MynahDBus

/// An event for the radio, which a callback of libdbus or GLib sends on the executor.
enum BusEvent: Sendable {
    /// The connection to the bus is closed.
    case busEnded
    /// Another connection owns bluetoothd's name on the bus, or none if the value is `nil`.
    case ownerChanged(String?)
    /// One of bluetoothd's objects was added, has changed or was removed.
    case objectSignal(DBusMessage)
    case timer(RadioTimers.Name)
    /// bluetoothd has called a method of a characteristic or descriptor.
    case gattRequest(GATTMethod, AttributeKey, MethodCall)
    /// bluetoothd has called the pairing agent.
    ///
    /// `isRouted` is `true` if another radio of this process has received the call and passed it on.
    case agentRequest(AgentMethod, MethodCall, isRouted: Bool)
    /// bluetoothd has removed the advertisement of the set with this number by itself.
    case advertisementReleased(Int)
    case socket(NotificationSocketKey, GLibFileDescriptorWatch.Events)
    /// The `RadioSink` has answered the request with this number, after it had postponed the answer.
    case answered(UInt64, PendingReply.Outcome)
    /// A part of the radio has an event for the `RadioSink`.
    case report(RadioEvent)
}

/// Handles an event on the executor.
typealias BusEventHandler = @Sendable (BusEvent) -> Void
