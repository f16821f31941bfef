import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@testable import Mynah

/// The file about what forbids a phone's system to relaunch apps.
@Suite(.timeLimit(.minutes(5))) struct RelaunchFileTests {
    @Test func `a file has all that is known`() throws {
        var ledger = RelaunchLedger()
        for cause in [RelaunchCause.settingsOff, .controlCenterOff] { ledger.turnOff(by: cause) }
        ledger.turnOn()
        ledger.runs("B")
        ledger.note(.restart)
        ledger.runs("A")
        ledger.turnOff(by: .airplaneMode)
        #expect(try RelaunchLedger(json: ledger.json) == ledger)
        #expect(try RelaunchLedger(json: RelaunchLedger().json) == RelaunchLedger())
    }

    @Test(arguments: [
        ("", "it is not JSON"), ("{}", "it has no version"), (#"{"mynahState": 2}"#, "version 2"),
        (#"{"mynahState": 1}"#, "turnedOff is missing"),
        (#"{"mynahState": 1, "turnedOff": ["x"]}"#, "\"x\" is no cause"),
        (#"{"mynahState": 1, "turnedOff": [], "causes": []}"#, "causes are missing"),
        (#"{"mynahState": 1, "turnedOff": [], "causes": {"x": 1}, "apps": {}}"#, "\"x\" is no cause"),
        (
            #"{"mynahState": 1, "turnedOff": [], "causes": {"quit": 9223372036854775807}, "apps": {}}"#,
            "quit of causes has no number from 0"
        ),
        (
            #"{"mynahState": 1, "turnedOff": [], "causes": {}, "apps": {"A": 2, "B": 1}}"#,
            "B of apps has no number from 2"
        ),
    ])
    func `a damaged file is set aside, and nothing is forbidden`(
        text: String, reason: String
    ) async throws {
        let temporary = try TemporaryDirectory()
        try temporary.write(text, to: "relaunch.json")
        let rig = try await AppRig(
            restoreIdentifier: "main", directory: try StateDirectory(path: temporary.path), publishes: false)
        #expect(await PhoneControl.relaunchLedger(of: rig.phone) == RelaunchLedger())
        #expect(temporary.files.contains("relaunch.json.unusable-1"))
        let warnings = rig.sink.phoneEvents.compactMap { event in
            if case .warning(let warning) = event { warning } else { nil }
        }
        #expect(warnings.map(\.code) == ["relaunchUnusable"])
        #expect(warnings.first?.message.contains(reason) == true, "\(warnings)")
        await rig.phone.stop()
    }

    @Test func `an app that may not be relaunched is not restored either, at once and later`() async throws {
        let temporary = try TemporaryDirectory()
        func run(_ body: (AppRig) async throws -> Void) async throws {
            let directory = try StateDirectory(path: temporary.path)
            let rig = try await AppRig(restoreIdentifier: "main", directory: directory, publishes: false)
            try await body(rig)
            await rig.phone.stop()
        }
        try await run { try await $0.publish() }
        try await run { rig in
            #expect(rig.code.restored.count == 1)
            await rig.app.terminate()
            rig.code.forget()
            let access = rig.app.access
            let couldBe = await rig.phone.forbidRelaunch(access)
            #expect(couldBe)
            // The file may still be there.
            await rig.app.enterForeground()
            #expect(rig.code.words == ["launched", "state poweredOn", "foreground"])
        }
        try await run { #expect($0.code.restored.isEmpty) }
    }
}

extension Phone {
    fileprivate func forbidRelaunch(_ access: AppAccess) -> Bool { access.forbidRelaunch() }
}
