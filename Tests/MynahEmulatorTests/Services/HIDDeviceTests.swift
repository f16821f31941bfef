import MynahCore
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahEmulator

/// The numbers here are those of the HID Service Specification 1.0 and of the HID Usage Tables.
@Suite struct HIDDeviceTests {
    static let (point, mode, input, output): (BluetoothUUID, BluetoothUUID, BluetoothUUID, BluetoothUUID) =
        ("2A4C", "2A4E", HIDDevice.report, HIDDevice.outputReport)
    static let (bootInput, bootOutput): (BluetoothUUID, BluetoothUUID) = ("2A22", "2A32")
    static let (phone, other) = (TestService.phone, TestService.other)

    static func keyboard(subscribed: Set<BluetoothUUID> = [input, bootInput]) -> TestService {
        var service = TestService(subscribed: subscribed)
        service.stored["2A4B"] = [0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x05, 0x07]
        for uuid in [input, bootInput] { service.stored[uuid] = [0, 0, 0, 0, 0, 0, 0, 0] }
        for uuid in [output, bootOutput] { service.stored[uuid] = [0] }
        service.stored[mode] = [1]
        return service
    }

    private func modes(_ device: HIDDevice, _ service: TestService) throws -> [UInt8] {
        try [Self.phone, Self.other].compactMap { try device.read(Self.mode, by: $0, service)?.first }
    }

    // MARK: The control point, the protocol mode and the LEDs

    @Test(arguments: [0, 1] as [UInt8])
    func `each command of the control point in each protocol mode`(mode: UInt8) throws {
        for command in UInt8.min...UInt8.max {
            var service = Self.keyboard()
            var device = HIDDevice()
            #expect(device.outcome(of: [mode], to: Self.mode, &service) == .sent([]))
            // Suspend, exit suspend, and what is not assigned.
            let outcome: WriteOutcome = command < 2 ? .sent([]) : .error(0x06)
            #expect(device.outcome(of: [command], to: Self.point, &service) == outcome, "\(command)")
            #expect(try modes(device, service) == [mode, 1])
        }
    }

    @Test(arguments: [0, 1] as [UInt8])
    func `each protocol mode, written in each`(before: UInt8) throws {
        for mode in UInt8.min...UInt8.max {
            var service = Self.keyboard()
            var device = HIDDevice()
            _ = device.outcome(of: [before], to: Self.mode, &service)
            let isKnown = mode < 2
            #expect(
                device.outcome(of: [mode], to: Self.mode, &service) == (isKnown ? .sent([]) : .error(0x06)))
            #expect(try modes(device, service) == [isKnown ? mode : before, 1])
        }
    }

    @Test func `another length gets 0x0D`() {
        var service = Self.keyboard()
        var device = HIDDevice()
        for characteristic in [Self.point, Self.mode, Self.output, Self.bootOutput] {
            for value in [[], [0, 0]] as [[UInt8]] {
                #expect(device.outcome(of: value, to: characteristic, &service) == .error(0x0D))
            }
        }
    }

    @Test func `a connection begins in the report protocol, and so does a reset`() throws {
        var service = Self.keyboard()
        var device = HIDDevice()
        for central in [Self.phone, Self.other] {
            _ = device.outcome(of: [0], to: Self.mode, by: central, &service)
        }
        #expect(try modes(device, service) == [0, 0])
        device.disconnected(Self.phone)
        #expect(try modes(device, service) == [1, 0])
        _ = device.begin(service)
        #expect(try modes(device, service) == [1, 1])
    }

    @Test func `either output report sets the LEDs, and one alone is no matter`() {
        var service = Self.keyboard()
        var device = HIDDevice()
        for (characteristic, leds) in [(Self.output, 2), (Self.bootOutput, 5)] as [(BluetoothUUID, UInt8)] {
            #expect(device.outcome(of: [leds], to: characteristic, &service) == .sent([]))
            #expect(service.value(of: Self.output) == [leds])
            #expect(service.value(of: Self.bootOutput) == [leds])
        }
        service.stored[Self.bootOutput] = nil
        #expect(device.outcome(of: [1], to: Self.output, &service) == .sent([]))
        #expect(service.value(of: Self.output) == [1] && service.value(of: Self.bootOutput) == nil)
    }

    @Test func `the output report is known by its report reference`() throws {
        for (name, outputs) in [("hid-keyboard", [5]), ("hid-mouse", []), ("hid-gamepad", [])] {
            let text = "mynah: 1\nname: HID\nservices: [{use: \(name)}]\n"
            let profile = try ProfileLoader.load(text: text, file: "test.yaml")
            let names = profile.services[0].characteristics.map(HIDDevice().name)
            #expect(names.indices.filter { names[$0] == Self.output } == outputs)
            #expect(names.filter { $0 == Self.input }.count == 1)
        }
    }

    @Test(arguments: ["hid-keyboard", "hid-mouse", "hid-gamepad"])
    func `every use of a HID service needs an encrypted link`(name: String) throws {
        let text = "mynah: 1\nname: HID\nservices: [{use: \(name)}]\n"
        let service = try ProfileLoader.load(text: text, file: "test.yaml").services[0]
        for characteristic in service.characteristics {
            let (properties, permissions) = (characteristic.properties, characteristic.permissions)
            #expect(!properties.contains(.read) || permissions.read == .encrypted)
            #expect(properties.isDisjoint(with: .anyWrite) || permissions.write == .encrypted)
            #expect(!properties.contains(.notify) || permissions.notify == .encrypted)
            #expect(characteristic.descriptors.allSatisfy { $0.permissions.read == .encrypted })
        }
        #expect(service.characteristics.flatMap(\.descriptors).map(\.uuid).allSatisfy { $0 == "2908" })
    }

    // MARK: Typing

    /// Types, and returns the reports with their times.
    private func type(
        _ text: String, on device: inout HIDDevice, _ service: inout TestService, every gap: Duration
    ) throws -> [(Duration, [Sent])] {
        try device.type(try USKeyboard.strokes(of: text), every: gap, service)
        var sent: [(Duration, [Sent])] = []
        while let due = device.due(service) {
            service.now = max(service.now, due)
            sent.append((service.now, service.take(device.tick(service))))
        }
        return sent
    }

    private static func report(_ modifiers: UInt8, _ key: UInt8) -> [UInt8] {
        [modifiers, 0, key, 0, 0, 0, 0, 0]
    }

    @Test func `each key is pressed and released, with a gap after each report`() throws {
        var service = Self.keyboard()
        var device = HIDDevice()
        service.now = .seconds(5)
        let sent = try type("Aa1", on: &device, &service, every: .milliseconds(20))
        #expect(sent.map(\.0) == (0..<6).map { .milliseconds(5000 + 20 * $0) })
        let reports = [(2, 4), (0, 0), (0, 4), (0, 0), (0, 0x1E), (0, 0)] as [(UInt8, UInt8)]
        #expect(
            sent.map(\.1)
                == reports.map {
                    [Sent(value: Self.report($0, $1), characteristic: Self.input, central: nil)]
                }
        )
        // The next text keeps the gap after the last report.
        let next = try type("b", on: &device, &service, every: .milliseconds(50))
        #expect(next.map(\.0) == [.milliseconds(5120), .milliseconds(5170)])
    }

    @Test func `a central in the boot protocol gets boot reports, and the other one its own`() throws {
        var service = Self.keyboard()
        var device = HIDDevice()
        _ = device.outcome(of: [0], to: Self.mode, by: Self.other, &service)
        let sent = try type("z", on: &device, &service, every: .milliseconds(1))
        #expect(
            sent.map(\.1)
                == [Self.report(0, 0x1D), Self.report(0, 0)].map {
                    [
                        Sent(value: $0, characteristic: Self.input, central: Self.phone),
                        Sent(value: $0, characteristic: Self.bootInput, central: Self.other),
                    ]
                })
        // Both are read as they were sent.
        #expect(service.value(of: Self.input) == Self.report(0, 0))
        #expect(service.value(of: Self.bootInput) == Self.report(0, 0))
    }

    @Test func `a report waits for room on a link`() throws {
        var service = Self.keyboard()
        var device = HIDDevice()
        try device.type(try USKeyboard.strokes(of: "x"), every: .milliseconds(20), service)
        service.waiting = [Self.other]
        #expect(device.due(service) == nil)
        service.waiting = []
        #expect(device.due(service) == .zero)
    }

    @Test func `a host, a keyboard and room are needed`() throws {
        let strokes = try USKeyboard.strokes(of: "a")
        var device = HIDDevice()
        #expect(throws: HIDDevice.Refusal.hasNoHost) {
            try device.type(strokes, every: .milliseconds(1), Self.keyboard(subscribed: []))
        }
        // Nobody is in the boot protocol.
        #expect(throws: HIDDevice.Refusal.hasNoHost) {
            try device.type(strokes, every: .milliseconds(1), Self.keyboard(subscribed: [Self.bootInput]))
        }
        var mouse = Self.keyboard()
        mouse.stored["2A4B"] = [0x05, 0x01, 0x09, 0x02]
        #expect(throws: HIDDevice.Refusal.isNoKeyboard) {
            try device.type(strokes, every: .milliseconds(1), mouse)
        }
        let many = [KeyStroke](repeating: strokes[0], count: 8192)
        try device.type(many, every: .milliseconds(1), Self.keyboard())
        #expect(throws: HIDDevice.Refusal.isTyping(16_384)) {
            try device.type(strokes, every: .milliseconds(1), Self.keyboard())
        }
    }
}

@Suite struct USKeyboardTests {
    /// Usages of the Keyboard/Keypad page (HID Usage Tables 1.5, 10), as they are printed there: the key, and
    /// what it makes without and with shift.
    static let page = """
        04 aA 05 bB 06 cC 07 dD 08 eE 09 fF 0A gG 0B hH 0C iI 0D jJ 0E kK 0F lL 10 mM 11 nN 12 oO 13 pP 14 qQ
        15 rR 16 sS 17 tT 18 uU 19 vV 1A wW 1B xX 1C yY 1D zZ 1E 1! 1F 2@ 20 3# 21 4$ 22 5% 23 6^ 24 7& 25 8*
        26 9( 27 0) 2D -_ 2E =+ 2F [{ 30 ]} 31 \\| 33 ;: 34 '" 35 `~ 36 ,< 37 .> 38 /?
        """

    @Test func `each character is made by the key of the usage tables`() throws {
        let words = Self.page.split { $0 == " " || $0 == "\n" }.map(String.init)
        #expect(words.count == 2 * 47)
        for (usage, characters) in zip(
            words.enumerated().filter { $0.offset % 2 == 0 }.map(\.element),
            words.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
        {
            let key = try #require(UInt8(usage, radix: 16))
            #expect(
                try USKeyboard.strokes(of: characters)
                    == [KeyStroke(usage: key), KeyStroke(usage: key, modifiers: 2)], "\(characters)")
        }
        let others = try USKeyboard.strokes(of: "\n\u{1B}\u{8}\t \u{7F}\r\r\n").map(\.usage)
        #expect(others == [0x28, 0x29, 0x2A, 0x2B, 0x2C, 0x4C, 0x28, 0x28])
    }

    @Test func `all of printable ASCII has a key, and nothing else`() throws {
        let text = String(String.UnicodeScalarView((0x20...0x7E).map { UnicodeScalar(UInt8($0)) }))
        #expect(Set(try USKeyboard.strokes(of: text)).count == 95)
        for (text, place) in [("é", 1), ("ab€c", 3), ("a\u{1}", 2), ("👍🏽", 1)] {
            let error = #expect(throws: USKeyboard.Problem.self) { try USKeyboard.strokes(of: text) }
            #expect(error?.place == place)
            #expect(error?.message.hasPrefix("no key of a US keyboard makes \"") == true)
        }
    }
}
