import MynahCore
import Testing

@testable import MynahLifecycle

@Suite struct RelaunchRuleTests {
    private typealias Life = AppLifecycle<ContinuousClock.Instant>

    /// Each cause, and what iOS 10 and earlier, 11 to 25 and from 26 on do after it.
    @Test(
        arguments: [
            (.terminated, .yes, .yes, .yes), (.crash, .yes, .yes, .yes),
            (.quit, .no, .no, .accessorySetupKit), (.settingsOff, .no, .no, .no),
            (.controlCenterOff, .no, .yes, .accessorySetupKit), (.airplaneMode, .no, .no, .no),
            (.restart, .no, .afterUnlock, .afterUnlock),
        ] as [(RelaunchCause, RelaunchRule, RelaunchRule, RelaunchRule)])
    func `each cause has the rule of technote TN3115 for each version`(
        cause: RelaunchCause, old: RelaunchRule, usual: RelaunchRule, new: RelaunchRule
    ) {
        for (versions, rule) in [(7...10, old), (11...25, usual), (26...99, new)] {
            for version in versions { #expect(IOSVersion(version).relaunch(after: cause) == rule) }
        }
    }

    /// An app with both roles that was on the screen before this.
    private static func life(after events: [AppEvent]) -> Life {
        var rules = AppRules(isPeripheral: true, isRestorable: true)
        rules.backgroundModes.insert(.bluetoothCentral)
        rules.isCentralRestorable = true
        var life = Life(rules)
        for event in [.radioState(.poweredOn), .enterForeground] + events {
            _ = life.handle(event, at: .now)
        }
        return life
    }

    @Test(arguments: [
        (RelaunchCause.terminated, AppEvent.terminate), (.crash, .crash), (.quit, .quit),
        (.restart, .phoneRestarted),
    ])
    func `the life of an app follows the rules for its end`(cause: RelaunchCause, event: AppEvent) {
        let isRelaunched = IOSVersion(17).relaunch(after: cause).allowsRelaunch
        for kind in [BluetoothEvent.write, .connected] {
            var life = Self.life(after: [event])
            #expect(life.isKept == isRelaunched)
            _ = life.handle(.bluetooth(kind), at: .now)
            #expect(life.isRunning == isRelaunched)
        }
    }

    @Test(arguments: [[], [.enterBackground], [.suspend]] as [[AppEvent]])
    func `a restart of the phone ends an app that is in memory, and no other`(before: [AppEvent]) {
        var life = Self.life(after: before)
        let first = life.handle(.phoneRestarted, at: .now).first
        #expect(first == .terminated(.restart))
        #expect(life.handle(.phoneRestarted, at: .now) == [])
        var quit = Self.life(after: [.quit])
        #expect(quit.handle(.phoneRestarted, at: .now) == [] && quit.state == .quit)
    }

    @Test func `nothing but its user launches an app that is not to be relaunched`() {
        var life = Self.life(after: [.terminate])
        #expect(life.advertisingMode == .background)
        #expect(
            life.handle(.relaunchForbidden, at: .now) == [
                .stopAdvertising(forget: true), .withdrawServices(forget: true), .forgetPreservedState,
            ])
        #expect(!life.isKept && life.advertisingMode == .off && life.state == .terminated)
        for kind in BluetoothEvent.allCases { _ = life.handle(.bluetooth(kind), at: .now) }
        for state in [RadioState.poweredOff, .poweredOn] {
            #expect(!life.handle(.radioState(state), at: .now).contains(.resumeAdvertising))
        }
        #expect(life.state == .terminated)
        #expect(life.handle(.relaunchForbidden, at: .now) == [])
        _ = life.handle(.enterForeground, at: .now)
        // It is relaunched again when it has ended the next time.
        _ = life.handle(.terminate, at: .now)
        #expect(life.isKept)
    }

    @Test func `the central of an app with accessories outlives a quit, and no other`() {
        var rules = AppRules(isPeripheral: true, isRestorable: true)
        rules.backgroundModes.insert(.bluetoothCentral)
        (rules.isCentralRestorable, rules.isRelaunchedAfterQuit) = (true, true)
        func life(_ events: [AppEvent]) -> Life {
            var life = Life(rules)
            for event in [.radioState(.poweredOn), .enterForeground] + events {
                _ = life.handle(event, at: .now)
            }
            return life
        }
        var quit = life([.quit])
        #expect(quit.state == .quit && quit.isKept(for: .central) && !quit.isKept(for: .peripheral))
        #expect(quit.advertisingMode == .off && quit.handle(.bluetooth(.write), at: .now) == [.refuse])
        #expect(
            quit.handle(.bluetooth(.connected), at: .now) == [
                .launched(inBackground: true, restoring: true), .woken(by: .connected), .deliver,
            ])
        var forbidden = life([.quit])
        #expect(forbidden.handle(.relaunchForbidden, at: .now).contains(.forgetPreservedState))
        #expect(!forbidden.isKept && forbidden.state == .quit)
        // A manager that was given up before does not come back.
        #expect(!life([.terminate, .relaunchForbidden, .quit]).isKept)
        #expect(
            ScanMode(scanIn: .quit, rules, isRestorable: true, radioState: .poweredOn) == .background)
        rules.isRelaunchedAfterQuit = false
        #expect(ScanMode(scanIn: .quit, rules, isRestorable: true, radioState: .poweredOn) == .off)
        #expect(!life([.quit]).isKept)
    }

    @Test(arguments: [[], [.enterBackground], [.suspend], [.quit]] as [[AppEvent]])
    func `the rules for relaunching concern terminated apps alone`(before: [AppEvent]) {
        var life = Self.life(after: before)
        let state = life.state
        #expect(life.handle(.relaunchForbidden, at: .now) == [] && life.state == state)
    }
}
