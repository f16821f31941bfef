package import MynahCore
import MynahSupport

/// The devices that a phone knows, each by an identifier that apps may save.
///
/// The phone drives it: it asks for the identifier of each device that it reports to an app, looks up those
/// that an app retrieves, and says which private address has turned out to be whose. It saves `entries`.
///
/// An identifier is made of the seed and the address, so that a run with the same seed gives the same ones in
/// any order of discovery. Core Bluetooth documents that an app may save an identifier, and that a device
/// whose address changed no longer matches it. Assumptions: iOS forgets devices that were not used for long;
/// a device keeps its identifier when it pairs and its identity address becomes known, unless that address
/// has one already, which both then lead to.
package struct KnownPeripherals: Sendable {
    /// A device that is known.
    package struct Entry: Hashable, Sendable {
        /// The identifier that apps see.
        package var identifier: PeripheralIdentifier
        /// The identity address, or the only address that is known of the peripheral.
        package var address: DeviceAddress
        /// The name that it advertises; `nil` if it is not known.
        package var name: String?
        /// The GAP device name, which apps see, or `nil` if it is not known.
        package var deviceName: String?

        /// A device with its identifier.
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

    /// How many identifiers are known at most; the least recently used ones are forgotten.
    package static let limit = 1000

    private let seed: UInt64
    private var devices: [PeripheralIdentifier: Device] = [:]
    private var identifiers: [DeviceAddress: PeripheralIdentifier] = [:]
    private var useCount: UInt64 = 0
    /// Uses in order, from `firstUse` on; only the last use of a device counts.
    private var uses: [(identifier: PeripheralIdentifier, number: UInt64)] = []
    private var firstUse = 0
    /// Changes with what is to be saved; which device was used last does not count.
    package private(set) var revision = 0

    /// A phone that knows these devices, the least recently used first.
    ///
    /// Of two entries with one identifier, and of the entries past the limit, the later ones are kept.
    package init(seed: UInt64, entries: [Entry] = []) {
        self.seed = seed
        load(entries)
    }

    /// Knows these devices, the least recently used first, besides those that it knows already.
    ///
    /// Of two entries with one identifier, and of the entries past the limit, the later ones are kept.
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

    /// The devices that are known, the least recently used first.
    package var entries: [Entry] { devices.values.sorted { $0.lastUse < $1.lastUse }.map(\.entry) }

    /// How many identifiers are known.
    package var count: Int { devices.count }

    /// The identifier of a device, which is known from now on if it was not.
    ///
    /// To make room, a device is not forgotten while `isInUse` says that it is connected or waited for.
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

    /// The device that an app retrieves by an identifier; `nil` if it is not known (any more).
    package mutating func retrieve(_ identifier: PeripheralIdentifier) -> Entry? {
        guard let entry = devices[identifier]?.entry else { return nil }
        use(identifier)
        return entry
    }

    /// A device that was preserved by its identifier is known, by the address that the identifier leads to by
    /// now.
    ///
    /// To make room, a device is not forgotten while `isInUse` says that it is connected or waited for.
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

    /// A device's name became known.
    package mutating func name(_ address: DeviceAddress, _ name: String) {
        guard let identifier = identifiers[address], devices[identifier]?.entry.name != name else { return }
        devices[identifier]?.entry.name = name
        revision += 1
    }

    /// A device's GAP device name was read.
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

    /// The device that was known by one address has paired, and its identity address is another.
    package mutating func moved(from old: DeviceAddress, to identity: DeviceAddress) {
        guard old != identity, let identifier = identifiers.removeValue(forKey: old) else { return }
        for (other, device) in devices where device.entry.address == old {
            devices[other]?.entry.address = identity
        }
        if identifiers[identity] == nil { identifiers[identity] = identifier }
        revision += 1
        use(identifier)
    }

    /// Marks a device as used, and last of all the identifier that its address leads to: so it stays that
    /// after a restart.
    private mutating func use(_ identifier: PeripheralIdentifier) {
        note(identifier)
        guard let address = devices[identifier]?.entry.address, let main = identifiers[address],
            main != identifier
        else { return }
        note(main)
    }

    /// Notes that a device is the last that was used.
    private mutating func note(_ identifier: PeripheralIdentifier) {
        useCount += 1
        devices[identifier]?.lastUse = useCount
        uses.append((identifier, useCount))
        guard uses.count - firstUse > 64 + 4 * devices.count || firstUse > 64 + uses.count / 2 else { return }
        uses = uses[firstUse...].filter { devices[$0.identifier]?.lastUse == $0.number }
        firstUse = 0
    }

    /// Forgets the device that was used longest ago of those that are free.
    ///
    /// A phone in a crowd hears a device that it does not know with almost every packet: no search through
    /// all devices is made for it.
    private mutating func forgetOne(_ isInUse: (DeviceAddress) -> Bool) {
        var tries = devices.count
        while firstUse < uses.count, tries > 0 {
            let (identifier, number) = uses[firstUse]
            firstUse += 1
            guard let device = devices[identifier], device.lastUse == number else { continue }
            guard isInUse(device.entry.address) else { return forget(device.entry) }
            // Used now, so that the next search does not begin with it.
            use(identifier)
            tries -= 1
        }
    }

    private mutating func forget(_ oldest: Entry) {
        devices[oldest.identifier] = nil
        guard identifiers[oldest.address] == oldest.identifier else { return }
        identifiers[oldest.address] = nil
        // Another identifier may lead to the same device; else each has an address of its own.
        guard devices.count > identifiers.count else { return }
        identifiers[oldest.address] =
            devices.values.filter { $0.entry.address == oldest.address }
            .max { $0.lastUse < $1.lastUse }?.entry.identifier
    }

    /// An identifier that no device has: another device may have taken one along when it moved.
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

    /// The first number of a seed, which is another one for each seed.
    private static func first(_ seed: UInt64) -> UInt64 {
        var random = SeededRandom(seed: seed)
        return random.next()
    }
}
