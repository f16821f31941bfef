public import MynahCore

/// An event of a peripheral manager (after CBPeripheralManagerDelegate).
public enum PeripheralEvent: Sendable {
    /// The system restored the state that it preserved while the app did not run.
    ///
    /// If this event occurs, it is the first one.
    case willRestoreState(RestoredState)
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// A central connected.
    case connected(Central)
    /// A central disconnected, which ended its subscriptions.
    case disconnected(Central)
    /// The ATT_MTU of a central's link became known or changed.
    case mtuChanged(Central)
    /// A central reads a value that is not static; it needs an answer.
    case read(ReadRequest, Central)
    /// A central read a static value, and the radio answered with these bytes.
    case answeredRead(ReadRequest, Central, [UInt8])
    /// A central writes; it needs an answer if `wantsResponse` is `true`.
    case write(WriteRequest, Central)
    /// A central subscribed; the central or the delivery is `nil` if the radio does not report it.
    case subscribed(AttributeKey, Central?, Delivery?)
    /// A central unsubscribed; the central is `nil` if the radio does not report it, or if all have
    /// unsubscribed.
    case unsubscribed(AttributeKey, Central?)
    /// A central confirmed an indication; the central is `nil` if the radio does not report it.
    case confirmed(AttributeKey, Central?)
    /// There is buffer space again, after `updateValue` returned `false`.
    case readyToUpdateSubscribers
    /// A central opened an L2CAP channel to a PSM that this manager published.
    ///
    /// The channel is closed when the last reference to it is dropped.
    case channelOpened(any L2CAPChannel, Central)
    /// This number of events were dropped, because the sequence was not read or the app was suspended for too
    /// long.
    case missed(Int)
    /// Advertising started, changed or stopped.
    case advertisingChanged(AdvertisingReport)
}

/// Receives the events of a peripheral manager, synchronously on its executor, without a reference to the
/// manager.
package protocol PeripheralSink: Sendable {
    /// Handles one event; events come in order.
    ///
    /// Returns the answer to an event whose `wantsResponse` is `true`, or `.none` for any other.
    func handle(_ event: PeripheralEvent) -> RadioAnswer
}
