import MynahSupport

/// The contents of advertising data (Core Specification Supplement, Part A, 1).
///
/// Fields that cannot be decoded are left out, because a device can send any bytes.
public struct AdvertisementData: Hashable, Sendable {
    /// The complete local name, or else the shortened one, or `nil` if there is none.
    public var localName: String?
    /// `true` if `localName` is the complete name.
    public var isNameComplete = false
    /// The bits of the Flags.
    public var flags: UInt8?
    /// The service UUIDs, in order and without duplicates.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// The solicited service UUIDs.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// Manufacturer-specific data, in order.
    public var manufacturerData: [Advertisement.ManufacturerData] = []
    /// Service data, in order.
    public var serviceData: [Advertisement.ServiceData] = []
    /// The TX power level, in dBm.
    public var txPower: Int8?
    /// The appearance.
    public var appearance: UInt16?
    /// An iPhone's overflow area, which is part of the manufacturer-specific data, or `nil` if there is
    /// none.
    package var overflowArea: OverflowArea?
    /// All AD structures, in order.
    public var structures: [ADStructure] = []

    /// Empty advertising data.
    package init() {}

    /// Decodes advertising data; `add` adds the scan response to it.
    public init(_ bytes: [UInt8]) {
        add(bytes)
    }

    /// Adds the contents of a scan response.
    package mutating func add(_ bytes: [UInt8]) {
        for structure in [ADStructure].decode(bytes).structures { add(structure) }
    }

    private mutating func add(_ structure: ADStructure) {
        structures.append(structure)
        var reader = ByteReader(structure.data)
        switch structure.type {
        case .flags:
            if flags == nil { flags = reader.readUInt8() }
        case .completeLocalName:
            localName = String(decoding: structure.data, as: UTF8.self)
            isNameComplete = true
        case .shortenedLocalName:
            if !isNameComplete { localName = String(decoding: structure.data, as: UTF8.self) }
        case .txPowerLevel:
            txPower = reader.readUInt8().map { Int8(bitPattern: $0) }
        case .appearance:
            appearance = reader.readUInt16()
        case .manufacturerSpecificData:
            guard let company = reader.readUInt16() else { return }
            manufacturerData.append(.init(company: company, data: reader.readRest()))
            if let area = OverflowArea(structure) { overflowArea = area }
        default: addByWidth(structure, &reader)
        }
    }

    private mutating func addByWidth(_ structure: ADStructure, _ reader: inout ByteReader) {
        for width in BluetoothUUID.Width.allCases {
            switch structure.type {
            case .serviceUUIDs(width, isComplete: true), .serviceUUIDs(width, isComplete: false):
                Self.add(&reader, width, to: &serviceUUIDs)
            case .solicitedServiceUUIDs(width):
                Self.add(&reader, width, to: &solicitedServiceUUIDs)
            case .serviceData(width):
                guard let bytes = reader.readBytes(width.byteCount),
                    let uuid = BluetoothUUID(littleEndian: bytes)
                else { return }
                serviceData.append(.init(uuid: uuid, data: reader.readRest()))
            default: continue
            }
            return
        }
    }

    private static func add(
        _ reader: inout ByteReader, _ width: BluetoothUUID.Width, to list: inout [BluetoothUUID]
    ) {
        while let bytes = reader.readBytes(width.byteCount), let uuid = BluetoothUUID(littleEndian: bytes) {
            if !list.contains(uuid) { list.append(uuid) }
        }
    }

    /// Whether the device advertises a service, or may do so because the service's bit in the overflow area
    /// is set.
    public func mayHave(_ service: BluetoothUUID) -> Bool {
        serviceUUIDs.contains(service) || overflowArea?.contains(service) ?? false
    }
}
