import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahConsole

@Suite struct ScreenQuestionsTests {
    private static let accessory: [JSON.Member] = [
        .init("device", .string("Lock")), .init("central", .string("C0:00:00:00:00:01")),
    ]
    private static let phone: [JSON.Member] = [
        .init("device", .string("App, Other")),
        .init("peripheral", .string("0063EC46-11F5-41F3-950D-542CBE63A5A9")),
        .init("address", .string("C0:00:00:00:00:02")), .init("name", .string("Lock\u{1B}")),
    ]
    private static let shown: [JSON.Member] = [
        .init("step", .string("display")), .init("passkey", .string("001234")),
    ]
    private static let compared: [JSON.Member] = [
        .init("step", .string("compare")), .init("passkey", .string("001234")),
    ]
    private static let typed: [JSON.Member] = [
        .init("step", .string("enter")), .init("entered", .bool(false)),
    ]
    private static let known: [JSON.Member] = [
        .init("step", .string("enter")), .init("entered", .bool(true)),
    ]

    private static func event(_ name: DeviceEvent.Name, _ fields: [JSON.Member]) -> DeviceEvent {
        DeviceEvent(time: WallTime(microseconds: 0), name: name, fields: fields)
    }

    private static func lines(_ events: [DeviceEvent]) -> [String] {
        var questions = ScreenQuestions()
        for event in events { questions.note(event) }
        return questions.lines
    }

    @Test(
        arguments: [
            (accessory + shown, ["type 001234 on the phone"]),
            (accessory + compared, ["compare 001234 with the phone; Mynah accepts it"]),
            (accessory + typed, ["type the number the phone shows, then Enter:"]),
            (accessory + known, []),
            (phone + shown, ["type 001234 on Lock\u{FFFD}"]),
            (phone + compared, ["compare 001234 with Lock\u{FFFD}; Mynah accepts it"]),
            (phone + typed, ["type the number Lock\u{FFFD} shows, then Enter:"]),
        ] as [([JSON.Member], [String])])
    func `a device's user has to do with the phone, and a phone's with the device`(
        fields: [JSON.Member], lines: [String]
    ) {
        #expect(Self.lines([Self.event(.pairingPasskey, fields)]) == lines)
    }

    @Test(arguments: ["pairingFailed", "weakerPairingRefused"])
    func `a question goes when its pairing fails, and stays if another may be meant`(code: String) {
        let failed = Self.event(
            .warning, [.init("device", .string("Lock")), .init("code", .string(code))])
        let display = Self.event(.pairingPasskey, Self.accessory + Self.shown)
        let phone = Self.event(.pairingPasskey, Self.phone + Self.typed)
        #expect(Self.lines([display, phone, failed]) == ["type the number Lock\u{FFFD} shows, then Enter:"])
        let name = "App, Other"
        let second = Self.event(
            .pairingPasskey,
            [
                .init("device", .string(name)),
                .init("peripheral", .string("1163EC46-11F5-41F3-950D-542CBE63A5A9")),
            ] + Self.shown)
        let ofPhone = Self.event(
            .warning, [.init("device", .string(name)), .init("code", .string(code))])
        #expect(Self.lines([phone, second, ofPhone]).count == 2)
        #expect(Self.lines([phone, ofPhone]) == [])
        let other = Self.event(
            .warning, [.init("device", .string("Lock")), .init("code", .string("longValue"))])
        #expect(Self.lines([display, other]).count == 1)
    }

    @Test
    func `the number that a device of the run shows stays while it is typed, and the digits follow last`() {
        let display = Self.event(.pairingPasskey, Self.accessory + Self.shown)
        let enter = Self.event(.pairingPasskey, Self.phone + Self.typed)
        let both = ["type 001234 on the phone", "type the number Lock\u{FFFD} shows, then Enter:"]
        #expect(Self.lines([display, enter]) == both)
        #expect(Self.lines([enter, display]) == both)
        // A central that has paired is called by its identity address.
        let identity = [Self.accessory[0], .init("central", .string("C0:00:00:00:00:03"))]
        #expect(Self.lines([display, enter, Self.event(.paired, identity)]) == [both[1]])
        let app = [
            JSON.Member("device", .string("App")),
            .init("peripheral", .string("0063EC46-11F5-41F3-950D-542CBE63A5A9")),
        ]
        for end in [DeviceEvent.Name.paired, .peripheralDisconnected] {
            #expect(Self.lines([display, enter, Self.event(end, app)]) == [both[0]])
        }
        let off = Self.event(
            .stateChanged, [Self.phone[0], .init("state", .string("poweredOff"))])
        #expect(Self.lines([display, enter, off]) == [both[0]])
        #expect(Self.lines([display, enter, Self.event(.radioLost, [Self.accessory[0]])]) == [both[1]])
    }
}
