package import MynahCore
import MynahSupport

/// The layouts of characteristics' values that the SIG defines (GATT Specification Supplement), and of a few
/// others.
///
/// The layouts of the Fitness Machine Control Point and Status are from Fitness Machine Service 1.0.1, and
/// those of HID from HID Service Specification 1.0.
///
/// Fields have the SIG's names in camelCase. Numbers have common units, such as km/h and bpm.
package enum KnownLayouts {
    /// Returns the layout of a characteristic, or `nil` if this table does not have it.
    package static func layout(of uuid: BluetoothUUID) -> ValueLayout? {
        guard let number = uuid.assignedNumber else { return vendors[uuid] }
        return made[number]
    }

    /// All known layouts, in the order of the characteristics' assigned numbers (Assigned Numbers, 3.8).
    package static var all: [(number: UInt16, layout: ValueLayout)] {
        (0x2A00...0x2BFF).compactMap { number in made[number].map { (number, $0) } }
    }

    /// The layouts by number, made at first use: together they would need 50 kB, and a device uses few of
    /// them.
    private static let made = MadeOnce<UInt16, ValueLayout> { number in
        let entries =
            general(number) ?? input(number) ?? health(number) ?? body(number) ?? fitness(number)
            ?? environment(number)
        return entries.map { ValueLayout($0) }
    }

    /// The layouts of characteristics that companies defined.
    private static let vendors: [BluetoothUUID: ValueLayout] = [
        "8EC90001-F315-4F60-9FB8-838830DAEA50": ValueLayout(nordicUpdate), midiPackets: midi,
    ]

    // Shorthands for the tables.
    typealias Entries = [LayoutField]
    typealias Kind = LayoutField.Kind
    static let uint8 = Kind.integer(octets: 1, isSigned: false)
    static let uint16 = Kind.integer(octets: 2, isSigned: false)
    static let uint24 = Kind.integer(octets: 3, isSigned: false)
    static let uint32 = Kind.integer(octets: 4, isSigned: false)
    static let sint8 = Kind.integer(octets: 1, isSigned: true)
    static let sint16 = Kind.integer(octets: 2, isSigned: true)
    static let sint24 = Kind.integer(octets: 3, isSigned: true)
    static let tenths = Resolution(1, 10)
    static let hundredths = Resolution(1, 100)
    static let thousandths = Resolution(1, 1000)

    static func field(
        _ name: String, _ kind: Kind, _ unit: String? = nil, wide: Kind? = nil,
        by resolution: Resolution = .one,
        or other: LayoutField.Unit? = nil, count: LayoutField.Count = .one,
        when condition: LayoutField.Condition? = nil
    ) -> LayoutField {
        LayoutField(name, kind, wide: wide, unit, by: resolution, or: other, count: count, when: condition)
    }

    static func bits(_ octets: Int, _ bits: LayoutBit...) -> LayoutField {
        LayoutField("flags", .bits(octets: octets, bits))
    }

    static func bits(_ name: String, _ octets: Int, _ bits: LayoutBit...) -> LayoutField {
        LayoutField(name, .bits(octets: octets, bits))
    }

    /// Makes a field of one octet, in which the numbers 0, 1 and so on have these names.
    static func choice(_ name: String, _ names: String..., when condition: LayoutField.Condition? = nil)
        -> LayoutField
    {
        LayoutField(name, .enumeration(octets: 1, names: names), when: condition)
    }

    static func text(_ name: String) -> Entries { [field(name, .utf8, count: .rest)] }

    static func announces(_ names: String...) -> LayoutBit { .announces(names, isInverted: false) }

    static func booleans(_ octets: Int, _ names: String...) -> Entries {
        [LayoutField("flags", .bits(octets: octets, names.map { .boolean($0) }))]
    }

    // MARK: - Device, power and time

    private static func general(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A00: text("deviceName")
        case 0x2A01: [field("appearance", uint16)]
        case 0x2A04:
            [
                field("minimumConnectionInterval", uint16, "ms", by: Resolution(5, 4)),
                field("maximumConnectionInterval", uint16, "ms", by: Resolution(5, 4)),
                field("peripheralLatency", uint16),
                field("connectionSupervisionTimeout", uint16, "ms", by: Resolution(10)),
            ]
        case 0x2A06: [choice("alertLevel", "no alert", "mild alert", "high alert")]
        case 0x2A07: [field("txPowerLevel", sint8, "dBm")]
        case 0x2A08: [field("dateTime", .dateTime)]
        case 0x2A0F:
            [
                field("timeZone", sint8, "min", by: Resolution(15)),
                field("dstOffset", uint8, "min", by: Resolution(15)),
            ]
        case 0x2A14:
            [
                choice(
                    "source", "unknown", "network time protocol", "GPS", "radio time signal", "manual",
                    "atomic clock", "cellular network"),
                field("accuracy", uint8, "s", by: Resolution(1, 8)), field("daysSinceUpdate", uint8),
                field("hoursSinceUpdate", uint8),
            ]
        case 0x2A19: [field("level", uint8, "%")]
        case 0x2A23: [field("eui64", .integer(octets: 8, isSigned: false))]
        case 0x2A24: text("modelNumber")
        case 0x2A25: text("serialNumber")
        case 0x2A26: text("firmwareRevision")
        case 0x2A27: text("hardwareRevision")
        case 0x2A28: text("softwareRevision")
        case 0x2A29: text("manufacturerName")
        case 0x2A2B:
            [
                field("time", .dateTime),
                choice(
                    "dayOfWeek", "unknown", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
                    "Saturday", "Sunday"),
                field("fractions256", uint8), field("adjustReason", uint8),
            ]
        case 0x2A50:
            [
                choice("vendorIDSource", "", "Bluetooth SIG", "USB Implementers Forum"),
                field("vendorID", uint16),
                field("productID", uint16), field("productVersion", uint16),
            ]
        default: nil
        }
    }

    // MARK: - The environment

    private static func environment(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A6C: [field("elevation", sint24, "m", by: hundredths)]
        case 0x2A6D: [field("pressure", uint32, "Pa", by: tenths)]
        case 0x2A6E: [field("temperature", sint16, "°C", by: hundredths)]
        case 0x2A6F: [field("humidity", uint16, "%", by: hundredths)]
        case 0x2A70: [field("trueWindSpeed", uint16, "m/s", by: hundredths)]
        case 0x2A71: [field("trueWindDirection", uint16, "°", by: hundredths)]
        case 0x2A72: [field("apparentWindSpeed", uint16, "m/s", by: hundredths)]
        case 0x2A73: [field("apparentWindDirection", uint16, "°", by: hundredths)]
        case 0x2A74: [field("gustFactor", uint8, by: tenths)]
        case 0x2A75: [field("pollenConcentration", uint24, "/m³")]
        case 0x2A76: [field("uvIndex", uint8)]
        case 0x2A77: [field("irradiance", uint16, "W/m²", by: tenths)]
        case 0x2A78: [field("rainfall", uint16, "m", by: thousandths)]
        case 0x2A79: [field("windChill", sint8, "°C")]
        case 0x2A7A: [field("heatIndex", sint8, "°C")]
        case 0x2A7B: [field("dewPoint", sint8, "°C")]
        case 0x2AA3:
            [
                choice(
                    "barometricPressureTrend", "unknown", "continuously falling", "continuously rising",
                    "falling, then steady", "rising, then steady", "falling before a lesser rise",
                    "falling before a greater rise", "rising before a greater fall",
                    "rising before a lesser fall",
                    "steady")
            ]
        case 0x2AFB: [field("illuminance", uint24, "lx", by: hundredths)]
        case 0x2B8C: [field("co2Concentration", uint16, "ppm")]
        default: nil
        }
    }
}
