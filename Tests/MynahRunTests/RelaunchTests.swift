import Mynah
import MynahControl
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Runs whose phone is turned off, restarted and locked by its user (technote TN3115).
@Suite(.timeLimit(.minutes(5))) struct RelaunchTests {
    private static let strap = """
        mynah: 1
        name: Strap
        advertising: {localName: Strap, serviceUUIDs: [180D], interval: 30 ms}
        services:
          - uuid: 180D
            characteristics: [{uuid: 2A37, properties: [notify], value: {hex: "0048"}}]
        """

    /// An app of both roles that waits for the strap, and advertises.
    private static func app(iOS: Int) -> String {
        """
        mynah: 1
        name: App
        app:
          backgroundModes: [bluetooth-peripheral, bluetooth-central]
          restoreIdentifier: advertiser
          iOS: \(iOS)
        advertising: {serviceUUIDs: [FFE0]}
        services:
          - {uuid: FFE0, characteristics: [{uuid: FFE1, properties: [read, write], value: {hex: "00"}}]}
        central:
          restoreIdentifier: watcher
          scan: {services: [180D]}
          peripherals: [{name: Strap, subscribe: [180D/2A37]}]
        """
    }

    /// Another phone's app, which writes to the first one now and then.
    private static let writer = """
        mynah: 1
        name: Writer
        phone: {name: Other}
        app: {}
        central:
          scan: {services: [FFE0], until: never}
          peripherals:
            - name: Peer
              match: {services: [FFE0]}
              write: [{to: FFE0/FFE1, value: {hex: "01"}, every: 2 s}]
              onDisconnect: reconnect
        """

    /// How an app ends, what its user does, and how Bluetooth is on and the phone unlocked again.
    private static func actions(for cause: RelaunchCause) -> [String] {
        switch cause {
        case .terminated, .crash, .quit: ["6s=App:\(cause.rawValue)"]
        case .restart: ["6s=App:restart", "8s=App:unlock"]
        case .settingsOff, .controlCenterOff, .airplaneMode:
            ["6s=App:terminated", "7s=App:\(cause.rawValue)", "8s=App:poweredOn"]
        }
    }

    private static func wasRelaunched(_ log: RunLog) -> Bool {
        log.events(.appLaunched).contains { $0["inBackground"] == .bool(true) }
    }

    @Test(arguments: RelaunchCause.allCases, IOSVersion.relaunchVersions)
    func `a phone relaunches an app by the cause and by the version of iOS`(
        cause: RelaunchCause, version: Int
    ) async throws {
        let rule = IOSVersion(version).relaunch(after: cause)
        let log = try await RunRig.playFast(
            [Self.app(iOS: version), Self.strap],
            actions: ["3s=Strap:outOfRange"] + Self.actions(for: cause) + ["10s=Strap:inRange"])
        #expect(Self.wasRelaunched(log) == rule.allowsRelaunch)
        // It waited for the strap until then.
        #expect(log.events(.peripheralConnecting).count >= 2)
        let forbidden = log.events(.appNotRelaunched).map { $0.string("by") ?? "" }
        let isOfPhone = ![.terminated, .crash, .quit].contains(cause)
        #expect(forbidden == (isOfPhone && !rule.allowsRelaunch ? [cause.rawValue] : []))
        // The end of the run stops the advertising after this report.
        let last = log.names.prefix { $0 != .radioUsed }.last {
            [.advertisingStarted, .advertisingStopped].contains($0)
        }
        #expect((last == .advertisingStarted) == rule.allowsRelaunch)
    }

    /// Returns whether the app is relaunched in a run that begins with it terminated, and in which the strap
    /// is there; `cause` is why it is not.
    private static func wasRelaunched(
        in folder: TemporaryDirectory, iOS: Int, forbiddenBy cause: RelaunchCause? = nil
    ) async throws -> Bool {
        let log = try await RunRig.playFast([app(iOS: iOS), strap], in: folder, state: .terminated)
        let forbidden = log.events(.appNotRelaunched).map { $0.string("by") ?? "" }
        #expect(forbidden == (cause.map { [$0.rawValue] } ?? []))
        return wasRelaunched(log)
    }

    @Test(
        arguments: [
            (.settingsOff, 17, false), (.airplaneMode, 17, false), (.controlCenterOff, 17, true),
            (.controlCenterOff, 26, false), (.controlCenterOff, 10, false),
        ] as [(RelaunchCause, Int, Bool)])
    func `a cause that forbids a relaunch is kept over runs, until the user opens the app`(
        cause: RelaunchCause, version: Int, allowsRelaunch: Bool
    ) async throws {
        let folder = try TemporaryDirectory()
        let by = allowsRelaunch ? nil : cause
        // Bluetooth is still off when the first run ends.
        let first = try await RunRig.playFast(
            [Self.app(iOS: version), Self.strap], seconds: 6,
            actions: ["2s=Strap:outOfRange", "3s=App:terminated", "4s=App:\(cause.rawValue)"], in: folder)
        #expect(first.events(.appNotRelaunched).isEmpty)
        for _ in 0..<2 {
            let isRelaunched = try await Self.wasRelaunched(in: folder, iOS: version, forbiddenBy: by)
            #expect(isRelaunched == allowsRelaunch)
        }
        let opened = try await RunRig.playFast(
            [Self.app(iOS: version), Self.strap], seconds: 4, actions: ["2s=Strap:outOfRange"], in: folder)
        #expect(opened.names.contains(.appRestored) == allowsRelaunch)
        #expect(opened.events(.stateChanged).first?.string("state") == "poweredOn")
        // A restart of the phone forbids it up to iOS 10.
        let last: RelaunchCause? = version <= 10 ? .restart : nil
        #expect(try await Self.wasRelaunched(in: folder, iOS: version, forbiddenBy: last) == (last == nil))
    }

    @Test(arguments: [10, 11])
    func `an app that begins as terminated is relaunched unless a restart of the phone forbids it`(
        version: Int
    ) async throws {
        let folder = try TemporaryDirectory()
        _ = try await RunRig.playFast(
            [Self.app(iOS: version), Self.strap], seconds: 4, actions: ["2s=Strap:outOfRange"], in: folder)
        let by: RelaunchCause? = version <= 10 ? .restart : nil
        #expect(try await Self.wasRelaunched(in: folder, iOS: version, forbiddenBy: by) == (by == nil))
    }

    @Test func `before the first unlock after a restart no event relaunches an app`() async throws {
        let actions = ["2s=App:restart", "3s=Strap:inRange", "20s=App:unlock"]
        let log = try await RunRig.playFast(
            [Self.app(iOS: 17), Self.strap, Self.writer], seconds: 30,
            actions: ["1s=Strap:outOfRange"] + actions)
        let names = log.names
        let unlocked = try #require(names.lastIndex(of: .phoneChanged))
        let restarted = try #require(names.firstIndex(of: .phoneChanged))
        #expect(!names[restarted..<unlocked].contains(.appLaunched))
        #expect(!names[restarted..<unlocked].contains(.advertisingStarted))
        #expect(names[unlocked...].contains(.appLaunched) && names[unlocked...].contains(.write))
        #expect(log.events(.appTerminated).map { $0.string("reason") ?? "" } == ["restart"])
    }

    @Test func `a device that was connected when the phone restarted is waited for`() async throws {
        let log = try await RunRig.playFast(
            [Self.app(iOS: 17), Self.strap], actions: ["6s=App:restart", "9s=App:unlock"])
        #expect(Self.wasRelaunched(log))
        #expect(log.events(.appWoken).map { $0.string("by") ?? "" } == ["connected"])
        #expect(log.events(.peripheralConnected).count == 2)
    }

    @Test(arguments: ["foreground", "unlock"])
    func `a user who opens an app or unlocks the phone turns the screen on, too`(
        word: String
    ) async throws {
        let log = try await RunRig.playFast(
            [Self.app(iOS: 17)], seconds: 5,
            actions: ["1s=screenOff", "2s=restart", "3s=\(word)", "4s=unlock"])
        #expect(
            log.events(.phoneChanged).map { $0.string("by") ?? "" } == [
                "screenOff", "restart", "screenOn", "unlock",
            ])
        #expect(log.events(.warning).map { $0.string("code") ?? "" } == ["notLocked"])
        #expect(log.events(.stateChanged).last?.string("state") == "poweredOn")
        #expect(log.names.contains(.appBackground))
    }

    @Test func `a request does to a phone what a plan does, and to no accessory`() async throws {
        let phone = Self.app(iOS: 17).replacing("name: App", with: "name: App\nphone: {name: Anna}")
        let rig = try await APIRig([phone, RunRig.lock])
        func send(_ device: String, _ state: String) async throws -> APIRig.Answer {
            try await rig.send("POST /v1/devices/\(device)/app", #"{"state": "\#(state)"}"#)
        }
        for word in PhoneChange.allCases.map(\.rawValue) {
            #expect(try await send("Anna", word).status == 200, "\(word)")
            #expect(try await send("Lock", word).detail == "Lock is an accessory: no app plays it")
        }
        #expect(try await send("Anna", "settingsOf").status == 400)
        await rig.stop()
    }
}
