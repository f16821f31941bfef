public import MynahCore
public import MynahLifecycle
import MynahSupport

/// Receives the events of a `CentralManager` and of its peripherals, one method for each (after
/// CBCentralManagerDelegate and CBPeripheralDelegate).
///
/// Methods are called in the order of the events, synchronously on the executor of the manager and its
/// peripherals. They need no `await` for methods of the manager or the peripheral that they get. Each has a
/// default implementation. The answer to a request is returned by its call, and is not reported here.
///
/// A delegate keeps its state in plain properties, without a lock: it is called on that executor only. The
/// manager keeps its delegate alive until the manager ends. If a delegate refers to a manager that belongs to
/// no app, the phone stays on the air until `stop()`.
public protocol CentralManagerDelegate {
    /// Receives each event, and returns the answer to `.pairing`, or else `.none`.
    ///
    /// The default implementation calls the method for the event. Implement this method instead of the others
    /// to handle all events in one place.
    func centralManager(
        _ manager: isolated CentralManager, didReceive event: CentralManagerEvent
    ) -> RadioAnswer
    /// The system restored this state, which it preserved while the app did not run.
    ///
    /// This event comes before all others.
    func centralManager(_ manager: isolated CentralManager, willRestoreState state: RestoredCentralState)
    /// The Bluetooth state changed (after centralManagerDidUpdateState).
    func centralManager(_ manager: isolated CentralManager, didUpdateState state: RadioState)
    /// A scan discovered a peripheral, or its advertisement changed.
    func centralManager(_ manager: isolated CentralManager, didDiscover discovery: Discovery)
    /// A peripheral connected; `isLocal` is `true` if another app of the phone had the link already.
    func centralManager(_ manager: isolated CentralManager, didConnect peripheral: Peripheral, isLocal: Bool)
    /// A connection failed, and is no longer pending.
    func centralManager(
        _ manager: isolated CentralManager, didFailToConnect peripheral: Peripheral, error: RadioError)
    /// A connection ended, or was cancelled while it was pending.
    func centralManager(
        _ manager: isolated CentralManager, didDisconnectPeripheral peripheral: Peripheral,
        disconnection: Disconnection)
    /// A peripheral that matches the manager's registration connected to the phone or disconnected from it.
    func centralManager(
        _ manager: isolated CentralManager, connectionEventDidOccur event: ConnectionEvent,
        for peripheral: Peripheral)
    /// The radio is lost; it recovers by itself if it can.
    ///
    /// A manager of an app gets the changed Bluetooth state instead of this call.
    func centralManager(_ manager: isolated CentralManager, didLoseRadio error: RadioError)
    /// The radio recovered; a manager of an app gets the changed Bluetooth state instead of this call.
    func centralManagerDidRecoverRadio(_ manager: isolated CentralManager)
    /// The radio gave a warning; only a manager that belongs to no app gets this call.
    func centralManager(_ manager: isolated CentralManager, didReceiveWarning warning: RadioWarning)
    /// `count` events were dropped, because more arrived than the queue of a suspended app holds.
    func centralManager(_ manager: isolated CentralManager, didMissEvents count: Int)
    /// A peripheral sent a notification or an indication.
    func peripheral(_ peripheral: isolated Peripheral, didUpdateValue update: ValueUpdate)
    /// The services of a peripheral changed in this range of attribute handles.
    ///
    /// `invalidated` contains the discovered services in the range, which are no longer valid.
    func peripheral(
        _ peripheral: isolated Peripheral, didModifyServices invalidated: [DiscoveredService],
        in handles: ClosedRange<AttributeHandle>)
    /// The name of an app's peripheral changed, because its GAP device name was read.
    func peripheralDidUpdateName(_ peripheral: isolated Peripheral)
    /// The ATT_MTU of a peripheral's link changed, in bytes.
    func peripheral(_ peripheral: isolated Peripheral, didUpdateMTU mtu: Int)
    /// There is buffer space again for a write without response to a peripheral.
    ///
    /// The manager calls this after `writeValue` returned `false`, or after `canSendWriteWithoutResponse` was
    /// `false`.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: isolated Peripheral)
    /// A pairing needs an answer, as `PairingStep` describes.
    ///
    /// Only a manager that belongs to no app gets this call. Returns `.pairing`, `.pairingLater`, or `.none`
    /// for the default of the step.
    func peripheral(_ peripheral: isolated Peripheral, didRequestPairing step: PairingStep) -> RadioAnswer
    /// A peripheral paired.
    func peripheralDidPair(_ peripheral: isolated Peripheral)
}

extension CentralManagerDelegate {
    /// Calls the method for the event.
    public func centralManager(
        _ manager: isolated CentralManager, didReceive event: CentralManagerEvent
    ) -> RadioAnswer {
        let own = Owned<any CentralManagerDelegate>(self)
        switch event {
        case .willRestoreState(let state): centralManager(manager, willRestoreState: state)
        case .stateChanged(let state): centralManager(manager, didUpdateState: state)
        case .discovered(let discovery): centralManager(manager, didDiscover: discovery)
        case .connected(let peripheral, let isLocal):
            centralManager(manager, didConnect: peripheral, isLocal: isLocal)
        case .failedToConnect(let peripheral, let error):
            centralManager(manager, didFailToConnect: peripheral, error: error)
        case .disconnected(let peripheral, let end):
            centralManager(manager, didDisconnectPeripheral: peripheral, disconnection: end)
        case .connectionEvent(let event, let peripheral):
            centralManager(manager, connectionEventDidOccur: event, for: peripheral)
        case .lost(let error): centralManager(manager, didLoseRadio: error)
        case .recovered: centralManagerDidRecoverRadio(manager)
        case .warning(let warning): centralManager(manager, didReceiveWarning: warning)
        case .missed(let count): centralManager(manager, didMissEvents: count)
        case .valueUpdated(let update):
            own.call(on: update.peripheral, update) { $1.peripheral($0, didUpdateValue: $2) }
        case .servicesChanged(let peripheral, let handles, let invalidated):
            own.call(on: peripheral, (invalidated, handles)) {
                $1.peripheral($0, didModifyServices: $2.0, in: $2.1)
            }
        case .nameUpdated(let peripheral):
            own.call(on: peripheral, ()) { peripheral, delegate, _ in
                delegate.peripheralDidUpdateName(peripheral)
            }
        case .mtuChanged(let peripheral, let mtu):
            own.call(on: peripheral, mtu) { $1.peripheral($0, didUpdateMTU: $2) }
        case .readyToWrite(let peripheral):
            own.call(on: peripheral, ()) { peripheral, delegate, _ in
                delegate.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
            }
        case .pairing(let peripheral, let step):
            return own.call(on: peripheral, step) { $1.peripheral($0, didRequestPairing: $2) }
        case .paired(let peripheral):
            own.call(on: peripheral, ()) { peripheral, delegate, _ in delegate.peripheralDidPair(peripheral) }
        }
        return .none
    }
    /// Does nothing.
    public func centralManager(
        _ manager: isolated CentralManager, willRestoreState state: RestoredCentralState
    ) {}
    /// Does nothing.
    public func centralManager(_ manager: isolated CentralManager, didUpdateState state: RadioState) {}
    /// Does nothing.
    public func centralManager(_ manager: isolated CentralManager, didDiscover discovery: Discovery) {}
    /// Does nothing.
    public func centralManager(
        _ manager: isolated CentralManager, didConnect peripheral: Peripheral, isLocal: Bool
    ) {}
    /// Does nothing.
    public func centralManager(
        _ manager: isolated CentralManager, didFailToConnect peripheral: Peripheral, error: RadioError
    ) {}
    /// Does nothing.
    public func centralManager(
        _ manager: isolated CentralManager, didDisconnectPeripheral peripheral: Peripheral,
        disconnection: Disconnection
    ) {}
    /// Does nothing.
    public func centralManager(
        _ manager: isolated CentralManager, connectionEventDidOccur event: ConnectionEvent,
        for peripheral: Peripheral
    ) {}
    /// Does nothing.
    public func centralManager(_ manager: isolated CentralManager, didLoseRadio error: RadioError) {}
    /// Does nothing.
    public func centralManagerDidRecoverRadio(_ manager: isolated CentralManager) {}
    /// Does nothing.
    public func centralManager(_ manager: isolated CentralManager, didReceiveWarning warning: RadioWarning) {}
    /// Does nothing.
    public func centralManager(_ manager: isolated CentralManager, didMissEvents count: Int) {}
    /// Does nothing.
    public func peripheral(_ peripheral: isolated Peripheral, didUpdateValue update: ValueUpdate) {}
    /// Does nothing.
    public func peripheral(
        _ peripheral: isolated Peripheral, didModifyServices invalidated: [DiscoveredService],
        in handles: ClosedRange<AttributeHandle>
    ) {}
    /// Does nothing.
    public func peripheralDidUpdateName(_ peripheral: isolated Peripheral) {}
    /// Does nothing.
    public func peripheral(_ peripheral: isolated Peripheral, didUpdateMTU mtu: Int) {}
    /// Does nothing.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: isolated Peripheral) {}
    /// Returns `.none`.
    public func peripheral(_ peripheral: isolated Peripheral, didRequestPairing step: PairingStep)
        -> RadioAnswer
    {
        .none
    }
    /// Does nothing.
    public func peripheralDidPair(_ peripheral: isolated Peripheral) {}
}

/// Passes a central manager's events to its delegate, without keeping the manager alive.
final class CentralManagerDelegateSink: CentralManagerSink {
    private struct Target {
        weak var manager: CentralManager?
    }

    private let delegate: Owned<any CentralManagerDelegate>
    private let target = Lock(Target())

    init(_ delegate: any CentralManagerDelegate) {
        self.delegate = Owned(delegate)
    }

    /// Sets the manager whose events go to the delegate; call it before the first event.
    func attach(to manager: CentralManager) {
        target.withLock { $0.manager = manager }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        guard let manager = target.withLock({ $0.manager }) else { return .none }
        return delegate.call(on: manager, event) { $1.centralManager($0, didReceive: $2) }
    }
}
