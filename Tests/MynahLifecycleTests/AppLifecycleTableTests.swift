import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

/// Every state with every event.
@Suite struct AppLifecycleTableTests {
    @Test(arguments: Situation.allCases)
    func `each event does in each state what the table says`(situation: Situation) {
        var missing = Set(Trigger.allCases)
        for line in situation.table.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let trigger = words.first.flatMap({ Trigger(rawValue: String($0)) }) else {
                Issue.record("no such event: \(line)")
                continue
            }
            #expect(missing.remove(trigger) != nil, "two rows for \(trigger)")
            let expected = words.dropFirst().joined(separator: " ")
            #expect(situation.outcome(of: trigger) == expected, "\(situation), \(trigger)")
        }
        #expect(missing.isEmpty, "no row in \(situation)")
    }

    @Test func `the tables know every state, every event and every reason`() {
        #expect(Set(Situation.allCases.map(\.life.state)) == Set(AppState.allCases))
        #expect(
            Set(Situation.allCases.map(\.life.label))
                == Set(AppState.allCases.map(\.rawValue) + ["woken", "throttled"]))
        for trigger in Trigger.allCases where trigger != .deadlineTooEarly {
            #expect(Trigger(trigger.event) == trigger)
        }
        for event in BluetoothEvent.allCases {
            #expect(Trigger(.bluetooth(event))?.rawValue == (event.role == .central ? nil : "\(event)"))
        }
        for reason in TerminationReason.allCases {
            #expect(Situation.allCases.contains { $0.table.contains("terminated:\(reason)") })
        }
    }

    @Test(arguments: Situation.allCases)
    func `an event that makes no sense in a state leaves no trace`(situation: Situation) {
        var life = situation.life
        let before = String(reflecting: life)
        for trigger in Trigger.allCases where situation.isMeaningless(trigger) {
            // Well before any deadline.
            #expect(life.handle(trigger.event, atSecond: situation.past.second) == [])
            #expect(String(reflecting: life) == before, "\(trigger)")
        }
    }

    @Test(arguments: [
        (AppRules.foregroundOnly, "stop:kept withdraw", AdvertisingMode.off),
        (.restorable, "stop:kept withdraw", .off),
        (.peripheral, "stop:kept withdraw", .off),
        (.restorablePeripheral, "", .background),
    ])
    func `services and adverts outlive an app that an event relaunches, and no other`(
        rules: AppRules, rest: String, mode: AdvertisingMode
    ) {
        for (event, reason) in [
            (AppEvent.terminate, "system"), (.crash, "crash"), (.memoryPressure, "memoryPressure"),
        ] {
            var life = Life(rules)
            for event in [AppEvent.radioState(.poweredOn), .enterForeground, .suspend] {
                life.handle(event, atSecond: 0)
            }
            let expected = "terminated:\(reason) dropQueued \(rest)"
            let actions = life.handle(event, atSecond: 1).map(\.word)
            #expect(actions == expected.split(separator: " ").map(String.init))
            #expect(life.advertisingMode == mode)
            #expect(life.servesDynamicValues == (mode == .background))
        }
    }

    @Test func `bluetooth-central alone lets no app advertise or answer off the screen`() {
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothCentral]
        var life = Life(rules)
        for event in [AppEvent.radioState(.poweredOn), .enterForeground, .suspend] {
            life.handle(event, atSecond: 0)
        }
        #expect(life.advertisingMode == .off)
        #expect(life.handle(.bluetooth(.read), atSecond: 1) == [.refuse])
        #expect(life.handle(.bluetooth(.subscribe), atSecond: 1) == [.queue])
    }

    @Test(arguments: Situation.allCases)
    func `a dynamic value is served exactly where a read is handed to the app`(situation: Situation) {
        var life = situation.life
        let serves = life.servesDynamicValues
        #expect(life.handle(.bluetooth(.read), atSecond: situation.past.second).contains(.deliver) == serves)
    }
}

extension Situation {
    var table: String {
        switch self {
        case .notRunning: Self.notRunningTable
        case .foreground: Self.foregroundTable
        case .foregroundOfKept: Self.foregroundOfKeptTable
        case .background: Self.backgroundTable
        case .backgroundBusy: Self.backgroundBusyTable
        case .backgroundOfKept: Self.backgroundOfKeptTable
        case .woken: Self.wokenTable
        case .wokenBusy: Self.wokenBusyTable
        case .throttled: Self.throttledTable
        case .throttledForegroundOnly: Self.throttledForegroundOnlyTable
        case .suspended: Self.suspendedTable
        case .suspendedOfKept: Self.suspendedOfKeptTable
        case .terminated: Self.terminatedTable
        case .terminatedRestorable: Self.terminatedRestorableTable
        case .terminatedKept: Self.terminatedKeptTable
        case .quit: Self.quitTable
        }
    }

    /// An event that cannot happen in this state, or has no meaning there.
    func isMeaningless(_ trigger: Trigger) -> Bool {
        switch (trigger, life.state) {
        case (.suspend, .notRunning), (.suspend, .suspended), (.suspend, .terminated), (.suspend, .quit),
            (.terminate, .notRunning), (.terminate, .terminated), (.terminate, .quit),
            (.crash, .notRunning), (.crash, .terminated), (.crash, .quit),
            (.quit, .notRunning), (.quit, .quit), (.enterForeground, .foreground):
            true
        case (.enterBackground, let state): state != .foreground
        case (.memoryPressure, let state): state != .suspended
        case (.workBegan, let state): state != .foreground && state != .background
        case (.workEnded, _), (.deadlineReached, _): life.deadline == nil
        case (.extraneousWork, _): !life.isWoken
        case (.deadlineTooEarly, _), (.poweredOn, _): true
        default: false
        }
    }
}
