public import MynahCore
import MynahSupport

/// Receives the events of a `PeripheralManager`, one method for each (after CBPeripheralManagerDelegate).
///
/// Methods are called in the order of the events, synchronously on the manager's executor. They need no
/// `await` for the manager's methods. Each has a default implementation.
///
/// A delegate keeps its state in plain properties, without a lock: it is called on that executor only. The
/// manager keeps its delegate alive until the manager ends. A delegate that keeps the manager of an accessory
/// keeps the phone on the air until `Phone.stop()`.
public protocol PeripheralManagerDelegate {
    /// Receives each event, and returns the answer if its `wantsResponse` is `true`, or else `.none`.
    ///
    /// The default implementation calls the method for the event. Implement this method instead of the others
    /// to handle all events in one place.
    func peripheralManager(
        _ manager: isolated PeripheralManager, didReceive event: PeripheralEvent
    ) -> RadioAnswer
    /// The system restored this state, which it preserved while the app did not run.
    ///
    /// This event comes before all others.
    func peripheralManager(_ manager: isolated PeripheralManager, willRestoreState state: RestoredState)
    /// The Bluetooth state changed (after peripheralManagerDidUpdateState).
    func peripheralManager(_ manager: isolated PeripheralManager, didUpdateState state: RadioState)
    /// Advertising started, changed or stopped.
    func peripheralManager(
        _ manager: isolated PeripheralManager, didChangeAdvertising report: AdvertisingReport)
    /// A central connected.
    func peripheralManager(_ manager: isolated PeripheralManager, didConnect central: Central)
    /// A central disconnected, which ended its subscriptions.
    func peripheralManager(_ manager: isolated PeripheralManager, didDisconnect central: Central)
    /// The ATT_MTU of a central's link became known or changed.
    func peripheralManager(_ manager: isolated PeripheralManager, didUpdateMTUOf central: Central)
    /// A central subscribed to a characteristic.
    ///
    /// The central or the delivery is `nil` if the radio does not report it.
    func peripheralManager(
        _ manager: isolated PeripheralManager, central: Central?, didSubscribeTo attribute: AttributeKey,
        as delivery: Delivery?)
    /// A central unsubscribed from a characteristic.
    ///
    /// The central is `nil` if the radio does not report it, or if all centrals have unsubscribed.
    func peripheralManager(
        _ manager: isolated PeripheralManager, central: Central?, didUnsubscribeFrom attribute: AttributeKey)
    /// A central reads a value that is not static.
    ///
    /// Returns the bytes from the request's offset on, an ATT error, or `.later`.
    func peripheralManager(
        _ manager: isolated PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
    ) -> RadioAnswer
    /// A central read a static value, and the radio answered with these bytes.
    func peripheralManager(
        _ manager: isolated PeripheralManager, didAnswerRead request: ReadRequest, from central: Central,
        with value: [UInt8])
    /// A central writes one or more values; the answer is for all of them.
    ///
    /// Returns no bytes, an ATT error, or `.later`. The answer has no effect if the request wants none.
    func peripheralManager(
        _ manager: isolated PeripheralManager, didReceiveWrite request: WriteRequest, from central: Central
    ) -> RadioAnswer
    /// There is buffer space again, after `updateValue` returned `false`.
    func peripheralManagerIsReady(toUpdateSubscribers manager: isolated PeripheralManager)
    /// A central confirmed an indication; the central is `nil` if the radio does not report it.
    func peripheralManager(
        _ manager: isolated PeripheralManager, central: Central?, didConfirm attribute: AttributeKey)
    /// A central opened an L2CAP channel to a PSM that the manager published.
    ///
    /// The channel is closed when the last reference to it is dropped.
    func peripheralManager(
        _ manager: isolated PeripheralManager, didOpen channel: any L2CAPChannel, from central: Central)
    /// `count` events were dropped, because more arrived than the queue of a suspended app holds.
    func peripheralManager(_ manager: isolated PeripheralManager, didMissEvents count: Int)
}

extension PeripheralManagerDelegate {
    /// Calls the method for the event.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, didReceive event: PeripheralEvent
    ) -> RadioAnswer {
        switch event {
        case .willRestoreState(let state): peripheralManager(manager, willRestoreState: state)
        case .stateChanged(let state): peripheralManager(manager, didUpdateState: state)
        case .advertisingChanged(let report):
            peripheralManager(manager, didChangeAdvertising: report)
        case .connected(let central): peripheralManager(manager, didConnect: central)
        case .disconnected(let central): peripheralManager(manager, didDisconnect: central)
        case .mtuChanged(let central): peripheralManager(manager, didUpdateMTUOf: central)
        case .subscribed(let key, let central, let delivery):
            peripheralManager(manager, central: central, didSubscribeTo: key, as: delivery)
        case .unsubscribed(let key, let central):
            peripheralManager(manager, central: central, didUnsubscribeFrom: key)
        case .read(let request, let central):
            return peripheralManager(manager, didReceiveRead: request, from: central)
        case .answeredRead(let request, let central, let value):
            peripheralManager(manager, didAnswerRead: request, from: central, with: value)
        case .write(let request, let central):
            return peripheralManager(manager, didReceiveWrite: request, from: central)
        case .readyToUpdateSubscribers: peripheralManagerIsReady(toUpdateSubscribers: manager)
        case .confirmed(let key, let central):
            peripheralManager(manager, central: central, didConfirm: key)
        case .channelOpened(let channel, let central):
            peripheralManager(manager, didOpen: channel, from: central)
        case .missed(let count): peripheralManager(manager, didMissEvents: count)
        }
        return .none
    }
    /// Does nothing.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, willRestoreState state: RestoredState
    ) {}
    /// Does nothing.
    public func peripheralManager(_ manager: isolated PeripheralManager, didUpdateState state: RadioState) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, didChangeAdvertising report: AdvertisingReport
    ) {}
    /// Does nothing.
    public func peripheralManager(_ manager: isolated PeripheralManager, didConnect central: Central) {}
    /// Does nothing.
    public func peripheralManager(_ manager: isolated PeripheralManager, didDisconnect central: Central) {}
    /// Does nothing.
    public func peripheralManager(_ manager: isolated PeripheralManager, didUpdateMTUOf central: Central) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, central: Central?, didSubscribeTo attribute: AttributeKey,
        as delivery: Delivery?
    ) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, central: Central?, didUnsubscribeFrom attribute: AttributeKey
    ) {}
    /// Refuses the read with the error `requestNotSupported`.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
    ) -> RadioAnswer {
        .answer(.failure(.requestNotSupported))
    }
    /// Does nothing.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, didAnswerRead request: ReadRequest, from central: Central,
        with value: [UInt8]
    ) {}
    /// Refuses the write with the error `requestNotSupported`.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, didReceiveWrite request: WriteRequest, from central: Central
    ) -> RadioAnswer {
        .answer(.failure(.requestNotSupported))
    }
    /// Does nothing.
    public func peripheralManagerIsReady(toUpdateSubscribers manager: isolated PeripheralManager) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, central: Central?, didConfirm attribute: AttributeKey
    ) {}
    /// Drops the channel, which closes it.
    public func peripheralManager(
        _ manager: isolated PeripheralManager, didOpen channel: any L2CAPChannel, from central: Central
    ) {}
    /// Does nothing.
    public func peripheralManager(_ manager: isolated PeripheralManager, didMissEvents count: Int) {}
}

/// Passes a peripheral manager's events to its delegate, without keeping the manager alive.
final class PeripheralManagerDelegateSink: PeripheralSink {
    private struct Target {
        weak var manager: PeripheralManager?
    }

    private let delegate: Owned<any PeripheralManagerDelegate>
    private let target = Lock(Target())

    init(_ delegate: any PeripheralManagerDelegate) {
        self.delegate = Owned(delegate)
    }

    /// Sets the manager whose events the sink receives; call it before the first event.
    func attach(to manager: PeripheralManager) {
        target.withLock { $0.manager = manager }
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        guard let manager = target.withLock({ $0.manager }) else { return .unheard(event) }
        return delegate.call(on: manager, event) { $1.peripheralManager($0, didReceive: $2) }
    }
}
