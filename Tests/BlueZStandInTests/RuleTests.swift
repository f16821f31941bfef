import MynahDBus
import Testing

@testable import MynahBlueZStandIn

@Suite struct RuleTests {
    private func object(_ path: String, _ interface: String, _ properties: KeyValuePairs<String, DBusValue>)
        throws
        -> DBusValue.Entry
    {
        .init(
            .objectPath(try ObjectPath(path)),
            .dictionary(
                key: "s", value: "a{sv}", [.init(.string("org.bluez.Gatt" + interface), .options(properties))]
            ))
    }

    private func read(
        _ entries: [DBusValue.Entry], version: BlueZVersion = .bookworm, taken: [ClosedRange<UInt16>] = []
    ) -> Result<[StandInService], GATTDatabaseReader.Failure> {
        var reader = GATTDatabaseReader(version: version, nextHandle: 0x12, taken: taken)
        do throws(GATTDatabaseReader.Failure) {
            return .success(try reader.read(.dictionary(key: "o", value: "a{sa{sv}}", entries)))
        } catch {
            return .failure(error)
        }
    }

    private func failure(
        _ service: KeyValuePairs<String, DBusValue>,
        _ characteristic: KeyValuePairs<String, DBusValue>? = nil,
        version: BlueZVersion = .bookworm
    ) throws -> String? {
        var entries = [try object("/s", "Service1", service)]
        if let characteristic { entries.append(try object("/c", "Characteristic1", characteristic)) }
        if case .failure(let failure) = read(entries, version: version) { return failure.message }
        return nil
    }

    @Test func `a registration fails with bluetoothd's words`() throws {
        let service: KeyValuePairs<String, DBusValue> = ["UUID": "180d", "Primary": true]
        let link = DBusValue.objectPath("/s")
        let flags = DBusValue.strings(["read"])
        let entry = "Failed to create entry in database"
        let none = "No valid service object found"
        #expect(try failure(service) == nil)
        #expect(try failure(["UUID": "180d"]) == entry)
        #expect(try failure(["UUID": "180g", "Primary": true]) == entry)
        #expect(try failure(["UUID": "1800", "Primary": true]) == entry)
        #expect(try failure(["UUID": "00001801-0000-1000-8000-00805F9B34FB", "Primary": true]) == entry)
        #expect(try failure(["UUID": "180d", "Primary": true, "Handle": .uint16(0xFFFF)]) == entry)
        #expect(try failure(service, ["UUID": "2a37", "Service": link, "Flags": flags]) == nil)
        #expect(try failure(service, ["UUID": "2a37", "Service": link]) == none)
        #expect(try failure(service, ["UUID": "2a37", "Service": link, "Flags": .strings([])]) == none)
        #expect(try failure(service, ["UUID": "2a37", "Service": link, "Flags": .strings(["Read"])]) == none)
        #expect(try failure(service, ["UUID": "2a37", "Flags": flags]) == none)
        #expect(try failure(service, ["UUID": "2a37", "Service": .objectPath("/x"), "Flags": flags]) == none)
        #expect(try failure(service, ["Service": link, "Flags": flags]) == entry)
        let zero: KeyValuePairs<String, DBusValue> = [
            "UUID": "2a37", "Service": link, "Flags": flags, "Handle": .uint16(0),
        ]
        #expect(try failure(service, zero) == nil)
        #expect(try failure(service, zero, version: BlueZVersion(75)) == entry)
        #expect(try failure(service, zero, version: .trixie) == nil)
    }

    @Test func `every flag bluetoothd knows is taken`() {
        let all = [
            "broadcast", "read", "write-without-response", "write", "notify", "indicate",
            "authenticated-signed-writes", "extended-properties", "reliable-write", "writable-auxiliaries",
            "encrypt-read", "encrypt-write", "encrypt-notify", "encrypt-indicate",
            "encrypt-authenticated-read",
            "encrypt-authenticated-write", "encrypt-authenticated-notify", "encrypt-authenticated-indicate",
            "secure-read", "secure-write", "secure-notify", "secure-indicate", "authorize",
        ]
        for flag in all {
            #expect(AttributeAccess(characteristicFlags: [flag]) != nil, "\(flag)")
        }
        for flag in ["notify", "encrypt-notify", "broadcast", "write-without-response"] {
            #expect(AttributeAccess(descriptorFlags: [flag]) == nil, "\(flag)")
        }
        let mixed = AttributeAccess(characteristicFlags: ["read", "encrypt-read", "secure-notify", "notify"])
        #expect(mixed?.read == .encrypted)
        #expect(mixed?.subscribe == .authenticated)
        #expect(mixed?.write == nil)
    }

    @Test func `handles follow the objects' order, wishes are kept and clashes refused`() throws {
        let objects = [
            try object("/s1", "Service1", ["UUID": "180f", "Primary": false]),
            try object(
                "/s2", "Service1",
                [
                    "UUID": "180d", "Primary": true, "Includes": .objectPaths(["/s1", "/later"]),
                    "Handle": .uint16(0x100),
                ]),
            try object(
                "/c2", "Characteristic1",
                [
                    "UUID": "2a38", "Service": .objectPath("/s2"),
                    "Flags": .strings(["indicate", "writable-auxiliaries"]),
                ]),
            try object(
                "/c1", "Characteristic1",
                ["UUID": "2a37", "Service": .objectPath("/s2"), "Flags": .strings(["read"])]),
            try object(
                "/d1", "Descriptor1",
                ["UUID": "2901", "Characteristic": .objectPath("/c2"), "Flags": .strings(["read"])]),
        ]
        let services = try read(objects).get()
        #expect(services.map(\.handle) == [0x12, 0x100])
        let second = services[1]
        #expect(second.includes == [0x12])
        // Declaration, include; declaration, value, 2902, 2900, 2901; declaration, value.
        #expect(second.endHandle == 0x108)
        #expect(second.characteristics.map(\.handle) == [0x103, 0x108])
        #expect(second.characteristics[0].configurationHandle == 0x104)
        #expect(second.characteristics[0].extendedPropertiesHandle == 0x105)
        #expect(second.characteristics[0].descriptors.map(\.handle) == [0x106])
        guard case .failure(let clash) = read(objects, taken: [0x108...0x109]) else {
            Issue.record("a clash was not seen")
            return
        }
        #expect(clash.message == "Failed to create entry in database")
    }

    @Test(arguments: [
        ("Failed", "0x85", 0x85), ("Failed", "133", 0x85), ("Failed", "0237", 0x9F), ("Failed", "oops", 0x80),
        ("Failed", "", 0x0E), ("Failed", "0x7F", 0x0E), ("Failed", "0xA0", 0x0E), ("NotSupported", "", 0x06),
        ("NotAuthorized", "", 0x08), ("InvalidValueLength", "", 0x0D), ("InvalidOffset", "", 0x07),
        ("InProgress", "", 0xFE), ("NotPermitted", "", 0x02), ("ImproperlyConfigured", "", 0x0E),
        ("Other", "", 0x0E),
    ])
    func `an application's error becomes the ATT error of the table`(name: String, text: String, code: Int) {
        let error = DBusError(DBusError.Name(rawValue: "org.bluez.Error." + name), text)
        #expect(Int(ATTFailure(error, writing: false, version: .bookworm).code) == code)
        if name == "NotPermitted" {
            #expect(ATTFailure(error, writing: true, version: .bookworm).code == 0x03)
        }
        if name == "ImproperlyConfigured" {
            #expect(ATTFailure(error, writing: true, version: .trixie).code == 0xFD)
        }
    }

    // MARK: - Advertisements

    private func record(
        _ properties: KeyValuePairs<String, DBusValue>, version: BlueZVersion = .bookworm
    ) throws -> AdvertisementRecord {
        try AdvertisementRecord(.options(properties), version: version, isExperimental: false)
    }

    private func manufacturer(_ bytes: [UInt8]) -> DBusValue {
        .dictionary(key: "q", value: "v", [.init(.uint16(0x0059), .variant(.bytes(bytes)))])
    }

    @Test func `an advertisement is composed in bluetoothd's order`() throws {
        let full = try record([
            "Type": "peripheral", "LocalName": "ab", "Discoverable": true, "Appearance": .uint16(0x0341),
            "ManufacturerData": manufacturer([1]), "SolicitUUIDs": .strings(["1812"]),
            "ServiceData": .dictionary(key: "s", value: "v", [.init("180f", .variant(.bytes([0x64])))]),
            "Data": .dictionary(key: "y", value: "v", [.init(.byte(0x24), .variant(.bytes([0x0A])))]),
            "ServiceUUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb", "180f"]),
        ])
        let air = try #require(full.air(alias: "x", maximumData: 31))
        #expect(
            air.data == [
                5, 0x03, 0x0D, 0x18, 0x0F, 0x18, 3, 0x14, 0x12, 0x18, 4, 0xFF, 0x59, 0, 1, 4, 0x16, 0x0F,
                0x18, 0x64, 3,
                0x19, 0x41, 0x03, 2, 0x24, 0x0A, 2, 0x01, 0x06,
            ])
        #expect(air.scanResponse == [3, 0x09, 0x61, 0x62])
    }

    @Test func `a name comes from where it is said, shortened where it must be`() throws {
        let alias = try record(["Type": "peripheral", "Includes": .strings(["local-name"])])
        #expect(alias.air(alias: "hi", maximumData: 31)?.scanResponse == [3, 0x09, 0x68, 0x69])
        let long = try record(["Type": "peripheral", "LocalName": .string(String(repeating: "n", count: 40))])
        #expect(long.air(alias: "", maximumData: 31)?.scanResponse.prefix(2) == [30, 0x08])
        #expect(long.air(alias: "", maximumData: 31)?.scanResponse.count == 31)
        let secondary = try record(["Type": "peripheral", "LocalName": "a", "SecondaryChannel": "1M"])
        #expect(secondary.air(alias: "", maximumData: 31) == .init(data: [2, 0x09, 0x61], scanResponse: []))
    }

    @Test func `an advertisement that does not fit is not composed`() throws {
        let wide = String(repeating: "f", count: 8) + "-0000-1000-8000-00805f9b34fa"
        let two = try record(["Type": "peripheral", "ServiceUUIDs": .strings([wide, wide])])
        #expect(two.air(alias: "", maximumData: 251) == nil)
        let newer = try record(
            ["Type": "peripheral", "ServiceUUIDs": .strings([wide, wide])], version: .trixie)
        #expect(newer.air(alias: "", maximumData: 31) == nil)
        #expect(newer.air(alias: "", maximumData: 251)?.data.count == 34)
    }

    @Test func `a property that bluetoothd does not take is refused`() {
        let wrong: [KeyValuePairs<String, DBusValue>] = [
            ["Type": "peripheral", "ManufacturerData": manufacturer([])],
            ["Type": "peripheral", "ManufacturerData": manufacturer([UInt8](repeating: 0, count: 28))],
            ["Type": "peripheral", "LocalName": "a", "Includes": .strings(["local-name"])],
            ["Type": "peripheral", "Includes": .strings(["local-name"]), "LocalName": "a"],
            ["Type": "peripheral", "Includes": .strings(["rsi"])],
            ["Type": "peripheral", "ServiceUUIDs": .strings(["18"])],
            ["Type": "other"], ["LocalName": "a"], ["Type": "peripheral", "Appearance": .uint32(1)],
        ]
        for properties in wrong {
            #expect(throws: AdvertisementRecord.Refused.self) { try record(properties) }
        }
        for type: UInt8 in [0x01, 0x02, 0x06, 0x08, 0x09] {
            #expect(throws: AdvertisementRecord.Refused.self) {
                try record([
                    "Type": "peripheral",
                    "Data": .dictionary(key: "y", value: "v", [.init(.byte(type), .variant(.bytes([1])))]),
                ])
            }
        }
    }
}
