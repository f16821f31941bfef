import MynahCore
import MynahLifecycle

/// The attribute tables of bonded devices, which a phone keeps from one link to the next.
///
/// An iPhone asks a bonded device for its services, characteristics and descriptors once, and again only
/// after the device has indicated Service Changed: an accessory whose firmware was updated without it gets
/// requests for its old handles. A phone whose Bluetooth was off asks anew, so a table is in memory only.
///
/// It belongs to its phone, and runs on its executor.
final class KeptTables {
    /// The attributes that were discovered of one device, by what was asked for.
    struct Table: Sendable {
        /// A discovery of services.
        enum Services: Hashable, Sendable {
            /// All primary services, or those of one type.
            case primary(BluetoothUUID?)
            case secondary
            case included(in: RemoteService)
        }

        /// Differs from that of an earlier table of the device: an answer that was asked for before is not
        /// noted in a newer one.
        fileprivate let number: Int
        private var services: [Services: [RemoteService]] = [:]
        /// The types of the primary services.
        private(set) var types: Set<BluetoothUUID> = []
        private(set) var characteristics: [RemoteService: [RemoteCharacteristic]] = [:]
        private(set) var descriptors: [RemoteCharacteristic: [RemoteDescriptor]] = [:]

        fileprivate init(number: Int) {
            self.number = number
        }

        /// The answer to a discovery of services; `nil` if the table does not have it.
        func found(_ asked: Services) -> [RemoteService]? {
            if let same = services[asked] { return same }
            guard case .primary(let type?) = asked else { return nil }
            return services[.primary(nil)]?.filter { $0.uuid == type }
        }

        mutating func note(_ answer: [RemoteService], to asked: Services) {
            services[asked] = answer
            types.formUnion(answer.filter(\.isPrimary).map(\.uuid))
        }

        mutating func note(_ answer: [RemoteCharacteristic], of service: RemoteService) {
            characteristics[service] = answer
        }

        mutating func note(_ answer: [RemoteDescriptor], of characteristic: RemoteCharacteristic) {
            descriptors[characteristic] = answer
        }
    }

    private var tables: [DeviceAddress: Table] = [:]
    private var lastNumber = 0

    /// The table of the device of a link; `nil` if the device has no bond with the phone.
    func table(of link: Peer.ID, on phone: isolated Phone) -> Table? {
        phone.central.connections.links[link]?.peer.isPaired == true ? current(link, on: phone) : nil
    }

    /// The number of the table of a link's device, which may pair later on the link.
    func number(of link: Peer.ID, on phone: isolated Phone) -> Int? { current(link, on: phone)?.number }

    private func current(_ link: Peer.ID, on phone: isolated Phone) -> Table? {
        phone.central.connections.ledger.address(of: link).flatMap { tables[$0] }
    }

    /// Notes an answer of a link's device in the table with this number, unless that was forgotten.
    func note(in number: Int, of link: Peer.ID, on phone: isolated Phone, _ body: (inout Table) -> Void) {
        guard let address = phone.central.connections.ledger.address(of: link),
            tables[address]?.number == number
        else { return }
        body(&tables[address, default: Table(number: number)])
    }

    /// A link began: what is known of a device without a bond is from another link.
    ///
    /// Returns the services that the device is known to have.
    func began(_ peer: Peer, to address: DeviceAddress) -> Set<BluetoothUUID> {
        if peer.isPaired, let kept = tables[address] { return kept.types }
        tables[address] = next()
        return []
    }

    /// A link ended: the table of a device without a bond is not kept.
    func ended(_ link: CentralLinks.Entry?, to address: DeviceAddress) {
        if link?.peer.isPaired != true { tables[address] = nil }
    }

    /// A device's services changed, or the bond with it was deleted.
    func forget(_ address: DeviceAddress) {
        if tables[address] != nil { tables[address] = next() }
    }

    /// Bluetooth was turned off or on.
    func forgetAll() { tables = [:] }

    /// A device has turned out to have another address.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        if let table = tables.removeValue(forKey: old) { tables[new] = table }
    }

    private func next() -> Table {
        lastNumber += 1
        return Table(number: lastNumber)
    }
}
