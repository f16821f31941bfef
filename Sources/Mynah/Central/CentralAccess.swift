import MynahCore
import MynahLifecycle
import MynahSupport

/// Identifies a central manager within one launch of its app.
struct CentralReference: Hashable, Sendable {
    let number: UInt64
    let epoch: UInt64

    init(number: UInt64, epoch: UInt64) {
        self.number = number
        self.epoch = epoch
    }

    init(_ manager: CentralManagerState) {
        self.init(number: manager.key.manager, epoch: manager.epoch)
    }
}

/// Synchronous access to a central manager, for code that already runs on its phone's executor.
///
/// A call acts at once, and traps if it comes from another executor.
struct CentralAccess: Sendable {
    private let reference: CentralReference
    private let link: PhoneLink

    init(_ reference: CentralReference, _ link: PhoneLink) {
        self.reference = reference
        self.link = link
    }

    /// Calls `body` with the manager's state, or returns `nil` if its app or its phone has ended.
    func look<Value: Sendable>(_ body: @Sendable (CentralManagerState, isolated Phone) -> Value) -> Value? {
        let reference = reference
        return link.run { phone in phone.central.memory.manager(reference).map { body($0, phone) } } ?? nil
    }

    /// Calls the synchronous `body`; throws `invalidState` if the app does not run.
    func act<Value: Sendable>(
        _ body: @Sendable (CentralManagerState, isolated Phone) throws(RadioError) -> Value
    ) throws(RadioError) -> Value {
        let reference = reference
        let value = try link.run { phone throws(RadioError) in
            try body(try phone.central.memory.acting(reference), phone)
        }
        guard let value else { throw CentralMemory.managerIsGone }
        return value
    }

    /// Calls the asynchronous `body`; throws `invalidState` if the app does not run.
    func ask<Value: Sendable>(
        _ body: @Sendable (CentralReference, isolated Phone) async throws(RadioError) -> Value
    ) async throws(RadioError) -> Value {
        guard let phone = link.phone else { throw CentralMemory.managerIsGone }
        return try await body(reference, phone)
    }

    /// Scans, and returns a sequence of the discoveries.
    ///
    /// The scan stops when the sequence is dropped.
    func discoveries(
        _ services: [BluetoothUUID]?, _ options: ScanOptions
    ) async throws(RadioError) -> AsyncStream<Discovery> {
        let link = link
        return try await ask { reference, phone throws(RadioError) in
            var discoveries: AsyncStream<Discovery>?
            try await phone.central.scan(services, options, for: reference) { purposes in
                let scan = purposes.scan
                discoveries = purposes.readDiscoveries {
                    link.enqueue { phone in
                        let manager = phone.central.memory.manager(reference)
                        guard manager?.purposes.readsNothing(of: scan) == true else { return }
                        await phone.central.stopScan(for: reference)
                    }
                }
            }
            return discoveries ?? AsyncStream { $0.finish() }
        }
    }

    /// Queues the start of a scan, after earlier requests on the phone's queue.
    func scanSoon(_ services: [BluetoothUUID]?, _ options: ScanOptions) {
        let reference = reference
        link.enqueue { phone in
            do throws(RadioError) {
                try await phone.central.scan(services, options, for: reference)
            } catch {
                guard let manager = phone.central.memory.manager(reference) else { return }
                let warning = RadioWarning("scanRefused", "the scan could not be started: \(error)")
                // A warning is not reported to an app's program, but to the phone's sink.
                guard manager.app == nil else { return phone.reports.report(.warning(warning)) }
                _ = manager.deliver(.warning(warning))
            }
        }
    }

    /// Queues the end of the scan, after earlier requests on the phone's queue.
    func stopScanSoon() {
        let reference = reference
        link.enqueue { await $0.central.stopScan(for: reference) }
    }

    /// Makes a peripheral for a manager that has ended; each of its requests fails.
    func unreachable(_ address: DeviceAddress, _ radio: any CentralRadio) -> Peripheral {
        var known = KnownPeripherals(seed: 0)
        return Peripheral(
            identifier: known.identifier(of: address), address: address, radio: radio,
            access: PeripheralAccess(link, of: reference), pairsWhenAsked: false)
    }

    /// Ends the manager because the last reference to it was dropped.
    func release() {
        let reference = reference
        link.enqueue { phone in
            guard let manager = phone.central.memory.manager(reference) else { return }
            phone.memory.app(of: manager)?.forget(manager)
            phone.central.end(manager)
        }
    }
}

/// A peripheral's access to its phone.
struct PeripheralAccess: Sendable {
    private let link: PhoneLink
    /// The manager that made the peripheral, within one launch of its app.
    private let manager: CentralReference

    init(_ link: PhoneLink, of manager: CentralReference) {
        self.link = link
        self.manager = manager
    }

    private func look<Value: Sendable>(
        _ body: @Sendable (CentralManagerState, isolated Phone) -> Value
    ) -> Value? {
        let manager = manager
        return link.run { phone in phone.central.memory.manager(manager).map { body($0, phone) } } ?? nil
    }

    /// Whether an app owns the manager.
    var isOfApp: Bool { look { manager, _ in manager.app != nil } ?? false }

    /// The state of a peripheral.
    func state(of peripheral: Peripheral) -> PeripheralState {
        look { manager, phone in phone.central.connections.state(of: peripheral, for: manager) }
            ?? .disconnected
    }

    /// Throws `invalidState` if the app does not run, or if the manager has ended.
    func check() throws(RequestError) {
        let error = look { manager, _ in
            do throws(RadioError) {
                try manager.app?.checkRuns()
                return nil as RadioError?
            } catch {
                return error
            }
        }
        switch error {
        case .some(nil): return
        case .some(let error?): throw .failed(error)
        case nil: throw .failed(CentralMemory.managerIsGone)
        }
    }

    /// Waits until the app is not suspended.
    ///
    /// Throws `invalidState` if the app has ended, even if it was launched again, or if the manager has
    /// ended.
    func waitUntilRunning() async throws(RequestError) {
        let app = look { manager, phone in
            phone.memory.app(of: manager).flatMap { $0.isSuspended ? $0.makeHandle() : nil }
        }
        await (app ?? nil)?.waitWhileSuspended()
        try check()
    }

    /// Disconnects a link if an app's request failed because the device no longer has its bond with the
    /// phone.
    func failed(_ error: RequestError, on link: Peer.ID) {
        guard case .failed(let trouble) = error, trouble.isLostBond, isOfApp else { return }
        self.link.enqueue { $0.central.devices.lostBonds.found(on: link) }
    }

    /// Asks the phone's user whether to pair with the device of a link.
    func consents(toPairOn link: Peer.ID) async -> Bool { await self.link.consents(toPairOn: link) }

    /// Waits until the app is not suspended, so that its code can receive an answer that has arrived.
    ///
    /// Returns `true` if the answer had to wait. Throws `invalidState` if the launch that made the request
    /// has ended.
    func answered() async throws(RequestError) -> Bool {
        guard let phone = link.phone, let hasWaited = await Self.answered(manager, on: phone) else {
            throw .failed(CentralMemory.managerIsGone)
        }
        return hasWaited
    }

    private static func answered(_ manager: CentralReference, on phone: isolated Phone) async -> Bool? {
        guard let manager = phone.central.memory.manager(manager) else { return nil }
        guard let app = phone.memory.app(of: manager) else { return false }
        return await withCheckedContinuation { continuation in
            app.pass(PendingResult(continuation))
        }
    }

    /// Records that a write without response of the manager waits for buffer space on a link.
    func waitToWrite(on peer: Peer.ID) {
        _ = look { manager, phone in phone.central.memory.links.wait(manager.key, toWriteOn: peer) }
    }

    /// Records the services that were discovered on a link.
    func found(_ services: [BluetoothUUID], on peer: Peer.ID) {
        link.run { $0.central.events.found(services, on: peer) }
    }

    /// The attribute table that the phone keeps of a link's device, and the number to pass to
    /// `noted(in:of:_:)`.
    ///
    /// Both are `nil` if the manager belongs to no app.
    func keptTable(of peer: Peer.ID) -> (table: KeptTables.Table?, number: Int?) {
        look { manager, phone -> (table: KeptTables.Table?, number: Int?) in
            let tables = phone.central.devices.tables
            guard manager.app != nil else { return (nil, nil) }
            return (tables.table(of: peer), tables.number(of: peer))
        } ?? (nil, nil)
    }

    /// Records a device's answer to a discovery in the kept attribute table with this number.
    func noted(in number: Int, of peer: Peer.ID, _ note: @Sendable (inout KeptTables.Table) -> Void) {
        link.run { $0.central.devices.tables.note(in: number, of: peer, note) }
    }

    /// Saves the discovered services and subscriptions of the manager's peripherals, which changed.
    func preserve() {
        _ = look { manager, phone in phone.central.preservation.save(manager) }
    }

    /// Subscribes the manager to a characteristic, or unsubscribes it.
    func setNotify(
        _ isOn: Bool, for characteristic: SubscriptionLedger.Characteristic,
        by configuration: SubscriptionWriter.Configuration
    ) async throws(RequestError) {
        guard let phone = link.phone else { throw .failed(CentralMemory.managerIsGone) }
        try await Self.setNotify(isOn, characteristic, configuration, manager, on: phone)
    }

    private static func setNotify(
        _ isOn: Bool, _ characteristic: SubscriptionLedger.Characteristic,
        _ configuration: SubscriptionWriter.Configuration, _ manager: CentralReference,
        on phone: isolated Phone
    ) async throws(RequestError) {
        guard let manager = phone.central.memory.manager(manager) else {
            throw .failed(CentralMemory.managerIsGone)
        }
        try await phone.central.subscriptions.setNotify(
            isOn, for: characteristic, by: configuration, of: manager.key)
    }

    /// Returns a new sequence of the values of a characteristic, or `nil` if the manager has ended.
    ///
    /// If `subscribes` is `true`, the subscription was made for such a sequence, and ends when its last
    /// sequence is dropped.
    func readValues(
        of characteristic: DiscoveredCharacteristic, of peripheral: Peripheral, subscribes: Bool
    ) -> AsyncStream<[UInt8]>? {
        let (link, manager) = (link, manager)
        let key = PurposeReaders.Characteristic(
            peripheral: peripheral.identifier, handle: characteristic.id)
        return look { state, _ in
            state.purposes.readValues(of: key, subscribes: subscribes) {
                link.enqueue { phone in
                    guard phone.central.memory.manager(manager)?.purposes.leave(key) == true else { return }
                    try? await peripheral.setNotify(false, for: characteristic)
                    phone.central.memory.manager(manager)?.purposes.left(key)
                }
            }
        }
    }

    /// Keeps a subscription after its last sequence ends, because the program itself subscribed.
    func disown(_ handle: AttributeHandle, of peripheral: PeripheralIdentifier) {
        _ = look { state, _ in state.purposes.disown(.init(peripheral: peripheral, handle: handle)) }
    }

    /// Records the start or the end of a subscription, even if the process that requested it has ended
    /// meanwhile.
    func subscribed(to handle: AttributeHandle, _ delivery: Delivery?, on peer: Peer.ID) {
        let number = manager.number
        link.run { phone in
            guard let manager = phone.central.memory.managers.first(where: { $0.key.manager == number }),
                let address = phone.central.memory.ledger.address(of: peer)
            else { return }
            let peripheral = manager.asked[address]
            peripheral?.note(.subscription(handle, delivery))
            if delivery == nil, let peripheral {
                manager.purposes.unsubscribed(.init(peripheral: peripheral.identifier, handle: handle))
            }
            phone.central.preservation.save(manager)
        }
    }

    /// Wraps a channel for the program, so that sending and receiving wait while its app is suspended.
    ///
    /// Returns `nil` if the manager no longer uses the link, or has ended.
    func owned(_ channel: any L2CAPChannel) -> (any L2CAPChannel)? {
        look { manager, phone in
            guard phone.central.memory.holds(channel.peer, manager) else { return nil }
            manager.opened(channel)
            return phone.memory.app(of: manager).map { AppChannel(channel, of: $0.makeHandle()) } ?? channel
        } ?? nil
    }
}

/// An answer for an app that may be suspended; if the answer is dropped, the waiting call fails.
final class PendingResult: Sendable {
    private let continuation: Lock<CheckedContinuation<Bool?, Never>?>

    init(_ continuation: CheckedContinuation<Bool?, Never>) {
        self.continuation = Lock(continuation)
    }

    deinit {
        end(nil)
    }

    /// Gives the answer to the app's waiting call.
    func deliver(hasWaited: Bool) { end(hasWaited) }

    private func end(_ hasWaited: Bool?) {
        let taken = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        taken?.resume(returning: hasWaited)
    }
}
