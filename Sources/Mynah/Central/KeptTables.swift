import MynahCore
import MynahLifecycle

/// The attribute tables of bonded devices, which a phone keeps from one link to the next.
///
/// An iPhone discovers the services, characteristics and descriptors of a bonded device once, and again only
/// after the device has indicated Service Changed. An accessory whose firmware was updated without that
/// indication gets requests for its old handles. The phone also discovers again after Bluetooth was turned
/// off. With a state directory the tables are kept over runs, as the bonds are.
///
/// Belongs to a phone, and runs on the phone's executor.
final class KeptTables {
    /// The largest number of tables in the file; the tables of the devices that were connected last are kept.
    static let limit = 64

    /// The attributes that were discovered on one device, by the request that discovered them.
    struct Table: Hashable {
        /// The largest number of attributes of a table in the file; a larger table is in memory only.
        static let limit = 500

        /// A request to discover services.
        enum Services: Hashable {
            /// All primary services, or those of one type.
            case primary(BluetoothUUID?)
            case secondary
            case included(in: RemoteService)
        }

        /// A number that is higher for each new table of the device.
        ///
        /// Each request keeps the number of its table, so that a late answer is not noted in a newer table.
        fileprivate let number: Int
        /// The order in which devices were last connected; a higher value is later.
        fileprivate(set) var lastUse: Int
        /// The number of attributes in the table.
        private var count = 0
        private(set) var services: [Services: [RemoteService]] = [:]
        /// The types of the primary services.
        private(set) var types: Set<BluetoothUUID> = []
        private(set) var characteristics: [RemoteService: [RemoteCharacteristic]] = [:]
        private(set) var descriptors: [RemoteCharacteristic: [RemoteDescriptor]] = [:]

        init(number: Int) {
            (self.number, lastUse) = (number, number)
        }

        /// `true` if the table is written to the file: it is neither empty nor larger than `limit`.
        var isKept: Bool { (1...Self.limit).contains(count) }

        /// The recorded answer to a discovery of services, or `nil` if the table does not have it.
        func found(_ asked: Services) -> [RemoteService]? {
            if let same = services[asked] { return same }
            guard case .primary(let type?) = asked else { return nil }
            return services[.primary(nil)]?.filter { $0.uuid == type }
        }

        /// Whether the table contains a service with all of its discovered attributes.
        func has(_ service: DiscoveredService) -> Bool {
            let known = characteristics[service.attribute] ?? []
            let included = services[.included(in: service.attribute)]
            return services.values.contains { $0.contains(service.attribute) }
                && (service.includedServices.isEmpty || service.includedServices == included)
                && service.characteristics.allSatisfy { one in
                    known.contains(one.attribute)
                        && (one.descriptors == nil || one.descriptors == descriptors[one.attribute])
                }
        }

        mutating func note(_ answer: [RemoteService], to asked: Services) {
            count += answer.count - (services[asked]?.count ?? 0)
            services[asked] = answer
            types.formUnion(answer.filter(\.isPrimary).map(\.uuid))
        }

        mutating func note(_ answer: [RemoteCharacteristic], of service: RemoteService) {
            count += answer.count - (characteristics[service]?.count ?? 0)
            characteristics[service] = answer
        }

        mutating func note(_ answer: [RemoteDescriptor], of characteristic: RemoteCharacteristic) {
            count += answer.count - (descriptors[characteristic]?.count ?? 0)
            descriptors[characteristic] = answer
        }
    }

    private var tables: [DeviceAddress: Table] = [:]
    /// The devices that were bonded when this was last checked: at a discovery, or when a link began or
    /// ended.
    private var bonded: Set<DeviceAddress> = []
    private var lastNumber = 0
    private var isLoaded = false
    /// The content of the file when it was last read or written.
    private var saved = TableFile()
    private let files: PhoneFiles
    private let phone: PhoneMemory
    private let memory: CentralMemory

    init(in files: PhoneFiles, _ phone: PhoneMemory, _ memory: CentralMemory) {
        self.files = files
        self.phone = phone
        self.memory = memory
    }

    // MARK: The file

    /// Reads the tables that an earlier run saved, unless they were read before.
    func load() {
        guard !isLoaded, !phone.apps.isEmpty else { return }
        isLoaded = true
        saved = files.load(insteadOf: TableFile(), warning: "attributeTablesUnusable") {
            json throws(PreservedStateProblem) in try TableFile(json: json) { self.next() }
        }
        for device in saved.devices {
            tables[device.address] = device.table
            bonded.insert(device.address)
        }
    }

    /// Saves the tables of bonded devices, if they have changed.
    func save() {
        guard isLoaded else { return }
        let kept = tables.sorted { $0.value.lastUse < $1.value.lastUse }.filter { address, table in
            // A device may have paired since it was last asked for attributes.
            let link = memory.ledger.link(to: address)
            return table.isKept
                && (bonded.contains(address) || link.map { memory.isBonded($0) } == true)
        }
        let file = TableFile(
            devices: kept.suffix(Self.limit).map { .init(address: $0.key, table: $0.value) })
        guard file != saved else { return }
        saved = file
        files.save(file)
    }

    // MARK: Links

    /// The table of a link's device, or `nil` if the device has no bond with the phone.
    func table(of link: Peer.ID) -> Table? {
        memory.isBonded(link) == true ? current(link) : nil
    }

    /// The number of the table of a link's device, which may not be bonded yet.
    func number(of link: Peer.ID) -> Int? { current(link)?.number }

    private func current(_ link: Peer.ID) -> Table? {
        memory.ledger.address(of: link).flatMap { tables[$0] }
    }

    /// Records an answer of a link's device in the table with this number, unless that table was dropped.
    func note(in number: Int, of link: Peer.ID, _ body: (inout Table) -> Void) {
        guard let address = memory.ledger.address(of: link), tables[address]?.number == number else {
            return
        }
        body(&tables[address, default: Table(number: number)])
        guard memory.isBonded(link) == true else { return }
        bonded.insert(address)
        save()
    }

    /// Handles a new link, and returns the services in the device's kept table.
    ///
    /// The table of a device without a bond is from an earlier link, and is dropped.
    func began(_ peer: Peer, to address: DeviceAddress) -> Set<BluetoothUUID> {
        let new = next()
        if peer.isPaired, let kept = tables[address] {
            bonded.insert(address)
            tables[address]?.lastUse = new.number
            return kept.types
        }
        bonded.remove(address)
        tables[address] = new
        return []
    }

    /// Handles the end of a link; the table of a device without a bond is dropped.
    func ended(_ link: CentralLinks.Entry?, to address: DeviceAddress) {
        if link?.peer.isPaired == true {
            bonded.insert(address)
        } else {
            tables[address] = nil
        }
        save()
    }

    /// Drops the table of a device whose services changed, or whose bond was deleted.
    func forget(_ address: DeviceAddress) {
        load()
        guard tables[address] != nil else { return }
        tables[address] = next()
        bonded.remove(address)
        save()
    }

    /// Drops all tables, because Bluetooth was turned off.
    func forgetAll() {
        load()
        guard !tables.isEmpty else { return }
        (tables, bonded) = ([:], [])
        save()
    }

    /// Replaces a device's address after the radio reported another one for the same device.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        if let table = tables.removeValue(forKey: old) { tables[new] = table }
        if bonded.remove(old) != nil { bonded.insert(new) }
    }

    private func next() -> Table {
        lastNumber += 1
        return Table(number: lastNumber)
    }
}
