import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Apps that use AccessorySetupKit.
@Suite(.timeLimit(.minutes(5))) struct AccessoryTests {
    private static func strap(_ name: String) -> String {
        """
        mynah: 1
        name: \(name)
        advertising: {localName: \(name), serviceUUIDs: [180D], interval: 30 ms}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A38, properties: [read], value: {hex: "01"}, permissions: {read: encrypted}}
        """
    }

    private static func app(iOS: Int, _ peripherals: String = "[{name: Strap, read: [180D/2A38]}]") -> String
    {
        """
        mynah: 1
        name: Setup
        app:
          iOS: \(iOS)
          backgroundModes: [bluetooth-central]
          accessorySetup: [{serviceUUID: 180D}]
        central:
          restoreIdentifier: setup
          scan: {services: [180D]}
          peripherals: \(peripherals)
        """
    }

    private static func play(
        _ iOS: Int, _ actions: [String], in folder: TemporaryDirectory? = nil
    ) async throws -> RunLog {
        try await RunRig.playFast([app(iOS: iOS), strap("Strap")], actions: actions, in: folder)
    }

    private static func warnings(_ log: RunLog) -> [String] {
        log.events(.warning).compactMap { $0.string("code") }
    }

    /// The causes that end an app, or the phone's Bluetooth, while its strap is away.
    private static func actions(for cause: RelaunchCause) -> [String] {
        switch cause {
        case .terminated, .crash, .quit: ["6s=Setup:\(cause.rawValue)"]
        case .restart: ["6s=Setup:restart", "8s=Setup:unlock"]
        case .settingsOff, .controlCenterOff, .airplaneMode:
            ["6s=Setup:terminated", "7s=Setup:\(cause.rawValue)", "8s=Setup:poweredOn"]
        }
    }

    @Test(arguments: RelaunchCause.allCases, [25, 26])
    func `an app with accessories is relaunched where iOS excepts it`(
        cause: RelaunchCause, version: Int
    ) async throws {
        let log = try await Self.play(
            version,
            ["1s=Strap:accessory", "3s=Strap:outOfRange"] + Self.actions(for: cause) + ["10s=Strap:inRange"])
        let isRelaunched = log.events(.appLaunched).contains { $0["inBackground"] == .bool(true) }
        let rule = IOSVersion(version).relaunch(after: cause)
        #expect(isRelaunched == rule.allowsRelaunch(withAccessorySetup: true))
        #expect(log.events(.accessoryAdded).map { $0.string("as") } == ["Strap"])
    }

    @Test func `settings that are turned off end what a quit left to an app with accessories`() async throws {
        let log = try await Self.play(
            26,
            [
                "1s=Strap:accessory", "3s=Strap:outOfRange", "6s=Setup:quit", "7s=Setup:settingsOff",
                "8s=Setup:poweredOn", "10s=Strap:inRange",
            ])
        #expect(log.events(.appNotRelaunched).map { $0.string("by") } == ["settingsOff"])
        #expect(!log.events(.appLaunched).contains { $0["inBackground"] == .bool(true) })
    }

    @Test func `a picker that cannot be shown says why, without names of the Swift API`() async throws {
        let log = try await Self.play(18, ["1s=Setup:poweredOff", "2s=Strap:accessory"])
        let messages = log.events(.warning).filter { $0.string("code") == "accessoryNotAdded" }
            .compactMap { $0.string("message") }
        #expect(
            messages == ["Bluetooth is not on, and the picker needs it: turn it on first (poweredOn)"])
    }

    @Test func `an action on a peripheral that no profile names lists those that there are`() throws {
        var plan = try RunRig.plan([Self.app(iOS: 18)])
        let action = try PlannedAction(parsing: "1s=Belt:accessory")
        let error = #expect(throws: (any Error).self) { try plan.add([action], until: [], scenario: nil) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("and the peripherals of apps") && text.contains("Strap"), "\(text)")
    }

    @Test func `a device is picked once, until it is removed`() async throws {
        let log = try await Self.play(18, ["1s=Strap:accessory", "4s=Strap:accessory"])
        #expect(log.events(.accessoryAdded).count == 1)
        #expect(Self.warnings(log) == ["accessoryNotAdded"])
    }

    @Test(arguments: ["quit", "crash", "terminated", "restart"])
    func `a picker that ends with its app says so`(end: String) async throws {
        let log = try await Self.play(
            18, ["1s=Strap:outOfRange", "2s=Strap:accessory", "3s=Setup:\(end)", "10s=Strap:inRange"])
        let messages = log.events(.warning).filter { $0.string("code") == "accessoryNotAdded" }
            .compactMap { $0.string("message") }
        #expect(messages == ["Setup has ended, and the picker that it showed with it"])
        #expect(log.events(.accessoryAdded).isEmpty)
    }

    @Test func `a kept accessory can be removed before its app runs, and loses its bond`() async throws {
        let folder = try TemporaryDirectory()
        let first = try await Self.play(18, ["1s=Strap:accessory"], in: folder)
        let address = first.events(.accessoryAdded).first?.string("address")
        #expect(first.events(.paired).contains { $0.string("device") == "Setup" })
        // The strap is away, so that nothing relaunches the app.
        let second = try await RunRig.playFast(
            [Self.app(iOS: 18)], actions: ["1s=Strap:removeAccessory", "2s=Strap:removeAccessory"],
            in: folder, state: .terminated)
        // The user's removal is nothing that the app waits for.
        #expect(second.events(.appLaunched).isEmpty)
        #expect(second.events(.accessoryRemoved).map { $0.string("as") } == ["Strap"])
        #expect(second.events(.accessoryRemoved).first?.string("address") == address)
        #expect(Self.warnings(second).filter { $0 == "accessoryNotRemoved" }.count == 1)
        let third = try await Self.play(18, ["3s=Strap:accessory"], in: folder)
        let names = third.names
        let added = try #require(names.firstIndex(of: .accessoryAdded))
        let connected = try #require(names.firstIndex(of: .peripheralConnected))
        #expect(added < connected)
        // It has no bond with the phone, and gets one.
        #expect(third.events(.paired).contains { $0.string("device") == "Setup" })
    }

    @Test func `an accessory of an earlier run loses its bond while it is away`() async throws {
        let folder = try TemporaryDirectory()
        _ = try await Self.play(18, ["1s=Strap:accessory"], in: folder)
        let second = try await RunRig.playFast(
            [Self.app(iOS: 18)], actions: ["1s=Strap:removeAccessory"], in: folder)
        #expect(second.events(.accessoryRemoved).map { $0.string("as") } == ["Strap"])
        let third = try await Self.play(18, ["1s=Strap:accessory"], in: folder)
        #expect(third.events(.paired).contains { $0.string("device") == "Setup" })
    }

    @Test func `a device without a bond cannot be forgotten, and its link stays`() async throws {
        let strap = Self.strap("Strap").replacing(", permissions: {read: encrypted}", with: "")
        let app = Self.app(iOS: 17)
        let log = try await RunRig.playFast([app, strap], actions: ["3s=Strap:forget"])
        #expect(log.events(.valueRead).count == 1)
        #expect(log.events(.peripheralDisconnected).isEmpty)
        #expect(Self.warnings(log).contains("notForgotten"))
        let bonded = try await RunRig.playFast([app, Self.strap("Strap")], actions: ["3s=Strap:forget"])
        #expect(bonded.events(.peripheralDisconnected).count == 1)
    }

    @Test func `before iOS 18 the app asks for its permission, and has no picker`() async throws {
        let log = try await Self.play(17, ["1s=Strap:accessory"])
        #expect(Self.warnings(log) == ["accessoryNotAdded"])
        #expect(log.events(.valueRead).count == 1 && log.events(.accessoryAdded).isEmpty)
    }

    @Test func `an accessory is bonded without a question, and its bond is deleted with it`() async throws {
        let log = try await Self.play(
            18, ["1s=Strap:accessory", "4s=Strap:removeAccessory", "6s=Strap:accessory"])
        #expect(log.events(.paired).filter { $0.string("device") == "Setup" }.count == 2)
        #expect(log.events(.valueRead).count == 2)
        #expect(log.events(.alertShown).isEmpty)
        #expect(log.events(.accessoryRemoved).map { $0.string("as") } == ["Strap"])
        let states = log.events(.stateChanged).filter { $0.string("device") == "Setup" }
        #expect(
            states.compactMap { $0.string("state") } == [
                "poweredOff", "poweredOn", "poweredOff", "poweredOn",
            ])
        #expect(Self.warnings(log).isEmpty)
    }

    @Test func `each of two accessories is picked by its name`() async throws {
        let peripherals =
            "[{name: One, match: {localName: One}, read: [180D/2A38]}, "
            + "{name: Two, match: {localName: Two}, read: [180D/2A38]}]"
        let log = try await RunRig.playFast(
            [Self.app(iOS: 18, peripherals), Self.strap("One"), Self.strap("Two")],
            actions: [
                "1s=Two:accessory", "4s=Setup:accessory", "8s=One:accessory", "12s=Two:removeAccessory",
            ])
        #expect(log.events(.accessoryAdded).map { $0.string("as") } == ["Two", "One"])
        #expect(log.events(.valueRead).map { $0.string("as") } == ["Two", "One"])
        #expect(log.events(.peripheralDisconnected).map { $0.string("as") } == ["Two"])
        // A name is needed, because there are two.
        #expect(Self.warnings(log) == ["accessoryNotAdded"])
    }

    @Test func `the picker is shown by an app on the screen, with Bluetooth on`() async throws {
        let actions = [
            "1s=Setup:background", "2s=Strap:accessory", "3s=Setup:foreground", "4s=Strap:outOfRange",
            "5s=Strap:accessory", "6s=Strap:accessory", "7s=Setup:poweredOff", "8s=Strap:accessory",
            "9s=Strap:removeAccessory",
        ]
        let log = try await Self.play(18, actions)
        #expect(
            Self.warnings(log) == [
                "accessoryNotAdded", "accessoryNotAdded", "accessoryNotAdded", "accessoryNotAdded",
                "accessoryNotRemoved",
            ])
        let messages = log.events(.warning).compactMap { $0.string("message") }
        #expect(messages[0].contains("is not on the screen"))
        #expect(messages[1].contains("shows a picker already"))
        #expect(messages[2].contains("turned off while the picker was shown"))
    }

    @Test func `accessories are those of the next run`() async throws {
        let folder = try TemporaryDirectory()
        _ = try await Self.play(18, ["1s=Strap:accessory"], in: folder)
        let log = try await Self.play(18, [], in: folder)
        #expect(log.events(.accessoryAdded).isEmpty)
        #expect(log.events(.valueRead).map { $0.string("as") } == ["Strap"])
    }

    @Test func `a request shows the picker and removes, and a reset forgets`() async throws {
        let rig = try await APIRig([Self.strap("Strap"), Self.app(iOS: 18)])
        func send(_ body: String, to device: String = "Setup") async throws -> APIRig.Answer {
            try await rig.send("POST /v1/devices/\(device)/app", body)
        }
        #expect(try await send(#"{"state": "removeAccessory"}"#).detail == "Strap is no accessory of Setup")
        #expect(try await send(#"{"state": "accessory", "peripheral": "Strop"}"#).status == 404)
        #expect(try await send(#"{"state": "background", "peripheral": "Strap"}"#).status == 400)
        #expect(try await send(#"{"state": "accessory"}"#, to: "Strap").status == 409)
        #expect(try await send(#"{"state": "accessory"}"#).status == 200)
        try await rig.run.log.wait(for: .valueRead)
        #expect(try await rig.send("POST /v1/reset").status == 200)
        try await rig.run.log.wait(for: .accessoryRemoved)
        #expect(try await send(#"{"state": "accessory", "peripheral": "Strap"}"#).status == 200)
        try await rig.run.log.wait(for: .accessoryAdded, count: 2)
        #expect(try await send(#"{"state": "removeAccessory"}"#).status == 200)
        try await rig.run.log.wait(for: .accessoryRemoved, count: 2)
        await rig.stop()
    }
}
