public import MynahCore
import MynahSupport

/// Receives the events of a `PeripheralManager`, one method for each (after CBPeripheralManagerDelegate).
///
/// Methods are called in the order of the events, synchronously on the manager's executor. Each has a default
/// implementation. The manager does not keep its delegate alive.
public protocol PeripheralManagerDelegate: AnyObject, Sendable {
    /// The system restored this state, which it preserved while the app did not run.
    ///
    /// It is called before any other method.
    func peripheralManager(_ manager: PeripheralManager, willRestoreState state: RestoredState)
    /// The Bluetooth state changed (after peripheralManagerDidUpdateState).
    func peripheralManager(_ manager: PeripheralManager, didUpdateState state: RadioState)
    /// Advertising started, changed or stopped.
    func peripheralManager(_ manager: PeripheralManager, didChangeAdvertising report: AdvertisingReport)
    /// A central connected.
    func peripheralManager(_ manager: PeripheralManager, didConnect central: Central)
    /// A central disconnected, which ended its subscriptions.
    func peripheralManager(_ manager: PeripheralManager, didDisconnect central: Central)
    /// The ATT_MTU of a central's link became known or changed.
    func peripheralManager(_ manager: PeripheralManager, didUpdateMTUOf central: Central)
    /// A central subscribed to a characteristic.
    ///
    /// The central or the delivery is `nil` if the radio does not report it.
    func peripheralManager(
        _ manager: PeripheralManager, central: Central?, didSubscribeTo attribute: AttributeKey,
        as delivery: Delivery?)
    /// A central unsubscribed from a characteristic.
    ///
    /// The central is `nil` if the radio does not report it, or if all centrals have unsubscribed.
    func peripheralManager(
        _ manager: PeripheralManager, central: Central?, didUnsubscribeFrom attribute: AttributeKey)
    /// A central reads a value that is not static.
    ///
    /// Returns the bytes from the request's offset on, an ATT error, or `.later`.
    func peripheralManager(
        _ manager: PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
    ) -> RadioAnswer
    /// A central read a static value, and the radio answered with these bytes.
    func peripheralManager(
        _ manager: PeripheralManager, didAnswerRead request: ReadRequest, from central: Central,
        with value: [UInt8])
    /// A central writes one or more values; the answer is for all of them.
    ///
    /// Returns no bytes, an ATT error, or `.later`. The answer has no effect if the request wants none.
    func peripheralManager(
        _ manager: PeripheralManager, didReceiveWrite request: WriteRequest, from central: Central
    ) -> RadioAnswer
    /// There is room to send again, after `updateValue` returned `false`.
    func peripheralManagerIsReady(toUpdateSubscribers manager: PeripheralManager)
    /// A central confirmed an indication; the central is `nil` if the radio does not report it.
    func peripheralManager(
        _ manager: PeripheralManager, central: Central?, didConfirm attribute: AttributeKey)
    /// A central opened an L2CAP channel to a PSM that the manager published.
    ///
    /// The channel is closed when the last reference to it is dropped.
    func peripheralManager(
        _ manager: PeripheralManager, didOpen channel: any L2CAPChannel, from central: Central)
    /// This many events were dropped, because more came than the queue of a suspended app holds.
    func peripheralManager(_ manager: PeripheralManager, didMissEvents count: Int)
}

extension PeripheralManagerDelegate {
    /// Does nothing.
    public func peripheralManager(_ manager: PeripheralManager, willRestoreState state: RestoredState) {}
    /// Does nothing.
    public func peripheralManager(_ manager: PeripheralManager, didUpdateState state: RadioState) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: PeripheralManager, didChangeAdvertising report: AdvertisingReport
    ) {}
    /// Does nothing.
    public func peripheralManager(_ manager: PeripheralManager, didConnect central: Central) {}
    /// Does nothing.
    public func peripheralManager(_ manager: PeripheralManager, didDisconnect central: Central) {}
    /// Does nothing.
    public func peripheralManager(_ manager: PeripheralManager, didUpdateMTUOf central: Central) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: PeripheralManager, central: Central?, didSubscribeTo attribute: AttributeKey,
        as delivery: Delivery?
    ) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: PeripheralManager, central: Central?, didUnsubscribeFrom attribute: AttributeKey
    ) {}
    /// Returns the error `requestNotSupported`.
    public func peripheralManager(
        _ manager: PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
    ) -> RadioAnswer {
        .answer(.failure(.requestNotSupported))
    }
    /// Does nothing.
    public func peripheralManager(
        _ manager: PeripheralManager, didAnswerRead request: ReadRequest, from central: Central,
        with value: [UInt8]
    ) {}
    /// Returns the error `requestNotSupported`.
    public func peripheralManager(
        _ manager: PeripheralManager, didReceiveWrite request: WriteRequest, from central: Central
    ) -> RadioAnswer {
        .answer(.failure(.requestNotSupported))
    }
    /// Does nothing.
    public func peripheralManagerIsReady(toUpdateSubscribers manager: PeripheralManager) {}
    /// Does nothing.
    public func peripheralManager(
        _ manager: PeripheralManager, central: Central?, didConfirm attribute: AttributeKey
    ) {}
    /// Drops the channel, which closes it.
    public func peripheralManager(
        _ manager: PeripheralManager, didOpen channel: any L2CAPChannel, from central: Central
    ) {}
    /// Does nothing.
    public func peripheralManager(_ manager: PeripheralManager, didMissEvents count: Int) {}
}

/// Passes a peripheral manager's events to its delegate; it keeps neither of them alive.
final class PeripheralManagerDelegateSink: PeripheralSink {
    private struct Ends {
        weak var manager: PeripheralManager?
        weak var delegate: (any PeripheralManagerDelegate)?
    }

    private let ends: Lock<Ends>

    init(_ delegate: any PeripheralManagerDelegate) {
        ends = Lock(Ends(delegate: delegate))
    }

    /// Names the manager whose sink this is; no event comes before.
    func attach(to manager: PeripheralManager) {
        ends.withLock { $0.manager = manager }
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        let (manager, delegate) = ends.withLock { ($0.manager, $0.delegate) }
        guard let manager, let delegate else { return .unheard(event) }
        return Self.call(delegate, event, of: manager)
    }

    /// Calls the delegate's method for an event.
    static func call(
        _ delegate: any PeripheralManagerDelegate, _ event: PeripheralEvent, of manager: PeripheralManager
    ) -> RadioAnswer {
        switch event {
        case .willRestoreState(let state): delegate.peripheralManager(manager, willRestoreState: state)
        case .stateChanged(let state): delegate.peripheralManager(manager, didUpdateState: state)
        case .advertisingChanged(let report):
            delegate.peripheralManager(manager, didChangeAdvertising: report)
        case .connected(let central): delegate.peripheralManager(manager, didConnect: central)
        case .disconnected(let central): delegate.peripheralManager(manager, didDisconnect: central)
        case .mtuChanged(let central): delegate.peripheralManager(manager, didUpdateMTUOf: central)
        case .subscribed(let key, let central, let delivery):
            delegate.peripheralManager(manager, central: central, didSubscribeTo: key, as: delivery)
        case .unsubscribed(let key, let central):
            delegate.peripheralManager(manager, central: central, didUnsubscribeFrom: key)
        case .read(let request, let central):
            return delegate.peripheralManager(manager, didReceiveRead: request, from: central)
        case .answeredRead(let request, let central, let value):
            delegate.peripheralManager(manager, didAnswerRead: request, from: central, with: value)
        case .write(let request, let central):
            return delegate.peripheralManager(manager, didReceiveWrite: request, from: central)
        case .readyToUpdateSubscribers: delegate.peripheralManagerIsReady(toUpdateSubscribers: manager)
        case .confirmed(let key, let central):
            delegate.peripheralManager(manager, central: central, didConfirm: key)
        case .channelOpened(let channel, let central):
            delegate.peripheralManager(manager, didOpen: channel, from: central)
        case .missed(let count): delegate.peripheralManager(manager, didMissEvents: count)
        }
        return .none
    }
}
