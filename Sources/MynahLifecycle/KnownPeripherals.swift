package import MynahCore
import MynahSupport

/// The devices that a phone knows, each by an identifier that apps may save.
///
/// The phone drives this state machine: it requests the identifier of each device that it reports to an app,
/// looks up devices that an app retrieves, and passes in identity addresses that become known. It saves
/// `entries`.
///
/// An identifier is computed from the seed and the address, so that runs with the same seed have the same
/// identifiers in any order of discovery. Core Bluetooth documents that an app may save an identifier, and
/// that a device whose address changed no longer matches it. Assumptions: iOS forgets devices that were not
/// used for a long time; a device keeps its identifier when it pairs and its identity address becomes known.
/// If that address has an identifier already, both identifiers then refer to the device.
package struct KnownPeripherals: Sendable {
    /// A known device.
    package struct Entry: Hashable, Sendable {
        /// The identifier for apps.
        package var identifier: PeripheralIdentifier
        /// The identity address of the peripheral, or its only known address.
        package var address: DeviceAddress
        /// The advertised name, or `nil` if it is not known.
        package var name: String?
        /// The GAP device name, which apps get as the name, or `nil` if it is not known.
        package var deviceName: String?

        /// Makes a device with its identifier.
        package init(
            identifier: PeripheralIdentifier, address: DeviceAddress, name: String? = nil,
            deviceName: String? = nil
        ) {
            self.identifier = identifier
            self.address = address
            self.name = name
            self.deviceName = deviceName
        }
    }

    private struct Device: Sendable {
        var entry: Entry
        var lastUse: UInt64
    }

    /// The largest number of identifiers; above it, the least recently used ones are forgotten.
    package static let limit = 1000

    private let seed: UInt64
    private var devices: [PeripheralIdentifier: Device] = [:]
    private var identifiers: [DeviceAddress: PeripheralIdentifier] = [:]
    private var useCount: UInt64 = 0
    /// The uses of devices in order, from the index `firstUse` on; only the last use of each device counts.
    private var uses: [(identifier: PeripheralIdentifier, number: UInt64)] = []
    private var firstUse = 0
    /// A number that increases with each change that must be saved; a change of the order of use does not
    /// count.
    package private(set) var revision = 0

    /// Makes a list of these devices, the least recently used first.
    ///
    /// If two entries have the same identifier, or there are too many entries, the later ones are kept.
    package init(seed: UInt64, entries: [Entry] = []) {
        self.seed = seed
        load(entries)
    }

    /// Adds devices to the known ones, the least recently used first.
    ///
    /// If two entries have the same identifier, or there are too many entries, the later ones are kept.
    package mutating func load(_ entries: [Entry]) {
        for entry in entries.suffix(Self.limit) {
            if let old = devices[entry.identifier], identifiers[old.entry.address] == entry.identifier {
                identifiers[old.entry.address] = nil
            }
            devices[entry.identifier] = Device(entry: entry, lastUse: 0)
            note(entry.identifier)
            identifiers[entry.address] = entry.identifier
        }
    }

    /// The known devices, the least recently used first.
    package var entries: [Entry] { devices.values.sorted { $0.lastUse < $1.lastUse }.map(\.entry) }

    /// The number of identifiers.
    package var count: Int { devices.count }

    /// Returns the identifier of a device, and adds the device if it is not known.
    ///
    /// If the list is full, the least recently used device for which `isInUse` returns `false` is forgotten.
    package mutating func identifier(
        of address: DeviceAddress, isInUse: (DeviceAddress) -> Bool = { _ in false }
    ) -> PeripheralIdentifier {
        if let known = identifiers[address] {
            use(known)
            return known
        }
        if devices.count >= Self.limit { forgetOne(isInUse) }
        let new = makeIdentifier(for: address)
        identifiers[address] = new
        devices[new] = Device(entry: Entry(identifier: new, address: address), lastUse: 0)
        revision += 1
        use(new)
        return new
    }

    /// Returns the device with an identifier, or `nil` if it is not known or was forgotten.
    package mutating func retrieve(_ identifier: PeripheralIdentifier) -> Entry? {
        guard let entry = devices[identifier]?.entry else { return nil }
        use(identifier)
        return entry
    }

    /// Adds a preserved device, unless its identifier is known; returns the known or added device.
    ///
    /// If the list is full, the least recently used device for which `isInUse` returns `false` is forgotten.
    package mutating func restore(
        _ entry: Entry, isInUse: (DeviceAddress) -> Bool = { _ in false }
    ) -> Entry {
        if let known = retrieve(entry.identifier) { return known }
        if devices.count >= Self.limit { forgetOne(isInUse) }
        devices[entry.identifier] = Device(entry: entry, lastUse: 0)
        if identifiers[entry.address] == nil { identifiers[entry.address] = entry.identifier }
        revision += 1
        use(entry.identifier)
        return entry
    }

    /// Sets a device's advertised name.
    package mutating func name(_ address: DeviceAddress, _ name: String) {
        guard let identifier = identifiers[address], devices[identifier]?.entry.name != name else { return }
        devices[identifier]?.entry.name = name
        revision += 1
    }

    /// Sets a device's GAP device name, after it was read.
    package mutating func setDeviceName(_ name: String, of address: DeviceAddress) {
        guard let identifier = identifiers[address], devices[identifier]?.entry.deviceName != name else {
            return
        }
        devices[identifier]?.entry.deviceName = name
        revision += 1
    }

    /// The GAP device name of a device, or `nil` if it is not known.
    package func deviceName(of identifier: PeripheralIdentifier) -> String? {
        devices[identifier]?.entry.deviceName
    }

    /// Replaces a device's address with its identity address, which became known when the device paired.
    package mutating func moved(from old: DeviceAddress, to identity: DeviceAddress) {
        guard old != identity, let identifier = identifiers.removeValue(forKey: old) else { return }
        for (other, device) in devices where device.entry.address == old {
            devices[other]?.entry.address = identity
        }
        if identifiers[identity] == nil { identifiers[identity] = identifier }
        revision += 1
        use(identifier)
    }

    /// Marks the device with an identifier as the last used.
    ///
    /// An address may have several identifiers. The one that `identifier(of:)` returns is marked after the
    /// others, so that it is also returned after a restart.
    private mutating func use(_ identifier: PeripheralIdentifier) {
        note(identifier)
        guard let address = devices[identifier]?.entry.address, let main = identifiers[address],
            main != identifier
        else { return }
        note(main)
    }

    /// Marks a device as the last used.
    private mutating func note(_ identifier: PeripheralIdentifier) {
        useCount += 1
        devices[identifier]?.lastUse = useCount
        uses.append((identifier, useCount))
        guard uses.count - firstUse > 64 + 4 * devices.count || firstUse > 64 + uses.count / 2 else { return }
        uses = uses[firstUse...].filter { devices[$0.identifier]?.lastUse == $0.number }
        firstUse = 0
    }

    /// Forgets the least recently used device that is not in use.
    ///
    /// In a crowd, a phone receives an unknown device with almost every packet, so this does not search
    /// through all devices.
    private mutating func forgetOne(_ isInUse: (DeviceAddress) -> Bool) {
        var tries = devices.count
        while firstUse < uses.count, tries > 0 {
            let (identifier, number) = uses[firstUse]
            firstUse += 1
            guard let device = devices[identifier], device.lastUse == number else { continue }
            guard isInUse(device.entry.address) else { return forget(device.entry) }
            // Marked as used, so that the next search does not begin with this device.
            use(identifier)
            tries -= 1
        }
    }

    private mutating func forget(_ oldest: Entry) {
        devices[oldest.identifier] = nil
        guard identifiers[oldest.address] == oldest.identifier else { return }
        identifiers[oldest.address] = nil
        // Another identifier may refer to the same device; otherwise each has an address of its own.
        guard devices.count > identifiers.count else { return }
        identifiers[oldest.address] =
            devices.values.filter { $0.entry.address == oldest.address }
            .max { $0.lastUse < $1.lastUse }?.entry.identifier
    }

    /// Makes an identifier that no device has.
    ///
    /// Another device may already have the identifier computed for this address, and have kept it after its
    /// own address changed.
    private func makeIdentifier(for address: DeviceAddress) -> PeripheralIdentifier {
        var attempt: UInt64 = 0
        while true {
            let kind: UInt64 = address.kind == .random ? 1 << 48 : 0
            let key = Self.first(seed) ^ Self.first(address.value | kind | attempt << 49)
            let new = PeripheralIdentifier(high: Self.first(key), low: Self.first(~key))
            if devices[new] == nil { return new }
            attempt += 1
        }
    }

    /// The first random number of a seed, which is different for each seed.
    private static func first(_ seed: UInt64) -> UInt64 {
        var random = SeededRandom(seed: seed)
        return random.next()
    }
}
