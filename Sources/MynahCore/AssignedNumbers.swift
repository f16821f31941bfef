/// The SIG's names for the numbers that profiles and logs use, as `heart-rate` for the service 180D.
public enum AssignedNumbers {
    /// The service of this name, with or without `-service` behind it.
    public static func service(named name: String) -> BluetoothUUID? {
        let short = name.hasSuffix("-service") ? String(name.dropLast(8)) : name
        return number(named: short, in: AssignedNumberTables.services).map { BluetoothUUID($0) }
    }

    /// The characteristic of this name.
    public static func characteristic(named name: String) -> BluetoothUUID? {
        number(named: name, in: AssignedNumberTables.characteristics).map { BluetoothUUID($0) }
    }

    /// The descriptor of this name.
    public static func descriptor(named name: String) -> BluetoothUUID? {
        number(named: name, in: AssignedNumberTables.descriptors).map { BluetoothUUID($0) }
    }

    /// The appearance of this name.
    public static func appearance(named name: String) -> UInt16? {
        number(named: name, in: AssignedNumberTables.appearances)
    }

    /// What the SIG calls a service, a characteristic or a descriptor; nil where it has no name for it.
    public static func name(of uuid: BluetoothUUID) -> String? {
        guard let number = uuid.assignedNumber else { return vendorName(of: uuid) }
        return switch number {
        case 0x1800..<0x1900: name(of: number, in: AssignedNumberTables.services)
        case 0x2900..<0x2A00: name(of: number, in: AssignedNumberTables.descriptors)
        default: name(of: number, in: AssignedNumberTables.characteristics)
        }
    }

    /// Every service's name.
    public static var serviceNames: [String] { AssignedNumberTables.services.map { $0.name.description } }
    /// Every characteristic's name.
    public static var characteristicNames: [String] {
        AssignedNumberTables.characteristics.map { $0.name.description }
    }
    /// Every descriptor's name.
    public static var descriptorNames: [String] {
        AssignedNumberTables.descriptors.map { $0.name.description }
    }
    /// Every appearance's name.
    public static var appearanceNames: [String] {
        AssignedNumberTables.appearances.map { $0.name.description }
    }

    /// Nordic's serial port, which the SIG has no number for and every tool shows by name.
    private static func vendorName(of uuid: BluetoothUUID) -> String? {
        switch uuid {
        case "6E400001-B5A3-F393-E0A9-E50E24DCCA9E": "nordic-uart"
        case "6E400002-B5A3-F393-E0A9-E50E24DCCA9E": "nordic-uart-rx"
        case "6E400003-B5A3-F393-E0A9-E50E24DCCA9E": "nordic-uart-tx"
        default: nil
        }
    }

    private static func number(
        named name: String, in table: [(number: UInt16, name: StaticString)]
    ) -> UInt16? {
        table.first { $0.name.withUTF8Buffer { $0.elementsEqual(name.utf8) } }?.number
    }

    private static func name(
        of number: UInt16, in table: [(number: UInt16, name: StaticString)]
    ) -> String? {
        table.first { $0.number == number }?.name.description
    }
}
