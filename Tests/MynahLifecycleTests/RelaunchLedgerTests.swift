import MynahCore
import Testing

@testable import MynahLifecycle

@Suite struct RelaunchLedgerTests {
    /// A phone whose Bluetooth was turned off like this, and on again.
    private static func ledger(after causes: RelaunchCause...) -> RelaunchLedger {
        var ledger = RelaunchLedger()
        for cause in causes {
            ledger.turnOff(by: cause)
            ledger.turnOn()
        }
        return ledger
    }

    @Test(
        arguments: [
            (.settingsOff, 17, .settingsOff), (.controlCenterOff, 17, nil),
            (.controlCenterOff, 10, .controlCenterOff), (.controlCenterOff, 26, .controlCenterOff),
            (.airplaneMode, 17, .airplaneMode), (.restart, 17, nil), (.restart, 10, .restart),
        ] as [(RelaunchCause, Int, RelaunchCause?)])
    func `a cause forbids to relaunch what has not run since, by the version of iOS`(
        cause: RelaunchCause, version: Int, forbidding: RelaunchCause?
    ) {
        var ledger = RelaunchLedger()
        ledger.turnOff(by: cause)
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(version)) == nil)
        ledger.turnOn()
        ledger.runs("B")
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(version)) == forbidding)
        #expect(ledger.cause(forbidding: "B", on: IOSVersion(version)) == nil)
        ledger.runs("A")
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(version)) == nil)
    }

    @Test func `the first cause that forbids is named, and a later one concerns an app that ran between`() {
        var ledger = Self.ledger(after: .controlCenterOff, .settingsOff, .airplaneMode)
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(17)) == .settingsOff)
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(10)) == .controlCenterOff)
        ledger.runs("A")
        ledger.note(.restart)
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(17)) == nil)
        #expect(ledger.cause(forbidding: "A", on: IOSVersion(10)) == .restart)
    }

    @Test func `Bluetooth that was not turned off is no cause`() {
        var ledger = RelaunchLedger()
        ledger.turnOff(by: .settingsOff)
        ledger.cancelTurnOff(by: .settingsOff)
        ledger.turnOff(by: .airplaneMode)
        ledger.forgetTurnedOff()
        ledger.turnOn()
        #expect(ledger == RelaunchLedger())
    }

    @Test func `of too many apps those that ran last are known`() {
        var ledger = Self.ledger(after: .settingsOff)
        for number in 0...RelaunchLedger.limit { ledger.runs("\(number)") }
        #expect(ledger.apps.count == RelaunchLedger.limit)
        #expect(ledger.cause(forbidding: "0", on: IOSVersion(17)) == .settingsOff)
        #expect(ledger.cause(forbidding: "1", on: IOSVersion(17)) == nil)
        let apps = (0...RelaunchLedger.limit).map { RelaunchLedger.KnownApp("\($0)", 1) }
        let kept = RelaunchLedger(turnedOff: [], causes: ledger.causes, apps: apps)
        #expect(kept == ledger)
    }
}
