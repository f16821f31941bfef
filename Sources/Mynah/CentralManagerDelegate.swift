public import MynahCore
public import MynahLifecycle
import MynahSupport

/// Receives the events of a `CentralManager`, one method for each (after CBCentralManagerDelegate).
///
/// Methods are called in the order of the events, synchronously on the manager's executor. Each has a default
/// implementation that does nothing. The manager does not keep its delegate alive. Events of one peripheral
/// go to the `PeripheralDelegate`.
public protocol CentralManagerDelegate: AnyObject, Sendable {
    /// The system restored this state, which it preserved while the app did not run.
    ///
    /// It is called before any other method.
    func centralManager(_ manager: CentralManager, willRestoreState state: RestoredCentralState)
    /// The Bluetooth state changed (after centralManagerDidUpdateState).
    func centralManager(_ manager: CentralManager, didUpdateState state: RadioState)
    /// A scan discovered a peripheral, or its advertisement changed.
    func centralManager(_ manager: CentralManager, didDiscover discovery: Discovery)
    /// A peripheral connected; `isLocal` if another app of the phone had the link already.
    func centralManager(_ manager: CentralManager, didConnect peripheral: Peripheral, isLocal: Bool)
    /// A connection failed, and is no longer pending.
    func centralManager(_ manager: CentralManager, didFailToConnect peripheral: Peripheral, error: RadioError)
    /// A connection ended, or was cancelled while it was pending.
    func centralManager(
        _ manager: CentralManager, didDisconnectPeripheral peripheral: Peripheral,
        disconnection: Disconnection)
    /// A peripheral that the manager registered for connected to the phone or disconnected from it.
    func centralManager(
        _ manager: CentralManager, connectionEventDidOccur event: ConnectionEvent, for peripheral: Peripheral)
    /// The radio is lost; it recovers by itself if it can.
    ///
    /// It is called for a manager without an app only. An app is told the Bluetooth state.
    func centralManager(_ manager: CentralManager, didLoseRadio error: RadioError)
    /// The radio recovered; like `didLoseRadio`, for a manager without an app only.
    func centralManagerDidRecoverRadio(_ manager: CentralManager)
    /// The radio gave a warning; like `didLoseRadio`, for a manager without an app only.
    func centralManager(_ manager: CentralManager, didReceiveWarning warning: RadioWarning)
    /// This many events were dropped, because more came than the queue of a suspended app holds.
    func centralManager(_ manager: CentralManager, didMissEvents count: Int)
}

extension CentralManagerDelegate {
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, willRestoreState state: RestoredCentralState) {}
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, didUpdateState state: RadioState) {}
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, didDiscover discovery: Discovery) {}
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, didConnect peripheral: Peripheral, isLocal: Bool) {}
    /// Does nothing.
    public func centralManager(
        _ manager: CentralManager, didFailToConnect peripheral: Peripheral, error: RadioError
    ) {}
    /// Does nothing.
    public func centralManager(
        _ manager: CentralManager, didDisconnectPeripheral peripheral: Peripheral,
        disconnection: Disconnection
    ) {}
    /// Does nothing.
    public func centralManager(
        _ manager: CentralManager, connectionEventDidOccur event: ConnectionEvent, for peripheral: Peripheral
    ) {}
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, didLoseRadio error: RadioError) {}
    /// Does nothing.
    public func centralManagerDidRecoverRadio(_ manager: CentralManager) {}
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, didReceiveWarning warning: RadioWarning) {}
    /// Does nothing.
    public func centralManager(_ manager: CentralManager, didMissEvents count: Int) {}
}

/// Receives the events of all peripherals of a `CentralManager` (after CBPeripheralDelegate).
///
/// The answer to a request is what its call returns, and comes to no method here. Methods are called
/// synchronously on the manager's executor, and have default implementations. The manager does not keep its
/// delegate alive.
public protocol PeripheralDelegate: AnyObject, Sendable {
    /// A peripheral sent a notification or an indication.
    func peripheral(_ peripheral: Peripheral, didUpdateValue update: ValueUpdate)
    /// The services of a peripheral changed in this range of attribute handles.
    ///
    /// `invalidated` are those of `services` that were in the range, and are not any more.
    func peripheral(
        _ peripheral: Peripheral, didModifyServices invalidated: [DiscoveredService],
        in handles: ClosedRange<AttributeHandle>)
    /// The name of an app's peripheral is another one now: its GAP device name was read.
    func peripheralDidUpdateName(_ peripheral: Peripheral)
    /// The ATT_MTU of a peripheral's link changed, in bytes.
    func peripheral(_ peripheral: Peripheral, didUpdateMTU mtu: Int)
    /// A link has room again, after a write without response found none.
    ///
    /// That is after `writeValue` returned `false`, or `canSendWriteWithoutResponse` was `false`.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: Peripheral)
    /// A pairing needs an answer, as `PairingStep` describes; for a manager without an app only.
    ///
    /// Returns `.pairing`, `.pairingLater`, or `.none` for the default of the step.
    func peripheral(_ peripheral: Peripheral, didRequestPairing step: PairingStep) -> RadioAnswer
    /// A peripheral paired.
    func peripheralDidPair(_ peripheral: Peripheral)
}

extension PeripheralDelegate {
    /// Does nothing.
    public func peripheral(_ peripheral: Peripheral, didUpdateValue update: ValueUpdate) {}
    /// Does nothing.
    public func peripheral(
        _ peripheral: Peripheral, didModifyServices invalidated: [DiscoveredService],
        in handles: ClosedRange<AttributeHandle>
    ) {}
    /// Does nothing.
    public func peripheralDidUpdateName(_ peripheral: Peripheral) {}
    /// Does nothing.
    public func peripheral(_ peripheral: Peripheral, didUpdateMTU mtu: Int) {}
    /// Does nothing.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: Peripheral) {}
    /// Returns `.none`.
    public func peripheral(_ peripheral: Peripheral, didRequestPairing step: PairingStep) -> RadioAnswer {
        .none
    }
    /// Does nothing.
    public func peripheralDidPair(_ peripheral: Peripheral) {}
}

/// Passes a central manager's events to its delegates; it keeps none of them alive.
final class CentralManagerDelegateSink: CentralManagerSink {
    private struct Ends {
        weak var manager: CentralManager?
        weak var delegate: (any CentralManagerDelegate)?
        weak var peripheralDelegate: (any PeripheralDelegate)?
    }

    private let ends: Lock<Ends>

    /// Returns `nil` if there is no delegate.
    init?(_ delegate: (any CentralManagerDelegate)?, _ peripheralDelegate: (any PeripheralDelegate)?) {
        if delegate == nil, peripheralDelegate == nil { return nil }
        ends = Lock(Ends(delegate: delegate, peripheralDelegate: peripheralDelegate))
    }

    /// Names the manager whose sink this is; no event comes before.
    func attach(to manager: CentralManager) {
        ends.withLock { $0.manager = manager }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        let (manager, delegate, peripherals) = ends.withLock {
            ($0.manager, $0.delegate, $0.peripheralDelegate)
        }
        guard let manager else { return .none }
        return Self.call(delegate, peripherals, event, of: manager)
    }

    /// Calls the delegates' method for an event.
    static func call(
        _ delegate: (any CentralManagerDelegate)?, _ peripherals: (any PeripheralDelegate)?,
        _ event: CentralManagerEvent, of manager: CentralManager
    ) -> RadioAnswer {
        switch event {
        case .willRestoreState(let state): delegate?.centralManager(manager, willRestoreState: state)
        case .stateChanged(let state): delegate?.centralManager(manager, didUpdateState: state)
        case .discovered(let discovery): delegate?.centralManager(manager, didDiscover: discovery)
        case .connected(let peripheral, let isLocal):
            delegate?.centralManager(manager, didConnect: peripheral, isLocal: isLocal)
        case .failedToConnect(let peripheral, let error):
            delegate?.centralManager(manager, didFailToConnect: peripheral, error: error)
        case .disconnected(let peripheral, let end):
            delegate?.centralManager(manager, didDisconnectPeripheral: peripheral, disconnection: end)
        case .connectionEvent(let event, let peripheral):
            delegate?.centralManager(manager, connectionEventDidOccur: event, for: peripheral)
        case .lost(let error): delegate?.centralManager(manager, didLoseRadio: error)
        case .recovered: delegate?.centralManagerDidRecoverRadio(manager)
        case .warning(let warning): delegate?.centralManager(manager, didReceiveWarning: warning)
        case .missed(let count): delegate?.centralManager(manager, didMissEvents: count)
        case .valueUpdated(let update): peripherals?.peripheral(update.peripheral, didUpdateValue: update)
        case .servicesChanged(let peripheral, let handles, let invalidated):
            peripherals?.peripheral(peripheral, didModifyServices: invalidated, in: handles)
        case .nameUpdated(let peripheral): peripherals?.peripheralDidUpdateName(peripheral)
        case .mtuChanged(let peripheral, let mtu): peripherals?.peripheral(peripheral, didUpdateMTU: mtu)
        case .readyToWrite(let peripheral):
            peripherals?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
        case .pairing(let peripheral, let step):
            return peripherals?.peripheral(peripheral, didRequestPairing: step) ?? .none
        case .paired(let peripheral): peripherals?.peripheralDidPair(peripheral)
        }
        return .none
    }
}
