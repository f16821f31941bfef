import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

/// The fate of adverts, centrals and services while Bluetooth is off.
@Suite struct AppLifecycleRadioTests {
    /// Each step from one Bluetooth state to another, of an app on the screen.
    private static let steps = """
        unknown       unknown
        unknown       resetting     deliver
        unknown       unsupported   deliver
        unknown       unauthorized  deliver
        unknown       poweredOff    deliver
        unknown       poweredOn     deliver
        resetting     unknown       deliver
        resetting     resetting
        resetting     unsupported   deliver
        resetting     unauthorized  deliver
        resetting     poweredOff    deliver
        resetting     poweredOn     deliver
        unsupported   unknown       deliver
        unsupported   resetting     deliver
        unsupported   unsupported
        unsupported   unauthorized  deliver
        unsupported   poweredOff    deliver
        unsupported   poweredOn     deliver
        unauthorized  unknown       deliver
        unauthorized  resetting     deliver
        unauthorized  unsupported   deliver
        unauthorized  unauthorized
        unauthorized  poweredOff    deliver
        unauthorized  poweredOn     deliver
        poweredOff    unknown       stop clear deliver
        poweredOff    resetting     stop clear deliver
        poweredOff    unsupported   stop clear deliver
        poweredOff    unauthorized  stop clear deliver
        poweredOff    poweredOff
        poweredOff    poweredOn     deliver
        poweredOn     unknown       pause stop clear deliver
        poweredOn     resetting     pause stop clear deliver
        poweredOn     unsupported   pause stop clear deliver
        poweredOn     unauthorized  pause stop clear deliver
        poweredOn     poweredOff    pause deliver
        poweredOn     poweredOn
        """

    @Test func `each step of the Bluetooth state does what the table says`() throws {
        let states = Trigger.allCases.compactMap { trigger -> RadioState? in
            if case .radioState(let state) = trigger.event { state } else { nil }
        }
        var missing = Set(states.flatMap { from in states.map { "\(from) \($0)" } })
        for line in Self.steps.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            let from = try #require(RadioState(rawValue: words[0]))
            let to = try #require(RadioState(rawValue: words[1]))
            #expect(missing.remove("\(from) \(to)") != nil, "two rows for \(line)")
            var life = Life()
            life.handle(.enterForeground, atSecond: 0)
            life.handle(.radioState(from), atSecond: 0)
            #expect(life.handle(.radioState(to), atSecond: 1).map(\.word) == Array(words.dropFirst(2)))
            #expect(life.advertisingMode == (to == .poweredOn ? .foreground : .off))
        }
        #expect(missing.isEmpty)
    }

    private func words(_ states: [RadioState], from life: inout Life) -> [String] {
        states.flatMap { life.handle(.radioState($0), atSecond: 1) }.map(\.word)
    }

    @Test(arguments: [
        Situation.foreground, .foregroundOfKept, .background, .backgroundOfKept, .woken, .throttled,
        .suspended,
        .suspendedOfKept, .terminatedKept,
    ])
    func `adverts that only a power-off paused go on`(situation: Situation) {
        var life = situation.life
        let mode = life.advertisingMode
        let words = words([.poweredOff, .poweredOn], from: &life)
        #expect(words.first == "pause")
        #expect(words.contains("resume") && !words.contains("stop"))
        #expect(life.advertisingMode == mode)
    }

    @Test(arguments: Situation.allCases)
    func `adverts that were stopped on the way down do not go on`(situation: Situation) {
        for below in [RadioState.unknown, .resetting, .unsupported, .unauthorized] {
            for path in [[below, .poweredOn], [.poweredOff, below, .poweredOff, .poweredOn]] {
                var life = situation.life
                let words = words(path, from: &life)
                #expect(words.filter { $0 == "stop" || $0 == "clear" } == ["stop", "clear"])
                #expect(!words.contains("resume"))
            }
        }
    }

    @Test(arguments: [Situation.notRunning, .terminated, .terminatedRestorable, .quit])
    func `an app that has nothing on the air has nothing to go on with`(situation: Situation) {
        var life = situation.life
        #expect(!words([.poweredOff, .poweredOn], from: &life).contains("resume"))
    }

    @Test func `adverts of an app that ended while Bluetooth was off do not go on in its next life`() {
        for end in [AppEvent.quit, .terminate] {
            var life = Situation.foreground.life
            life.handle(.radioState(.poweredOff), atSecond: 1)
            #expect(life.handle(end, atSecond: 2).contains(.stopAdvertising(forget: end == .quit)))
            life.handle(.enterForeground, atSecond: 3)
            #expect(life.handle(.radioState(.poweredOn), atSecond: 4) == [.deliver])
        }
    }

    @Test func `an app that is ended and kept while Bluetooth is off is on the air again with it`() {
        var life = Situation.foregroundOfKept.life
        life.handle(.radioState(.poweredOff), atSecond: 1)
        life.handle(.terminate, atSecond: 2)
        #expect(life.advertisingMode == .off)
        #expect(life.handle(.radioState(.poweredOn), atSecond: 3) == [.resumeAdvertising, .discard])
        #expect(life.advertisingMode == .background)
    }

    @Test func `the Bluetooth state is delivered after events that were queued before it`() {
        var life = Situation.background.life
        #expect(life.handle(.bluetooth(.subscribe), atSecond: 3) == [.queue])
        #expect(life.handle(.radioState(.poweredOff), atSecond: 3).last == .queue)
        #expect(life.handle(.enterForeground, atSecond: 4) == [.enteredForeground, .deliverQueued])
    }

    @Test func `the Bluetooth state neither wakes an app nor grants it time`() {
        var life = Situation.suspendedOfKept.life
        #expect(life.handle(.radioState(.poweredOff), atSecond: 3).last == .queue)
        #expect(life.state == .suspended)
        life = Situation.woken.life
        let deadline = life.deadline
        life.handle(.radioState(.poweredOff), atSecond: 15)
        #expect(life.deadline == deadline)
    }
}
