import MynahCore
import MynahLifecycle

/// The readers of a central manager's sequences for one purpose: what a scan discovers, and the values of a
/// characteristic.
///
/// A sequence ends with the scan or the subscription that it is for.
struct PurposeReaders {
    /// A characteristic of one of the manager's peripherals.
    struct Characteristic: Hashable {
        let peripheral: PeripheralIdentifier
        let handle: AttributeHandle
    }

    private var discoveries = EventReaders<Discovery>(missed: nil)
    /// The number of the scan that `discoveries` read: every scan has another.
    private(set) var scan: UInt64 = 0
    private var values: [(of: Characteristic, readers: EventReaders<[UInt8]>)] = []
    /// The characteristics whose subscription was made for a sequence, and ends with the last one.
    private var owned: Set<Characteristic> = []
    /// The characteristics whose subscription is being given up, because the last sequence of it is gone.
    private var leaving: Set<Characteristic> = []

    /// Whether nobody reads what a scan discovers, which still is the manager's.
    func readsNothing(of scan: UInt64) -> Bool { scan == self.scan && discoveries.isEmpty }

    /// Gives up a subscription that was made for sequences, if they are all gone; returns whether they are.
    mutating func leave(_ characteristic: Characteristic) -> Bool {
        let isRead = values.contains { $0.of == characteristic && !$0.readers.isEmpty }
        guard !isRead, owned.remove(characteristic) != nil else { return false }
        leaving.insert(characteristic)
        return true
    }

    /// Notes that a subscription is off, and ends its sequences.
    ///
    /// Those that were made after the subscription was given up are for the next one.
    mutating func unsubscribed(_ characteristic: Characteristic) {
        if leaving.remove(characteristic) == nil { finishValues { $0 == characteristic } }
    }

    /// Notes that giving up a subscription is over, whether or not it was answered.
    mutating func left(_ characteristic: Characteristic) { leaving.remove(characteristic) }

    /// Adds a reader of what the scan discovers; `onCancel` is called when its sequence was dropped.
    mutating func readDiscoveries(onCancel: @escaping @Sendable () -> Void) -> AsyncStream<Discovery> {
        discoveries.add(onCancel: onCancel)
    }

    /// Adds a reader of the values of a characteristic; `onCancel` is called when its sequence was dropped.
    ///
    /// `subscribes` means that the subscription is made for it.
    mutating func readValues(
        of characteristic: Characteristic, subscribes: Bool, onCancel: @escaping @Sendable () -> Void
    ) -> AsyncStream<[UInt8]> {
        if subscribes || leaving.contains(characteristic) { owned.insert(characteristic) }
        let index = values.firstIndex { $0.of == characteristic } ?? values.count
        if index == values.count { values.append((characteristic, EventReaders(missed: nil))) }
        return values[index].readers.add(onCancel: onCancel)
    }

    /// Notes that the manager's owner subscribes or unsubscribes without a sequence.
    mutating func disown(_ characteristic: Characteristic) {
        owned.remove(characteristic)
    }

    /// Gives an event of the manager to its readers.
    mutating func handle(_ event: CentralManagerEvent) {
        switch event {
        case .discovered(let discovery): discoveries.yield(discovery)
        case .valueUpdated(let update):
            let source = Characteristic(peripheral: update.peripheral.identifier, handle: update.handle)
            values.first { $0.of == source }?.readers.yield(update.value)
        case .stateChanged(let state) where state != .poweredOn: finishValues { _ in true }
        case .disconnected(let peripheral, _): finishValues { $0.peripheral == peripheral.identifier }
        case .servicesChanged(let peripheral, let range, _):
            finishValues { $0.peripheral == peripheral.identifier && range.contains($0.handle) }
        default: break
        }
    }

    /// Ends the sequences of the scan, which is over or is replaced.
    mutating func finishDiscoveries() {
        scan += 1
        discoveries.finish()
    }

    /// Ends the sequences of the values of some characteristics.
    mutating func finishValues(where isEnded: (Characteristic) -> Bool) {
        for index in values.indices.reversed() where isEnded(values[index].of) {
            values[index].readers.finish()
            owned.remove(values.remove(at: index).of)
        }
    }

    /// Ends all sequences.
    mutating func finish() {
        finishDiscoveries()
        finishValues { _ in true }
    }
}
