/// Converts between the SIG's numbers and their names, such as 180D and `heart-rate`.
///
/// An identifier is the SIG's name in lower case with dashes. Other spellings are accepted too: the name
/// itself (`Heart Rate`), underscores, the suffixes `-service` and `-characteristic`, and the SIG's own
/// `org.bluetooth.service.heart_rate`.
public enum AssignedNumbers {
    private static let services = AssignedNumberTable(kind: "service", AssignedNumberTables.services)
    private static let characteristics = AssignedNumberTable(
        kind: "characteristic", AssignedNumberTables.earlyCharacteristics,
        AssignedNumberTables.laterCharacteristics)
    private static let descriptors = AssignedNumberTable(kind: "descriptor", AssignedNumberTables.descriptors)
    private static let companies = AssignedNumberTable(kind: "company", AssignedNumberTables.companies)
    private static let appearances = AssignedNumberTable(kind: "appearance", AssignedNumberTables.appearances)

    /// Returns the service with this name, or `nil` if there is none.
    public static func service(named name: String) -> BluetoothUUID? {
        services.number(named: name).map { BluetoothUUID($0) }
    }

    /// Returns the characteristic with this name, or `nil` if there is none.
    public static func characteristic(named name: String) -> BluetoothUUID? {
        characteristics.number(named: name).map { BluetoothUUID($0) }
    }

    /// Returns the descriptor with this name, or `nil` if there is none.
    public static func descriptor(named name: String) -> BluetoothUUID? {
        descriptors.number(named: name).map { BluetoothUUID($0) }
    }

    /// Returns the UUID of a vendor's service or characteristic with this identifier, or `nil` if there is
    /// none.
    package static func vendor(named name: String) -> BluetoothUUID? {
        AssignedNumberTables.vendors.withUTF8Buffer { table in
            table.split(separator: UInt8(ascii: "\n")).lazy
                .map { String(decoding: $0, as: UTF8.self) }
                .first { AssignedIdentifier.text(of: String($0.dropFirst(37))) == name.lowercased() }
                .flatMap { BluetoothUUID(String($0.prefix(36))) }
        }
    }

    /// Whether a UUID is that of an attribute declaration: 2800 to 2803 (Assigned Numbers, 3.6).
    package static func isDeclaration(_ uuid: BluetoothUUID) -> Bool {
        uuid.assignedNumber.map { (0x2800...0x2803).contains($0) } ?? false
    }

    /// Whether a UUID is that of one of the SIG's descriptors (Assigned Numbers, 3.7).
    package static func isDescriptor(_ uuid: BluetoothUUID) -> Bool {
        uuid.assignedNumber.flatMap { descriptors.name(of: $0) } != nil
    }

    /// Returns the Appearance value with this name, or `nil` if there is none.
    public static func appearance(named name: String) -> UInt16? {
        appearances.number(named: name)
    }

    /// Returns the identifier of a service, a characteristic or a descriptor, or `nil` if it has none.
    public static func name(of uuid: BluetoothUUID) -> String? {
        displayName(of: uuid).map { AssignedIdentifier.text(of: $0) }
    }

    /// Returns the name of a service, a characteristic or a descriptor, such as `Heart Rate Measurement`.
    ///
    /// The name is assigned by the SIG or a vendor. Returns `nil` if there is none.
    package static func displayName(of uuid: BluetoothUUID) -> String? {
        guard let number = uuid.assignedNumber else { return vendorName(of: uuid) }
        return switch number {
        case 0x1800..<0x2800: services.name(of: number)
        case 0x2900..<0x2A00: descriptors.name(of: number)
        default: characteristics.name(of: number)
        }
    }

    /// Returns the identifier of an appearance, or `nil` if it has none.
    public static func appearanceName(of number: UInt16) -> String? {
        appearances.name(of: number).map { AssignedIdentifier.text(of: $0) }
    }

    /// Returns the name of a company, such as `Apple, Inc.`, or `nil` if it is not in this table.
    package static func companyName(of number: UInt16) -> String? { companies.name(of: number) }

    /// The identifiers of all services, in the order of their numbers.
    package static var serviceNames: [String] { services.identifiers }
    /// The identifiers of all characteristics, in the order of their numbers.
    package static var characteristicNames: [String] { characteristics.identifiers }
    /// The identifiers of all descriptors, in the order of their numbers.
    package static var descriptorNames: [String] { descriptors.identifiers }
    /// The identifiers of all appearances, in the order of their numbers.
    package static var appearanceNames: [String] { appearances.identifiers }

    /// Returns a vendor's name from the table, whose lines begin with a UUID of 36 characters.
    private static func vendorName(of uuid: BluetoothUUID) -> String? {
        let wanted = uuid.in128Bits.description
        return AssignedNumberTables.vendors.withUTF8Buffer { table in
            table.split(separator: UInt8(ascii: "\n"))
                .first { $0.starts(with: wanted.utf8) }
                .map { String(decoding: $0.dropFirst(37), as: UTF8.self) }
        }
    }
}
