import MynahCore
import MynahDBus

/// An event that a callback of libdbus or GLib brings to the radio, on the executor.
enum BusEvent: Sendable {
    /// The connection to the bus is closed.
    case busEnded
    /// bluetoothd's name has another owner, or none.
    case ownerChanged(String?)
    /// One of bluetoothd's objects appeared, changed or went.
    case objectSignal(DBusMessage)
    case timer(RadioTimers.Name)
    /// bluetoothd calls a method of a characteristic or descriptor.
    case gattRequest(GATTMethod, AttributeKey, MethodCall)
    /// bluetoothd calls the pairing agent.
    ///
    /// `isRouted` is set if another radio of this process got the call and passed it on.
    case agentRequest(AgentMethod, MethodCall, isRouted: Bool)
    /// bluetoothd dropped the advertisement by itself.
    case advertisementReleased
    case socket(NotificationSocketKey, GLibFileDescriptorWatch.Events)
    /// The sink answered a request that it had kept.
    case answered(UInt64, PendingReply.Outcome)
    /// A part reports an event to the sink.
    case report(RadioEvent)
}

/// Handles an event on the executor.
typealias BusEventHandler = @Sendable (BusEvent) -> Void
