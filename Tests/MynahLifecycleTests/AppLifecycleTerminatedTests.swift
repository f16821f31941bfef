import MynahCore
import Testing

@testable import MynahLifecycle

@Suite struct AppLifecycleTerminatedTests {
    private static func life(isRestorable: Bool, _ modes: Set<BackgroundMode>) -> AppLifecycle<
        ContinuousClock.Instant
    > {
        var rules = AppRules()
        rules.isRestorable = isRestorable
        rules.backgroundModes = modes
        return AppLifecycle(terminated: rules)
    }

    @Test func `an app that was ended before the phone was restarted is as one that was ended now`() {
        for (isRestorable, modes) in [
            (true, [.bluetoothPeripheral]), (true, []), (false, [.bluetoothPeripheral]), (false, []),
        ] as [(Bool, Set<BackgroundMode>)] {
            let now = ContinuousClock.now
            var life = Self.life(isRestorable: isRestorable, modes)
            var ended = AppLifecycle<ContinuousClock.Instant>(life.rules)
            for event in [.transition(.enterForeground), .transition(.terminate)] as [AppEvent] {
                _ = ended.handle(event, at: now)
            }
            #expect(life.state == .terminated)
            for event in [.radioState(.poweredOn), .bluetooth(.other), .bluetooth(.read)] as [AppEvent] {
                #expect(life.handle(event, at: now) == ended.handle(event, at: now))
                #expect(life.state == ended.state)
                #expect(life.advertisingMode == ended.advertisingMode)
            }
            #expect(life.isRunning == (isRestorable && !modes.isEmpty))
        }
    }
}
