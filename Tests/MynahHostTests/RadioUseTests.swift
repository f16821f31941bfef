import Foundation
import MynahCore
import MynahEmulator
import MynahHCI
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The use of the virtual radio by devices, on a clock that the tests set.
@Suite(.timeLimit(.minutes(15))) struct RadioUseTests {
    private let air = LiveAir(seed: 1)
    private let clock = ManualClock()
    private let events = Lock<[DeviceEvent]>([])
    private static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    private static let app = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-central]}
        central:
          restoreIdentifier: com.example.app
          scan: {services: [180D]}
          peripherals: [{name: Strap, discover: none}]
        """
    private static let strap = """
        mynah: 1
        name: Strap
        advertising: {serviceUUIDs: [180D], interval: 100 ms}
        services: [{uuid: 180D, characteristics: [{uuid: 2A38, properties: [read], value: {hex: 01}}]}]
        """

    private func radio(_ number: UInt8) throws -> HostRadio {
        let address = try #require(
            DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .public))
        var options = HostRadioOptions()
        options.isSimulated = true
        let clock = clock
        return HostRadio(
            transport: air.transport(ControllerConfiguration(address: address)), options: options,
            clock: clock)
    }

    private func play(
        _ texts: [String], on radio: HostRadio, in state: Profile.App.StartState? = nil
    ) async throws -> Emulator {
        let devices = try texts.map { text in
            var device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
            if let state { device.app?.startState = state }
            return device
        }
        let events = events
        let emulator = Emulator(
            devices, on: radio, clock: clock, observer: { event in events.withLock { $0.append(event) } })
        try await emulator.start()
        return emulator
    }

    /// The events about the radio so far: whose they are, and their fields.
    private var reports: [String] {
        events.withLock { $0 }.filter { $0.name == .radioUsed }.map { event in
            event.fields.map { "\($0.key) \($0.value.stringValue ?? $0.value.text)" }.joined(separator: " ")
        }
    }

    private func count(_ name: DeviceEvent.Name) -> Int {
        events.withLock { $0.count { $0.name == name } }
    }

    /// A minute passes, and is reported for so many devices.
    private func passMinute(of devices: Int = 1) async throws {
        let before = reports.count
        clock.advance(by: .seconds(60))
        try await until("the minute is reported") { reports.count >= before + devices }
    }

    // MARK: An accessory

    @Test func `an accessory that advertises each 100 ms is reported each minute, and at its end`()
        async throws
    {
        let emulator = try await play([Self.strap], on: try radio(1))
        try await passMinute()
        try await passMinute()
        clock.advance(by: .milliseconds(1050))
        await emulator.stop()
        // The name is not given, so that the data are 3 bytes of Flags, 4 of UUIDs and 7 of the name "Strap":
        // 14. An event takes 3 × (80 + 8 × (6 + 14) + 150) = 1170 µs, and 60 s / 105 ms = 571.43 of them are
        // due: 668,571 µs.
        #expect(
            reports == [
                "advertisingEvents 571 airtimeMilliseconds 668.571",
                "advertisingEvents 572 airtimeMilliseconds 668.571",
                "advertisingEvents 10 airtimeMilliseconds 11.7",
            ])
        clock.advance(by: .seconds(600))
        #expect(reports.count == 3)
    }

    @Test func `nothing is used while Bluetooth is off`() async throws {
        let emulator = try await play([Self.strap], on: try radio(1))
        await emulator.carryOut(.setPower(false))
        try await passMinute()
        await emulator.carryOut(.setPower(true))
        try await passMinute()
        await emulator.stop()
        #expect(reports == ["", "advertisingEvents 571 airtimeMilliseconds 668.571", ""])
    }

    @Test(arguments: [60, 119, 150, 3600, 86_401])
    func `minutes in which the process was stopped are one report, and the next comes a minute later`(
        seconds: Int
    ) async throws {
        let emulator = try await play([Self.strap], on: try radio(1))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(seconds))
        try await until("the time is reported") { !reports.isEmpty }
        try await clock.waitForSleepers(1)
        #expect(reports.count == 1)
        try await passMinute()
        try await clock.waitForSleepers(1)
        #expect(reports.count == 2)
        await emulator.stop()
    }

    @Test func `a controller that is not simulated is estimated`() async throws {
        let address = try #require(DeviceAddress(littleEndian: [1, 0, 0, 0, 0, 0xC0], kind: .public))
        let clock = clock
        let radio = HostRadio(
            transport: air.transport(ControllerConfiguration(address: address)), clock: clock)
        let emulator = try await play([Self.strap], on: radio)
        await emulator.stop()
        #expect(reports == ["estimated true"])
    }

    @Test func `without an observer nothing is measured`() async throws {
        let device = EmulatedDevice(try ProfileLoader.load(text: Self.strap, file: "test.yaml"), seed: 1)
        let emulator = Emulator([device], on: try radio(1), clock: clock)
        try await emulator.start()
        // The radio may sleep for its commands; a measurement sleeps for a minute.
        #expect(clock.pauses.allSatisfy { $0 < .seconds(60) })
        await emulator.stop()
    }

    // MARK: Apps

    /// Waits until each app holds the link and what it began with has been answered.
    private func connect(_ phone: HostRadio, _ count: Int) async throws {
        try await until("the apps are connected") { self.count(.peripheralConnected) == count }
        try await until("the link is quiet") {
            await phone.used?.links.values.contains { $0.packetsReceived > 0 } ?? false
        }
        try await until("the scan has ended") { await phone.session.scanner.scanning == nil }
    }

    @Test func `a link that two apps share counts in full for each`() async throws {
        let (device, phone) = (try radio(1), try radio(2))
        let strap = try await play([Self.strap], on: device)
        let other = Self.app.replacing("name: App", with: "name: Other")
        let emulator = try await play([Self.app, other], on: phone)
        try await connect(phone, 2)
        // The accessory is reported too.
        try await passMinute(of: 3)
        await emulator.stop()
        await strap.stop()
        let words = reports.filter { $0.hasPrefix("device") }
        let (first, second) = (words.filter { $0.contains("App") }, words.filter { $0.contains("Other") })
        #expect(first.count == 2 && second.count == 2)
        for report in [first[0], second[0]] {
            #expect(report.contains("linkSeconds 60 "), "\(report)")
            #expect(report.contains("packetsSent ") && !report.contains("advertisingEvents"))
        }
        #expect(
            first[0].replacing("device App", with: "") == second[0].replacing("device Other", with: ""))
    }

    @Test func `scans and links that iOS keeps for a terminated app count as that app's use`() async throws {
        let (device, phone) = (try radio(1), try radio(2))
        let strap = try await play([Self.strap], on: device)
        let emulator = try await play([Self.app], on: phone)
        try await connect(phone, 1)
        await emulator.carryOut(.transition(.terminate))
        try await until("the app is terminated") { self.count(.appTerminated) == 1 }
        try await passMinute(of: 2)
        await emulator.stop()
        await strap.stop()
        // Beside the strap, which advertises.
        let first = try #require(reports.first { !$0.contains("advertisingEvents") })
        #expect(first.contains("linkSeconds 60 "), "\(first)")
    }

    /// The background modes, and the interval at which the system advertises for the app that it terminated,
    /// in 0.625 ms; the seconds that links lasted, for that app and for its central, in that minute and in
    /// the one after it was opened again.
    @Test(arguments: [
        (modes: "", interval: nil, linked: [60, 60, 60]),
        (modes: "bluetooth-peripheral", interval: 290, linked: [60, 60, 60, 60]),
    ])
    func `an app is charged for centrals only while its services are published`(
        row: (modes: String, interval: UInt32?, linked: [Int])
    ) async throws {
        let sensor =
            Self.strap.replacing(", interval: 100 ms", with: "")
            + "\napp: {backgroundModes: [\(row.modes)], restoreIdentifier: com.example.sensor}"
        let (device, phone) = (try radio(1), try radio(2))
        let peripheral = try await play([sensor], on: device)
        let hash = await device.look { $0.server.database.hash }
        let central = try await play([Self.app], on: phone)
        try await connect(phone, 1)
        await peripheral.carryOut(.transition(.terminate))
        try await until("the system advertises for the app, or not") {
            await device.session.advertiser.sent.first?.interval
                == row.interval.map { .microseconds(625 * Int($0)) }
        }
        try await passMinute(of: 2)
        await peripheral.carryOut(.transition(.enterForeground))
        try await until("the services are published") {
            await device.look { $0.server.database.hash } == hash
        }
        try await until("the app advertises in the foreground") {
            await device.session.advertiser.sent.first?.interval == .milliseconds(30)
        }
        try await passMinute(of: 2)
        await central.stop()
        await peripheral.stop()
        let linked = reports.compactMap { $0.firstMatch(of: /linkSeconds ([0-9]+)/).flatMap { Int($0.1) } }
        #expect(linked == row.linked, "\(reports)")
    }

    @Test func `an app that its user quit uses nothing`() async throws {
        let phone = try radio(2)
        let emulator = try await play([Self.app], on: phone)
        try await until("it scans") { await phone.session.scanner.scanning != nil }
        try await passMinute()
        await emulator.carryOut(.transition(.quit))
        try await until("it does not scan") { await phone.session.scanner.scanning == nil }
        try await passMinute()
        await emulator.stop()
        #expect(reports == ["scanSeconds 45", "", ""])
    }

    // MARK: The article

    /// Rows of the article's table: the profile, the state and what a minute uses.
    private static func rows() throws -> [(profile: String, state: Profile.App.StartState, use: String)] {
        let article = try String(
            contentsOfFile: "\(repository)/Sources/Mynah/Mynah.docc/ConnectFromAnApp.md", encoding: .utf8)
        return try article.split(separator: "\n").filter { $0.hasPrefix("| `profiles/") }.map { line in
            let cells = line.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
            try #require(cells.count == 3)
            return (cells[0], try #require(Profile.App.StartState(rawValue: cells[1])), cells[2])
        }
    }

    @Test func `the article's table has what a minute in the foreground and one in the background use`()
        async throws
    {
        let rows = try Self.rows()
        #expect(rows.count == 4)
        for row in rows {
            events.withLock { $0 = [] }
            let text = try String(contentsOfFile: "\(Self.repository)/\(row.profile)", encoding: .utf8)
            let radio = try radio(3)
            let emulator = try await play([text], on: radio, in: row.state)
            if row.use.contains("scanSeconds") {
                let interval = Duration.milliseconds(row.state == .foreground ? 40 : 300)
                try await until("the scan is as in the state") {
                    await radio.session.scanner.scanning?.interval == interval
                }
            }
            try await passMinute()
            await emulator.stop()
            #expect(reports.first == row.use, "\(row.profile) in the state \(row.state)")
        }
    }
}
