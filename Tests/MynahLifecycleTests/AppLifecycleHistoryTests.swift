import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

/// Ten thousand lives of apps, each watched by somebody who knows the rules and not the machine.
@Suite struct AppLifecycleHistoryTests {
    private static let historyCount: UInt64 = 10_000
    private static let partCount: UInt64 = 8
    private static let stepCount = 40

    @Test(arguments: 0..<AppLifecycleHistoryTests.partCount)
    func `no history breaks a rule`(part: UInt64) {
        var seen = Set<AppAction>()
        for seed in stride(from: part, to: Self.historyCount, by: Int(Self.partCount)) {
            if let broken = Self.live(seed: seed, seen: &seen) {
                Issue.record("history \(seed): \(broken)")
                return
            }
        }
        // Histories in which half of it never happens would prove nothing.
        let all: Set = [
            "launched", "launchedRestoring", "launchedInBackgroundRestoring", "enteredForeground",
            "enteredBackground", "suspended", "throttled", "extraneous", "userQuit", "deliver", "queue",
            "refuse",
            "discard", "deliverQueued", "dropQueued", "pause", "resume", "stop", "stop:kept",
            "clear", "withdraw", "forget",
        ]
        let kinds = BluetoothEvent.allCases.filter(\.wakes).map { "woken:\($0)" }
        let reasons = TerminationReason.allCases.map { "terminated:\($0)" }
        #expect(Set(seen.map(\.word)) == all.union(kinds).union(reasons))
    }

    /// Lives one life; what was wrong with it, or nil.
    private static func live(seed: UInt64, seen: inout Set<AppAction>) -> String? {
        var random = SeededGenerator(seed: seed)
        let rules = random.rules()
        var life = Life(rules)
        var watcher = LifeWatcher(rules)
        var now = ManualClock.Instant.second(0)
        var log: [(ManualClock.Instant, AppEvent, [AppAction])] = []

        func step(_ event: AppEvent) -> String? {
            let actions = life.handle(event, at: now)
            seen.formUnion(actions)
            log.append((now, event, actions))
            guard let broken = watcher.watch(event, at: now, actions: actions, life: life) else { return nil }
            let last = log.suffix(12).map { "\($0.offset) \($1) -> \($2.map(\.word))" }
            return "\(broken)\n" + last.joined(separator: "\n")
        }

        for _ in 0..<stepCount {
            var next = now.advanced(by: random.pause())
            // Alarms ring in time, mostly; now and then an event comes before a late one.
            for _ in 0..<4 where Int.random(in: 0..<20, using: &random) > 0 {
                guard let deadline = life.deadline, deadline <= next else { break }
                now = max(now, deadline)
                next = max(next, now)
                if let broken = step(.deadlineReached) { return broken }
            }
            now = next
            if let broken = step(random.event()) { return broken }
        }
        // Left alone it comes to rest: at most its idle time, its work's, and the last.
        for _ in 0..<3 {
            guard let deadline = life.deadline else { break }
            now = max(now, deadline)
            if let broken = step(.deadlineReached) { return broken }
        }
        return life.deadline == nil ? nil : "it does not come to rest"
    }
}

extension SeededGenerator {
    fileprivate mutating func rules() -> AppRules {
        var rules = AppRules(isPeripheral: Bool.random(using: &self), isRestorable: Bool.random(using: &self))
        if Bool.random(using: &self) { rules.backgroundModes.insert(.bluetoothCentral) }
        rules.isCentralRestorable = Bool.random(using: &self)
        if Bool.random(using: &self) {
            rules.suspendAfter = .seconds(Int.random(in: 0...30, using: &self))
            rules.wakeAllowance = .seconds(Int.random(in: 0...30, using: &self))
            rules.throttledAllowance = .seconds(Int.random(in: 0...30, using: &self))
        }
        return rules
    }

    fileprivate mutating func pause() -> Duration {
        switch Int.random(in: 0..<10, using: &self) {
        case 0..<3: .zero
        case 3..<8: .milliseconds(Int.random(in: 0...4000, using: &self))
        default: .milliseconds(Int.random(in: 0...40000, using: &self))
        }
    }

    /// Bluetooth and work more often than ends and Bluetooth states.
    fileprivate mutating func event() -> AppEvent {
        let radioStates: [RadioState] = [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff]
        switch Int.random(in: 0..<67, using: &self) {
        case 0..<24: return .bluetooth(BluetoothEvent.allCases.randomElement(using: &self) ?? .other)
        case 24..<31: return .workBegan
        case 31..<37: return .workEnded
        case 37..<40: return .extraneousWork
        case 40..<42: return .deadlineReached
        case 42..<47: return .enterForeground
        case 47..<52: return .enterBackground
        case 52..<54: return .suspend
        case 54..<55: return .terminate
        case 55..<56: return .crash
        case 56..<57: return .quit
        case 57..<59: return .memoryPressure
        case 59..<62: return .radioState(.poweredOn)
        case 62: return .phoneRestarted
        case 63..<65: return .relaunchForbidden
        default: return .radioState(radioStates.randomElement(using: &self) ?? .poweredOff)
        }
    }
}
