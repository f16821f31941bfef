public import MynahCore
public import MynahLifecycle

/// CBCentralManagerDelegate's callbacks, for programs that are written that way; each has a default.
///
/// Called synchronously on the manager's executor.
public protocol CentralManagerDelegate: AnyObject, Sendable {
    /// The system restores what it preserved while the app did not run. It is called before any other
    /// callback.
    func centralManager(willRestoreState state: RestoredCentralState)
    /// The Bluetooth state changed.
    func centralManagerDidUpdateState(_ state: RadioState)
    /// A device was heard.
    func centralManager(didDiscover discovery: Discovery)
    /// A peripheral is connected.
    func centralManager(didConnect peripheral: Peripheral)
    /// A connection failed, and is no longer waited for.
    func centralManager(didFailToConnect peripheral: Peripheral, error: RadioError)
    /// A connection ended or was cancelled.
    func centralManager(didDisconnect peripheral: Peripheral, _ end: Disconnection)
    /// A device that the manager registered for came to the phone or left it.
    func centralManager(connectionEventDidOccur event: ConnectionEvent, for peripheral: Peripheral)
}

extension CentralManagerDelegate {
    /// Does nothing.
    public func centralManager(willRestoreState state: RestoredCentralState) {}
    /// Does nothing.
    public func centralManagerDidUpdateState(_ state: RadioState) {}
    /// Does nothing.
    public func centralManager(didDiscover discovery: Discovery) {}
    /// Does nothing.
    public func centralManager(didConnect peripheral: Peripheral) {}
    /// Does nothing.
    public func centralManager(didFailToConnect peripheral: Peripheral, error: RadioError) {}
    /// Does nothing.
    public func centralManager(didDisconnect peripheral: Peripheral, _ end: Disconnection) {}
    /// Does nothing.
    public func centralManager(connectionEventDidOccur event: ConnectionEvent, for peripheral: Peripheral) {}
}

/// CBPeripheralDelegate's callbacks for what a peripheral does by itself; each has a default.
///
/// The answers to requests are what their calls return. Called synchronously on the manager's executor.
public protocol PeripheralDelegate: AnyObject, Sendable {
    /// A value came that was subscribed to.
    func peripheral(_ peripheral: Peripheral, didUpdateValue update: ValueUpdate)
    /// Services came or went; what was discovered in this range of handles is forgotten.
    func peripheral(_ peripheral: Peripheral, didModifyServices handles: ClosedRange<AttributeHandle>)
}

extension PeripheralDelegate {
    /// Does nothing.
    public func peripheral(_ peripheral: Peripheral, didUpdateValue update: ValueUpdate) {}
    /// Does nothing.
    public func peripheral(_ peripheral: Peripheral, didModifyServices handles: ClosedRange<AttributeHandle>)
    {}
}

/// Passes a manager's events to its delegate and to one for all of its peripherals; it keeps neither alive.
public final class CentralDelegateAdapter: CentralManagerSink {
    private weak let delegate: (any CentralManagerDelegate)?
    private weak let peripheralDelegate: (any PeripheralDelegate)?

    /// An adapter for `makeCentralManager(sink:)`.
    public init(_ delegate: any CentralManagerDelegate, peripherals: (any PeripheralDelegate)? = nil) {
        self.delegate = delegate
        peripheralDelegate = peripherals
    }

    /// Calls the delegates' method for the event; a pairing is left to its defaults.
    public func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        switch event {
        case .willRestoreState(let state): delegate?.centralManager(willRestoreState: state)
        case .stateChanged(let state): delegate?.centralManagerDidUpdateState(state)
        case .discovered(let discovery): delegate?.centralManager(didDiscover: discovery)
        case .connected(let peripheral, _): delegate?.centralManager(didConnect: peripheral)
        case .failedToConnect(let peripheral, let error):
            delegate?.centralManager(didFailToConnect: peripheral, error: error)
        case .disconnected(let peripheral, let end):
            delegate?.centralManager(didDisconnect: peripheral, end)
        case .connectionEvent(let event, let peripheral):
            delegate?.centralManager(connectionEventDidOccur: event, for: peripheral)
        case .valueUpdated(let update):
            peripheralDelegate?.peripheral(update.peripheral, didUpdateValue: update)
        case .servicesChanged(let peripheral, let handles, _):
            peripheralDelegate?.peripheral(peripheral, didModifyServices: handles)
        case .mtuChanged, .paired, .pairing, .readyToWrite, .lost, .recovered, .warning, .missed: break
        }
        return .none
    }
}
