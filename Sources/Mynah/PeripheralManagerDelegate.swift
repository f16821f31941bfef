public import MynahCore

/// CBPeripheralManagerDelegate's callbacks, for programs that are written that way; each has a default.
///
/// Called synchronously on the manager's executor, so a callback that needs time answers `.later`.
public protocol PeripheralManagerDelegate: AnyObject, Sendable {
    /// The system restores what it preserved while the app did not run. It is called before any other
    /// callback.
    func peripheralManager(willRestoreState state: RestoredState)
    /// The Bluetooth state changed.
    func peripheralManagerDidUpdateState(_ state: RadioState)
    /// Advertising started, changed or stopped.
    func peripheralManager(didChangeAdvertising report: AdvertisingReport)
    /// A central connected.
    func peripheralManager(didConnect central: Central)
    /// A central is gone.
    func peripheralManager(didDisconnect central: Central)
    /// A central subscribed; `nil` if the radio does not name it.
    func peripheralManager(central: Central?, didSubscribeTo attribute: AttributeKey)
    /// A central unsubscribed; `nil` if the radio does not name it.
    func peripheralManager(central: Central?, didUnsubscribeFrom attribute: AttributeKey)
    /// A central reads; the answer starts at the request's offset.
    func peripheralManager(didReceiveRead request: ReadRequest, from central: Central) -> RadioAnswer
    /// A central writes; all parts or none.
    func peripheralManager(didReceiveWrite request: WriteRequest, from central: Central) -> RadioAnswer
    /// After `updateValue` returned false: there is room again.
    func peripheralManagerIsReadyToUpdateSubscribers()
    /// An indication was confirmed; `nil` if the radio does not name the central.
    func peripheralManager(central: Central?, didConfirm attribute: AttributeKey)
    /// A central opened a channel to a number that was published; it is closed when nobody holds it any more.
    func peripheralManager(didOpen channel: any L2CAPChannel, from central: Central)
}

extension PeripheralManagerDelegate {
    /// Does nothing.
    public func peripheralManager(willRestoreState state: RestoredState) {}
    /// Does nothing.
    public func peripheralManagerDidUpdateState(_ state: RadioState) {}
    /// Does nothing.
    public func peripheralManager(didChangeAdvertising report: AdvertisingReport) {}
    /// Does nothing.
    public func peripheralManager(didConnect central: Central) {}
    /// Does nothing.
    public func peripheralManager(didDisconnect central: Central) {}
    /// Does nothing.
    public func peripheralManager(central: Central?, didSubscribeTo attribute: AttributeKey) {}
    /// Does nothing.
    public func peripheralManager(central: Central?, didUnsubscribeFrom attribute: AttributeKey) {}
    /// Refuses with `requestNotSupported`.
    public func peripheralManager(didReceiveRead request: ReadRequest, from central: Central) -> RadioAnswer {
        .answer(.failure(.requestNotSupported))
    }
    /// Refuses with `requestNotSupported`.
    public func peripheralManager(didReceiveWrite request: WriteRequest, from central: Central) -> RadioAnswer
    {
        .answer(.failure(.requestNotSupported))
    }
    /// Does nothing.
    public func peripheralManagerIsReadyToUpdateSubscribers() {}
    /// Does nothing.
    public func peripheralManager(central: Central?, didConfirm attribute: AttributeKey) {}
    /// Does nothing, and so closes it.
    public func peripheralManager(didOpen channel: any L2CAPChannel, from central: Central) {}
}

/// Passes a manager's events to a delegate, which it does not keep alive.
public final class PeripheralDelegateAdapter: PeripheralSink {
    private weak let delegate: (any PeripheralManagerDelegate)?

    /// An adapter for `makePeripheralManager(sink:)`.
    public init(_ delegate: any PeripheralManagerDelegate) {
        self.delegate = delegate
    }

    /// Calls the delegate's method for the event.
    public func handle(_ event: PeripheralEvent) -> RadioAnswer {
        guard let delegate else { return .unheard(event) }
        switch event {
        case .willRestoreState(let state): delegate.peripheralManager(willRestoreState: state)
        case .stateChanged(let state): delegate.peripheralManagerDidUpdateState(state)
        case .advertisingChanged(let report): delegate.peripheralManager(didChangeAdvertising: report)
        case .connected(let central): delegate.peripheralManager(didConnect: central)
        case .disconnected(let central): delegate.peripheralManager(didDisconnect: central)
        case .subscribed(let key, let central, _):
            delegate.peripheralManager(central: central, didSubscribeTo: key)
        case .unsubscribed(let key, let central):
            delegate.peripheralManager(central: central, didUnsubscribeFrom: key)
        case .read(let request, let central):
            return delegate.peripheralManager(didReceiveRead: request, from: central)
        case .write(let request, let central):
            return delegate.peripheralManager(didReceiveWrite: request, from: central)
        case .readyToUpdateSubscribers: delegate.peripheralManagerIsReadyToUpdateSubscribers()
        case .confirmed(let key, let central): delegate.peripheralManager(central: central, didConfirm: key)
        case .channelOpened(let channel, let central):
            delegate.peripheralManager(didOpen: channel, from: central)
        case .mtuChanged, .answeredRead, .missed: break
        }
        return .none
    }
}
