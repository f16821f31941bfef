import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

/// How long an app may, to the nanosecond.
@Suite struct AppLifecycleTimeTests {
    /// The effects of `deadlineReached` a nanosecond before a second and at it.
    private func boundary(_ life: inout Life, second: Double) -> [String] {
        let instant = ManualClock.Instant.second(second)
        #expect(life.deadline == instant)
        #expect(life.handle(.deadlineReached, at: instant.advanced(by: .nanoseconds(-1))) == [])
        #expect(life.deadline == instant)
        return life.handle(.deadlineReached, at: instant).map(\.word)
    }

    private func suspended(_ rules: AppRules = .restorablePeripheral) -> Life {
        var life = Life(rules)
        for event in [AppEvent.radioState(.poweredOn), .enterForeground, .suspend] {
            life.handle(event, atSecond: 0)
        }
        return life
    }

    @Test(arguments: [AppRules.foregroundOnly, .restorable, .peripheral, .restorablePeripheral])
    func `an idle app is suspended five seconds after it left the screen`(rules: AppRules) {
        var life = Life(rules)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.enterBackground, atSecond: 100)
        #expect(boundary(&life, second: 105) == ["suspended"])
        #expect(life.deadline == nil)
    }

    @Test(arguments: [AppRules.foregroundOnly, .restorablePeripheral])
    func `an app that left the screen busy has five seconds, ten more, and ten throttled`(rules: AppRules) {
        var life = Life(rules)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        #expect(boundary(&life, second: 5) == [])
        #expect(boundary(&life, second: 15) == ["throttled"])
        #expect(boundary(&life, second: 25).prefix(2) == ["terminated:overran", "dropQueued"])
        #expect(life.state == .terminated)
    }

    @Test func `an event grants ten seconds, and each further one ten from then on`() {
        var life = suspended()
        life.handle(.bluetooth(.write), atSecond: 10)
        life.handle(.bluetooth(.read), atSecond: 19.5)
        life.handle(.bluetooth(.other), atSecond: 25)
        #expect(boundary(&life, second: 29.5) == ["suspended"])
    }

    @Test func `an event shortly after leaving the screen grants its ten seconds and takes none`() {
        var rules = AppRules.restorablePeripheral
        rules.suspendAfter = .seconds(60)
        var life = Life(rules)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        life.handle(.bluetooth(.read), atSecond: 1)
        #expect(life.deadline == .second(60))
        life.handle(.bluetooth(.read), atSecond: 55)
        #expect(boundary(&life, second: 65) == ["suspended"])
    }

    @Test func `an event does not grant a busy app its time twice`() {
        var life = Life(.restorablePeripheral)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        life.handle(.bluetooth(.read), atSecond: 3)
        #expect(boundary(&life, second: 13) == [])
        #expect(boundary(&life, second: 15) == ["throttled"])
    }

    @Test func `an event to an app that stayed for its work grants ten seconds to it idle`() {
        var life = Life(.restorablePeripheral)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        life.handle(.deadlineReached, atSecond: 5)
        life.handle(.bluetooth(.read), atSecond: 12)
        #expect(life.handle(.workEnded, atSecond: 13) == [])
        #expect(boundary(&life, second: 22) == ["suspended"])
    }

    private func suspended(taskTime: Duration, _ rules: AppRules = .restorablePeripheral) -> Life {
        var rules = rules
        rules.taskTime = taskTime
        return suspended(rules)
    }

    @Test func `an app that is done early is suspended early`() {
        var life = suspended(taskTime: .milliseconds(250))
        for second in stride(from: 10.0, to: 15, by: 1) {
            // It is woken for each value, and suspended between.
            #expect(life.handle(.bluetooth(.write), atSecond: second).contains(.woken(by: .write)))
            #expect(boundary(&life, second: second + 0.25) == ["suspended"])
        }
        life.handle(.bluetooth(.write), atSecond: 20)
        life.handle(.bluetooth(.write), atSecond: 20.25)
        #expect(boundary(&life, second: 20.5) == ["suspended"])
    }

    @Test(arguments: [12, 25])
    func `an app that works longer for an event is throttled after ten seconds, and terminated after twenty`(
        seconds: Int
    ) {
        var life = suspended(taskTime: .seconds(seconds))
        life.handle(.bluetooth(.write), atSecond: 0)
        #expect(boundary(&life, second: 10) == ["throttled"])
        #expect(life.deadline == .second(20))
        #expect(life.handle(.bluetooth(.write), atSecond: 11) == [.deliver], "it grants no more time")
        #expect(boundary(&life, second: 20).prefix(2) == ["terminated:overran", "dropQueued"])
    }

    @Test func `an app that works longer is not throttled while events grant it another ten seconds`() {
        var life = suspended(taskTime: .seconds(12))
        for second in 0..<30 {
            life.handle(.bluetooth(.write), atSecond: Double(second))
            #expect(life.deadline == .second(Double(second) + 10))
        }
        #expect(boundary(&life, second: 39) == ["throttled"])
        life.handle(.workBegan, atSecond: 40)
        #expect(life.handle(.workEnded, atSecond: 41) == [])
        #expect(boundary(&life, second: 49).first == "terminated:overran")
    }

    @Test func `the time before suspension counts once, from leaving the screen`() {
        var rules = AppRules.restorablePeripheral
        rules.taskTime = .seconds(1)
        var life = Life(rules)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        life.handle(.bluetooth(.write), atSecond: 2)
        #expect(boundary(&life, second: 5) == ["suspended"])
        life.handle(.bluetooth(.write), atSecond: 6)
        #expect(boundary(&life, second: 7) == ["suspended"])
    }

    @Test func `a request that is answered later keeps an app with little to do running`() {
        var life = suspended(taskTime: .seconds(1))
        life.handle(.bluetooth(.read), atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        #expect(boundary(&life, second: 1) == [])
        #expect(life.deadline == .second(10))
        #expect(life.handle(.workEnded, atSecond: 4) == [.suspended])
        life.handle(.bluetooth(.read), atSecond: 20)
        life.handle(.workBegan, atSecond: 20)
        #expect(life.handle(.workEnded, atSecond: 20.5) == [])
        #expect(boundary(&life, second: 21) == ["suspended"])
    }

    @Test func `work that ends in time leaves the app its time`() {
        var life = suspended()
        life.handle(.bluetooth(.read), atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        #expect(life.handle(.workEnded, atSecond: 9) == [])
        #expect(boundary(&life, second: 10) == ["suspended"])
    }

    @Test func `work that ends after the time for none suspends at once`() {
        var life = Life(.foregroundOnly)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        life.handle(.deadlineReached, atSecond: 5)
        #expect(life.handle(.workEnded, atSecond: 8) == [.suspended])
    }

    @Test func `a throttled app is suspended when the last piece of its work ends`() {
        var life = suspended()
        life.handle(.bluetooth(.read), atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.workBegan, atSecond: 1)
        #expect(boundary(&life, second: 10) == ["throttled"])
        #expect(life.handle(.workEnded, atSecond: 12) == [])
        #expect(life.isThrottled)
        #expect(life.handle(.workEnded, atSecond: 13) == [.suspended])
        #expect(!life.isThrottled)
        #expect(life.advertisingMode == .background)
    }

    @Test func `an event reaches a throttled app and grants it nothing`() {
        var life = suspended()
        life.handle(.bluetooth(.read), atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.deadlineReached, atSecond: 10)
        #expect(life.handle(.bluetooth(.read), atSecond: 15) == [.deliver])
        #expect(boundary(&life, second: 20) == ["terminated:overran", "dropQueued"])
        #expect(
            life.handle(.bluetooth(.read), atSecond: 21).map(\.word)
                == ["launchedInBackgroundRestoring", "woken:read", "deliver"])
        #expect(boundary(&life, second: 31) == ["suspended"], "the work ended with the process")
    }

    @Test func `the user's return ends throttling, and leaving the screen starts the time anew`() {
        var life = suspended()
        life.handle(.bluetooth(.read), atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.deadlineReached, atSecond: 10)
        #expect(life.handle(.enterForeground, atSecond: 12) == [.enteredForeground, .deliverQueued])
        #expect(life.deadline == nil && !life.isThrottled)
        life.handle(.enterBackground, atSecond: 100)
        #expect(boundary(&life, second: 105) == [])
        #expect(boundary(&life, second: 115) == ["throttled"])
    }

    @Test func `work that a suspension cut off is under way again after the next wake`() {
        var life = suspended()
        life.handle(.bluetooth(.read), atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        #expect(life.handle(.suspend, atSecond: 1) == [.suspended])
        life.handle(.bluetooth(.read), atSecond: 20)
        #expect(boundary(&life, second: 30) == ["throttled"])
    }

    @Test func `a deadline that is told late is acted on once, with the time that is left from then`() {
        var life = Life(.foregroundOnly)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        #expect(life.handle(.deadlineReached, atSecond: 40) == [.throttled])
        #expect(life.deadline == .second(50))
        #expect(life.handle(.deadlineReached, atSecond: 40) == [])
    }

    @Test func `work that never began does not end`() {
        var life = suspended()
        life.handle(.workEnded, atSecond: 0)
        life.handle(.bluetooth(.read), atSecond: 1)
        life.handle(.workBegan, atSecond: 1)
        #expect(boundary(&life, second: 11) == ["throttled"])
    }

    @Test func `an app that is given no time at all is due at once`() {
        var rules = AppRules.restorablePeripheral
        (rules.suspendAfter, rules.wakeAllowance, rules.throttledAllowance) = (.zero, .zero, .zero)
        var life = Life(rules)
        life.handle(.enterForeground, atSecond: 0)
        life.handle(.workBegan, atSecond: 0)
        life.handle(.enterBackground, atSecond: 0)
        #expect(life.handle(.deadlineReached, atSecond: 0) == [.throttled])
        #expect(life.handle(.deadlineReached, atSecond: 0) == [.terminated(.overran), .dropQueued])
        #expect(life.deadline == nil)
    }
}
