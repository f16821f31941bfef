public import MynahCore

/// What a peripheral manager reports, in the order in which it happened (after CBPeripheralManagerDelegate).
public enum PeripheralEvent: Sendable {
    /// The system restores what it preserved while the app did not run. It comes before any other event.
    case willRestoreState(RestoredState)
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// A central connected.
    case connected(Central)
    /// A central is gone, and with it its subscriptions.
    case disconnected(Central)
    /// The ATT_MTU of a link became known or changed.
    case mtuChanged(Central)
    /// A central reads a value that is not static; to be answered.
    case read(ReadRequest, Central)
    /// A central read a static value, which the radio answered with these bytes.
    case answeredRead(ReadRequest, Central, [UInt8])
    /// A central writes; to be answered if it wants a response.
    case write(WriteRequest, Central)
    /// A central subscribed; `nil` if the radio does not name it.
    case subscribed(AttributeKey, Central?, Delivery?)
    /// A central unsubscribed; `nil` if the radio does not name it, or all have.
    case unsubscribed(AttributeKey, Central?)
    /// An indication was confirmed; `nil` if the radio does not name the central.
    case confirmed(AttributeKey, Central?)
    /// After `updateValue` returned false: there is room again.
    case readyToUpdateSubscribers
    /// A central opened a channel to a number that this manager has published.
    ///
    /// It is closed when nobody holds it any more.
    case channelOpened(any L2CAPChannel, Central)
    /// So many events were dropped here because nobody read the sequence; only reported through it.
    case missed(Int)
    /// Advertising started, changed or stopped.
    case advertisingChanged(AdvertisingReport)
}

/// What listens to a peripheral manager, synchronously and on its executor.
///
/// The manager's event sequence and its delegate adapter are two of these.
public protocol PeripheralSink: Sendable {
    /// Called in the order in which things happened; `.read`, and a `.write` that wants a response, must be
    /// answered.
    func handle(_ event: PeripheralEvent) -> RadioAnswer
}
