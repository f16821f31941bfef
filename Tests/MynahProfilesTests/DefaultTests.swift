import MynahCore
import MynahProfiles
import Testing

@Suite struct DefaultTests {
    private func first(_ fields: String) throws -> Profile.Characteristic {
        try #require(try profile(characteristic(fields)).services.first?.characteristics.first)
    }

    @Test("keys that are left out have the format's defaults")
    func defaults() throws {
        let profile = try profile(
            head("services: [{uuid: battery, characteristics: [{uuid: 2A19, properties: [read]}]}]"))
        #expect(profile.device == DeviceIdentity(name: "Test", ioCapability: .noInputNoOutput))
        #expect(profile.passkey == nil)
        #expect(profile.advertising == nil)
        #expect(profile.app == nil)
        let service = try #require(profile.services.first)
        #expect(service.isPrimary)
        #expect(service.includes.isEmpty)
        let characteristic = try #require(service.characteristics.first)
        #expect(characteristic.permissions == .open)
        #expect(characteristic.maximumLength == 512)
        #expect(characteristic.every == nil)
        #expect(characteristic.isStatic)
        #expect(characteristic.value.bytes == [])
    }

    @Test("the local name is the device's unless said, and none where it is empty")
    func localName() throws {
        func name(_ text: String) throws -> String? { try profile(text).advertising?.advertisement.localName }
        #expect(try name(head("device: {name: D}\nadvertising: {}\n")) == "D")
        #expect(try name(head("advertising: {}\n")) == "Test")
        #expect(try name(head("device: {name: D}\nadvertising: {localName: L}\n")) == "L")
        #expect(try name(head("device: {name: D}\nadvertising: {localName: \"\"}\n")) == nil)
        #expect(try name(head("device: {name: D}\nadvertising: {localName: ''}\n")) == nil)
    }

    @Test("the appearance is advertised only where the advertisement asks for it")
    func appearance() throws {
        func advertised(_ text: String) throws -> UInt16? {
            try profile(head("device: {appearance: 0x0341}\nadvertising: {\(text)}\n")).advertising?
                .advertisement
                .appearance
        }
        #expect(try advertised("") == nil)
        #expect(try advertised("appearance: false") == nil)
        #expect(try advertised("appearance: true") == 0x0341)
        #expect(try profile(head("device: {appearance: 833}\n")).device.appearance == 0x0341)
        #expect(try profile(head("device: {appearance: heart-rate-belt}\n")).device.appearance == 0x0341)
    }

    @Test(
        "a value is static if nothing changes it and no error is ordered",
        arguments: [
            ("properties: [read]\n        value: {hex: 01}\n", true),
            ("properties: [read, notify]\n        value: {hex: 01}\n", true),
            ("properties: [read, notify]\n        value: {hex: 01}\n        every: 1 s\n", false),
            ("properties: [read, write]\n        value: {hex: 01}\n", false),
            ("properties: [read, writeWithoutResponse]\n        value: {hex: 01}\n", false),
            ("properties: [read]\n        value: {generate: heart-rate}\n", false),
            ("properties: [read]\n        value: {hex: 01}\n        errors: {read: 0x80}\n", false),
        ])
    func staticValues(_ fields: String, _ isStatic: Bool) throws {
        #expect(try first(fields).isStatic == isStatic)
    }

    @Test(
        "bytes are taken literally, whichever type YAML gives them",
        arguments: [
            ("{hex: 01}", [0x01]), ("{hex: 64}", [0x64]), ("{hex: 1E10}", [0x1E, 0x10]),
            ("{hex: 2901}", [0x29, 0x01]),
            ("{hex: \"01 ff\"}", [0x01, 0xFF]), ("{hex: 0x0341}", [0x03, 0x41]),
            ("{hex: 01:02-03}", [1, 2, 3]),
            ("{hex: \"\"}", []), ("{hex: }", []), ("{text: 01}", Array("01".utf8)),
            ("{text: true}", Array("true".utf8)),
            ("{text: ~}", Array("~".utf8)), ("{text: 1.10}", Array("1.10".utf8)),
            ("{text: Grüße}", Array("Grüße".utf8)),
            ("{text: \"a\\tb\"}", Array("a\tb".utf8)), ("{base64: AQI=}", [1, 2]), ("{base64: \"\"}", []),
        ] as [(String, [UInt8])])
    func bytes(_ value: String, _ expected: [UInt8]) throws {
        #expect(try first("properties: [read]\n        value: \(value)\n").value.bytes == expected)
    }

    @Test(
        "a UUID is what is written, in its width",
        arguments: [
            ("3901", "3901", 2), ("2E37", "2E37", 2), ("1E10", "1E10", 2), ("\"180d\"", "180D", 2),
            ("0x180D", "180D", 2),
            ("heart-rate", "180D", 2), ("0000180D", "0000180D", 4), ("12345678", "12345678", 4),
            ("0000180d-0000-1000-8000-00805f9b34fb", "0000180D-0000-1000-8000-00805F9B34FB", 16),
            ("6E400001B5A3F393E0A9E50E24DCCA9E", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", 16),
        ])
    func uuids(_ written: String, _ read: String, _ width: Int) throws {
        let service = try #require(try profile(head("services: [{uuid: \(written)}]\n")).services.first)
        #expect(service.uuid.description == read)
        #expect(service.uuid.width.byteCount == width)
    }

    @Test("included services come before those that include them, and else the file's order holds")
    func includeOrder() throws {
        let profile = try profile(
            head(
                """
                services: [{uuid: 180D, includes: [battery, 1805]}, {uuid: 180A}, {uuid: 180F, \
                includes: [1805]}, {uuid: 1805}]\n
                """
            ))
        #expect(profile.services.map(\.uuid) == ["1805", "180F", "180D", "180A"])
        #expect(profile.services.map(\.includes) == [[], [0], [1, 0], []])
    }

    @Test("services of one UUID keep the file's order, and ~N includes one of them")
    func numberedIncludes() throws {
        let profile = try profile(
            head(
                """
                services: [{uuid: 180D, includes: [180F~2, battery~3]}, {uuid: 180F}, {uuid: 180F, \
                primary: false}, {uuid: 180F}]\n
                """
            ))
        #expect(profile.services.map(\.uuid) == ["180F", "180F", "180F", "180D"])
        #expect(profile.services.map(\.isPrimary) == [true, false, true, true])
        #expect(profile.services.map(\.includes) == [[], [], [], [1, 2]])
        #expect(profile.attributeTree.path(of: .init(service: 1)) == "180F~2")
    }

    @Test("a long chain of includes is put in order")
    func longChain() throws {
        let services = (0x3000..<0x3800).map { number in
            "{uuid: \(String(number, radix: 16)), includes: [\(String(number + 1, radix: 16))]}"
        }
        let profile = try profile(head("services: [\(services.joined(separator: ", ")), {uuid: 3800}]\n"))
        #expect(profile.services.count == 0x801)
        #expect(profile.services.first?.uuid == "3800")
    }

    @Test("a writable description gives its characteristic writableAuxiliaries")
    func writableDescription() throws {
        let profile = try profile(
            characteristic(
                "properties: [read]\n        descriptors: [{uuid: 2901, properties: [read, write]}]\n"))
        #expect(profile.warnings.count == 1)
        #expect(profile.services.first?.characteristics.first?.properties == [.read, .writableAuxiliaries])
    }

    @Test("every field of an app is read")
    func app() throws {
        let text = head(
            """
            app:
              backgroundModes: [bluetooth-peripheral, bluetooth-central]
              restoreIdentifier: com.example.hrm
              state: suspended
              suspendAfter: 7 s
              taskTime: 300 ms
              iOS: 11
              foregroundInterval: 20 ms
              backgroundInterval: 181.25 ms
            """)
        let app = try #require(try profile(text).app)
        #expect(app.backgroundModes == [.bluetoothPeripheral, .bluetoothCentral])
        #expect(app.restoreIdentifier == "com.example.hrm")
        #expect(app.state == .suspended)
        #expect(app.suspendAfter == .seconds(7))
        #expect(app.taskTime == .milliseconds(300))
        #expect(app.iOS == 11)
        #expect(app.foregroundInterval == .milliseconds(20))
        #expect(app.backgroundInterval == .microseconds(181_250))
        #expect(app.marks["iOS"] == SourceMark(line: 9, column: 8))
    }

    @Test("every field of an accessory's advertisement is read")
    func advertising() throws {
        let text = head(
            """
            advertising:
              serviceUUIDs: [180D]
              interval: 152.5 ms
              manufacturerData: {0x0059: 01 02}
              serviceData: {180F: 64}
              solicitedServiceUUIDs: [1805]
              txPower: true
              raw: {0x24: 17}
            """)
        var expected = Advertisement()
        expected.localName = "Test"
        expected.serviceUUIDs = ["180D"]
        expected.interval = .microseconds(152_500)
        expected.manufacturerData = [.init(company: 0x0059, data: [1, 2])]
        expected.serviceData = [.init(uuid: "180F", data: [0x64])]
        expected.solicitedServiceUUIDs = ["1805"]
        expected.txPower = .radio
        expected.raw = [ADStructure(type: ADType(0x24), data: [0x17])]
        #expect(try profile(text).advertising?.advertisement == expected)
    }

    @Test("security says how a device pairs", arguments: IOCapability.allCases)
    func security(_ capability: IOCapability) throws {
        let profile = try profile(head("security: {io: \(capability.rawValue)}\n"))
        #expect(profile.device.ioCapability == capability)
    }

    @Test("every part remembers where its fields stand")
    func marks() throws {
        let text = head(
            """
            device: {name: D}
            security:
              io: displayOnly
            services:
              - uuid: battery
                primary: true
                characteristics:
                  - uuid: 2A19
                    properties: [read]
                    descriptors:
                      - {uuid: 2901, value: {text: a}}
            """)
        let profile = try profile(text)
        #expect(profile.marks["services"] == SourceMark(line: 7, column: 3))
        #expect(profile.marks["device.name"] == SourceMark(line: 3, column: 16))
        #expect(profile.marks["security.io"] == SourceMark(line: 5, column: 7))
        let service = try #require(profile.services.first)
        #expect(service.mark == SourceMark(line: 7, column: 5))
        #expect(service.marks["primary"] == SourceMark(line: 8, column: 14))
        let characteristic = try #require(service.characteristics.first)
        #expect(characteristic.marks["properties"] == SourceMark(line: 11, column: 21))
        #expect(characteristic.descriptors.first?.marks["value"] == SourceMark(line: 13, column: 33))
    }

    @Test("a passkey keeps its leading zeros' worth")
    func passkey() throws {
        #expect(try profile(head("security: {io: keyboardOnly, passkey: 001234}\n")).passkey == 1234)
        #expect(
            try profile(head("security: {io: keyboardDisplay, passkey: \"999999\"}\n")).passkey == 999_999)
    }
}

extension Profile.Value {
    /// Nil: they are generated.
    fileprivate var bytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }
}
