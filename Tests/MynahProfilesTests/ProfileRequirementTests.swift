import MynahCore
import MynahProfiles
import Testing

@Suite struct ProfileRequirementTests {
    private var modest: RadioCapabilities {
        var radio = RadioCapabilities(name: "Modest")
        radio.readErrors = .init(ATTError.applicationCodes)
        radio.writes.errors = .init(ATTError.applicationCodes)
        radio.writes.areRefusedBesideCommands = false
        radio.writes.maximumLength = 510
        radio.writes.maximumLongLength = 508
        radio.writes.protectsCommandsAlone = false
        radio.subscriptions.areAuthorized = false
        radio.advertising.keepsInterval = false
        radio.advertising.isExact = false
        radio.advertising.sendsEmptyData = false
        radio.advertising.placesScanResponse = false
        radio.advertising.keepsTxPower = false
        radio.advertising.maximumSets = 2
        return radio
    }

    private func lines(_ text: String, isChosen: Bool) throws -> [String] {
        try profile(text).issues(with: modest, isChosen: isChosen).map {
            "\($0.mark?.line ?? 0):\($0.mark?.column ?? 0) \($0.severity.rawValue)"
        }
    }

    private static let cases: [(String, String)] = [
        (head("advertising:\n  interval: 100 ms\n"), "4:13 warning"),
        (head("advertising:\n  serviceUUIDs: [0000180D]\n"), "4:17 warning"),
        (head("advertising:\n  manufacturerData: {0x59: \"\"}\n"), "4:21 error"),
        (head("advertising:\n  serviceData: {180F: \"\"}\n"), "4:16 error"),
        (head("advertising:\n  flags: 0x1A\n"), "4:10 error"),
        (head("advertising:\n  txPower: 4 dBm\n"), "4:12 error"),
        (head("advertising:\n  scanResponse: {appearance: 1}\n"), "4:17 error"),
        (head("advertising:\n  connectable: false\n  address: random\n"), "5:12 error"),
        (head("advertising:\n  extended: {primary: coded}\n"), "4:13 error"),
        (head("advertising:\n  - {}\n  - localName: B\n    flags: 0x1A\n"), "6:12 error"),
        (
            head("advertising:\n  - {}\n  - {localName: B, serviceUUIDs: {incomplete: [180F]}}\n"),
            "5:34 error"
        ),
        (head("advertising:\n  - {name: a}\n  - {name: b}\n  - {name: c}\n"), "4:5 error"),
        (characteristic("properties: [read]\n        errors: {read: 0x11}\n"), "8:24 error"),
        (
            characteristic("properties: [write]\n        maxLength: 20\n        errors: {write: 0x11}\n"),
            "9:25 error"
        ),
        (characteristic("properties: [write]\n        maxLength: 511\n"), "8:20 warning"),
        (characteristic("properties: [write]\n        maxLength: 509\n"), "8:20 warning"),
        (characteristic("properties: [notify]\n        permissions: {notify: authorized}\n"), "8:22 error"),
        (
            characteristic("properties: [write, writeWithoutResponse]\n        maxLength: 20\n"),
            "8:20 warning"
        ),
    ]

    @Test("a shortcoming of the chosen radio is an error at the line that needs it", arguments: cases)
    func chosenRadio(_ text: String, _ expected: String) throws {
        #expect(try lines(text, isChosen: true) == [expected])
    }

    @Test("of a radio that was not chosen everything is a warning", arguments: cases)
    func otherRadio(_ text: String, _ expected: String) throws {
        let warning = expected.replacing("error", with: "warning")
        #expect(try lines(text, isChosen: false) == [warning])
    }

    @Test(
        "advertising that a radio without exact bytes can do",
        arguments: [
            "advertising: {flags: none}\n", "advertising: [{name: a}, {name: b, connectable: false}]\n",
            "advertising: {extended: {data: 2M}}\n",
            "advertising: {extended: {primary: coded, data: coded}}\n",
            "advertising: {connectable: false, flags: none, localName: \"\", raw: [{0x24: 01}]}\n",
        ])
    func modestAdvertising(_ text: String) throws {
        #expect(try lines(head(text), isChosen: true) == [])
    }

    @Test("a radio without extended advertising is not asked for it")
    func withoutExtendedAdvertising() throws {
        var radio = modest
        radio.advertising.extendedCapacity = 0
        let issues = try profile(head("advertising:\n  - {}\n  - {localName: B, extended: true}\n"))
            .issues(with: radio, isChosen: true)
        #expect(issues.map(\.severity) == [.error])
        #expect(issues.first?.mark == SourceMark(line: 5, column: 30))
        #expect(issues.first?.message.contains("no extended advertising; choose --radio virtual") == true)
    }

    @Test("an error for requests that stand beside commands wants a radio that can refuse them")
    func refusalBesideCommands() throws {
        let text = characteristic(
            """
            properties: [write, writeWithoutResponse]\n        maxLength: 512\n        errors: {write: \
            0x80}\n
            """
        )
        #expect(try lines(text, isChosen: true) == ["8:20 warning", "9:25 error"])
    }

    @Test("asking a test about requests that stand beside commands wants a radio that waits for the answer")
    func answersBesideCommands() throws {
        let fields = "maxLength: 510\n        ask: [write]\n"
        let commands = characteristic("properties: [write, writeWithoutResponse]\n        " + fields)
        #expect(try lines(commands, isChosen: true).contains("9:14 error"))
        #expect(
            try lines(characteristic("properties: [write]\n        " + fields), isChosen: true)
                .contains { $0.hasPrefix("9:") } == false)
    }

    @Test("a value that a test is asked for is not static")
    func askedIsNotStatic() throws {
        for (ask, isStatic) in [("", true), ("        ask: [read]\n", false)] {
            let text = characteristic("properties: [read]\n        value: {hex: 01}\n" + ask)
            let characteristics = try profile(text).services.flatMap(\.characteristics)
            #expect(characteristics.map(\.isStatic) == [isStatic])
        }
    }

    @Test("the 512 bytes that nobody asked for are told once")
    func lengthIsToldOnce() throws {
        let text = head(
            """
            services:
              - uuid: battery
                characteristics:
                  - {uuid: 2A19, properties: [write]}
                  - {uuid: 2A1B, properties: [write]}
            """)
        #expect(try lines(text, isChosen: true) == ["6:9 warning"])
    }

    @Test("an app's advertisement is the phone's to lay out")
    func appAdvertising() throws {
        let text = head("app: {iOS: 17}\nadvertising: {serviceUUIDs: [0000180D]}\n")
        #expect(try profile(text).requirements.isEmpty)
        let usual = head(
            """
            app: {foregroundInterval: 30 ms, backgroundInterval: 181.25 ms}
            advertising: {serviceUUIDs: [0000180D]}

            """)
        #expect(try profile(usual).requirements.isEmpty)
        let timed = head("app: {backgroundInterval: 1 s}\nadvertising: {serviceUUIDs: [0000180D]}\n")
        #expect(try profile(timed).requirements.map(\.subject) == ["app.backgroundInterval"])
    }

    @Test("a shortcoming shows the line that asks for it")
    func showsLine() throws {
        let profile = try profile(characteristic("properties: [read]\n        errors: {read: 0x11}\n"))
        let issue = try #require(profile.issues(with: modest, isChosen: true).first)
        #expect(
            issue.description == """
                device.yaml:8:24: error: Modest cannot answer a read with 0x11 (insufficient resources); \
                it can send 0x80 to 0x9F
                        errors: {read: 0x11}
                                       ^
                """)
    }
}
