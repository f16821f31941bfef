import MynahCore
import MynahLifecycle

/// The readers of a central manager's sequences of discoveries and of characteristic values.
///
/// A sequence ends with the scan or the subscription that it is for.
struct PurposeReaders {
    /// A characteristic of one of the manager's peripherals.
    struct Characteristic: Hashable {
        let peripheral: PeripheralIdentifier
        let handle: AttributeHandle
    }

    private var discoveries = EventReaders<Discovery>(missed: nil)
    /// The number of the current scan, which is different for each scan.
    private(set) var scan: UInt64 = 0
    private var values: [(of: Characteristic, readers: EventReaders<[UInt8]>)] = []
    /// The characteristics whose subscription was made for sequences, and ends with the last of them.
    private var owned: Set<Characteristic> = []
    /// The characteristics whose subscription is being ended, because the last sequence was dropped.
    private var leaving: Set<Characteristic> = []

    /// Whether the scan with this number is the current one, and all of its sequences were dropped.
    func readsNothing(of scan: UInt64) -> Bool { scan == self.scan && discoveries.isEmpty }

    /// Marks a subscription as ending, if it was made for sequences and all of them were dropped; returns
    /// whether it did so.
    mutating func leave(_ characteristic: Characteristic) -> Bool {
        let isRead = values.contains { $0.of == characteristic && !$0.readers.isEmpty }
        guard !isRead, owned.remove(characteristic) != nil else { return false }
        leaving.insert(characteristic)
        return true
    }

    /// Ends the sequences of a subscription that has ended.
    ///
    /// Sequences that were made after the unsubscription was requested stay open for the next subscription.
    mutating func unsubscribed(_ characteristic: Characteristic) {
        if leaving.remove(characteristic) == nil { finishValues { $0 == characteristic } }
    }

    /// Removes the mark that `leave` set, after the unsubscription was answered or has failed.
    mutating func left(_ characteristic: Characteristic) { leaving.remove(characteristic) }

    /// Adds a reader of the scan's discoveries; `onCancel` is called when its sequence is dropped.
    mutating func readDiscoveries(onCancel: @escaping @Sendable () -> Void) -> AsyncStream<Discovery> {
        discoveries.add(onCancel: onCancel)
    }

    /// Adds a reader of the values of a characteristic; `onCancel` is called when its sequence is dropped.
    ///
    /// If `subscribes` is `true`, the subscription was made for such a sequence, and ends with the last one.
    mutating func readValues(
        of characteristic: Characteristic, subscribes: Bool, onCancel: @escaping @Sendable () -> Void
    ) -> AsyncStream<[UInt8]> {
        if subscribes || leaving.contains(characteristic) { owned.insert(characteristic) }
        let index = values.firstIndex { $0.of == characteristic } ?? values.count
        if index == values.count { values.append((characteristic, EventReaders(missed: nil))) }
        return values[index].readers.add(onCancel: onCancel)
    }

    /// Keeps a subscription after its last sequence ends, because the manager's owner itself subscribes or
    /// unsubscribes.
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

    /// Ends the sequences of the scan, which has ended or is replaced.
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
