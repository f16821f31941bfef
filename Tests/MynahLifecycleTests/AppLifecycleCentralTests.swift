import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

/// The effects of a central's events in each state of its app, and the phone's scans and connections for it
/// there.
@Suite struct AppLifecycleCentralTests {
    /// An app with some rules, in some place of its life, which is a row of the table.
    enum Row: String, CaseIterable, Sendable {
        case notRunning
        case foreground, foregroundWithMode
        case background, backgroundWithMode
        case suspended, suspendedWithMode, suspendedWithOtherMode
        case wokenWithMode, throttledWithMode
        case terminated, terminatedRestorable, terminatedWithMode, terminatedOfPeripheral, terminatedKept
        case quit

        var rules: AppRules {
            var rules = AppRules()
            switch self {
            case .notRunning, .terminatedKept, .quit:
                rules.backgroundModes = [.bluetoothCentral]
                rules.isCentralRestorable = true
            case .foregroundWithMode, .backgroundWithMode, .suspendedWithMode, .wokenWithMode,
                .throttledWithMode, .terminatedWithMode:
                rules.backgroundModes = [.bluetoothCentral]
            case .suspendedWithOtherMode: rules.backgroundModes = [.bluetoothPeripheral]
            case .terminatedRestorable: rules.isCentralRestorable = true
            case .terminatedOfPeripheral:
                // Only its peripheral manager is kept.
                rules.backgroundModes = [.bluetoothCentral, .bluetoothPeripheral]
                rules.isRestorable = true
            case .foreground, .background, .suspended, .terminated: break
            }
            return rules
        }

        private var past: [(AppEvent, Double)] {
            switch self {
            case .notRunning: []
            case .foreground, .foregroundWithMode: [(.enterForeground, 0)]
            case .background, .backgroundWithMode: [(.enterForeground, 0), (.enterBackground, 0)]
            case .suspended, .suspendedWithMode, .suspendedWithOtherMode:
                [(.enterForeground, 0), (.suspend, 0)]
            case .wokenWithMode: [(.enterForeground, 0), (.suspend, 0), (.bluetooth(.notified), 0)]
            case .throttledWithMode:
                [
                    (.enterForeground, 0), (.suspend, 0), (.bluetooth(.notified), -10), (.workBegan, -10),
                    (.deadlineReached, 0),
                ]
            case .terminated, .terminatedRestorable, .terminatedWithMode, .terminatedOfPeripheral,
                .terminatedKept:
                [(.enterForeground, 0), (.terminate, 0)]
            case .quit: [(.enterForeground, 0), (.quit, 0)]
            }
        }

        /// A row's event comes at second 2.
        var life: Life {
            var life = Life(rules)
            life.handle(.radioState(.poweredOn), atSecond: -20)
            for (event, second) in past { life.handle(event, atSecond: second) }
            return life
        }
    }

    private static let columns: [BluetoothEvent] = [
        .discovered, .connected, .disconnected, .notified, .answered, .state, .connectionEvent,
    ]

    /// The table of the states, one line for each row and one column for each kind of event.
    ///
    /// `report` hands it to the app, `reportAll` hands it over after what waits, `+` grants time, `wake` and
    /// `launch` also run the app, `keep` has it wait and `-` drops it.
    private static let table = """
        notRunning              -        -           -           -           -           -           -
        foreground              report   report      report      report      report      report      report
        foregroundWithMode      report   report      report      report      report      report      report
        background              -        reportAll   reportAll   reportAll   reportAll   reportAll   reportAll
        backgroundWithMode      reportAll+ reportAll+ reportAll+ reportAll+ reportAll+ reportAll+ reportAll+
        suspended               -        keep        keep        keep        keep        keep        keep
        suspendedWithMode       wake     wake        wake        wake        wake        wake        wake
        suspendedWithOtherMode  -        keep        keep        keep        keep        keep        keep
        wokenWithMode           reportAll+ reportAll+ reportAll+ reportAll+ reportAll+ reportAll+ reportAll+
        throttledWithMode       reportAll reportAll  reportAll   reportAll   reportAll   reportAll   reportAll
        terminated              -        -           -           -           -           -           -
        terminatedRestorable    -        -           -           -           -           -           -
        terminatedWithMode      -        -           -           -           -           -           -
        terminatedOfPeripheral  -        -           -           -           -           -           -
        terminatedKept          launch   launch      launch      launch      -           -           -
        quit                    -        -           -           -           -           -           -
        """

    private static let cells: [(row: String, column: BluetoothEvent, word: String)] =
        table.split(separator: "\n").flatMap { line in
            let words = line.split(separator: " ").map(String.init)
            return zip(columns, words.dropFirst()).map { (words[0], $0, $1) }
        }

    private static func word(_ actions: [AppAction], _ event: BluetoothEvent, isLonger: Bool) -> String {
        switch actions {
        case [.deliver]: "report" + (isLonger ? "+" : "")
        case [.deliverQueued, .deliver]: "reportAll" + (isLonger ? "+" : "")
        case [.woken(by: event), .deliverQueued, .deliver]: "wake"
        case [.launched(inBackground: true, restoring: true), .woken(by: event), .deliver]: "launch"
        case [.queue]: "keep"
        case [.discard]: "-"
        default: actions.map(\.word).joined(separator: ",")
        }
    }

    @Test(arguments: cells.indices)
    func `a central's event does in each state what the table says`(index: Int) throws {
        let cell = Self.cells[index]
        let row = try #require(Row(rawValue: cell.row))
        var life = row.life
        let before = life.deadline
        let actions = life.handle(.bluetooth(cell.column), atSecond: 2)
        let isLonger = before != nil && life.deadline != before
        #expect(Self.word(actions, cell.column, isLonger: isLonger) == cell.word)
        if isLonger { #expect(life.deadline == .second(12)) }
        if cell.word == "wake" || cell.word == "launch" {
            #expect(life.label == "woken")
            #expect(life.deadline == .second(12))
        } else {
            #expect(life.label == row.life.label)
        }
    }

    @Test func `the table has every state and every kind of event of a central`() {
        #expect(Set(Self.columns) == Set(BluetoothEvent.allCases.filter { $0.role == .central }))
        let pairs = Set(Self.cells.map { "\($0.row) \($0.column)" })
        #expect(pairs.count == Self.cells.count)
        #expect(
            pairs == Set(Row.allCases.flatMap { row in Self.columns.map { "\(row.rawValue) \($0)" } }))
        #expect(Set(Row.allCases.map(\.life.state)) == Set(AppState.allCases))
    }

    /// How the phone scans for an app, and listens for its connections.
    @Test(arguments: [
        (Row.notRunning, ScanMode.off, ScanMode.off), (.foreground, .foreground, .foreground),
        (.foregroundWithMode, .foreground, .foreground), (.background, .off, .background),
        (.backgroundWithMode, .background, .background), (.suspended, .off, .background),
        (.suspendedWithMode, .background, .background), (.suspendedWithOtherMode, .off, .background),
        (.wokenWithMode, .background, .background), (.throttledWithMode, .background, .background),
        (.terminated, .off, .off), (.terminatedRestorable, .off, .off), (.terminatedWithMode, .off, .off),
        (.terminatedOfPeripheral, .off, .off), (.terminatedKept, .background, .background),
        (.quit, .off, .off),
    ])
    func `a scan is paused or goes on, and a pending connection is kept, as the table says`(
        row: Row, scan: ScanMode, connection: ScanMode
    ) {
        let (state, rules) = (row.life.state, row.rules)
        for power in [RadioState.poweredOn, .poweredOff, .unsupported] {
            let isOn = power == .poweredOn
            #expect(
                ScanMode(
                    scanIn: state, rules, isRestorable: rules.isCentralRestorable, radioState: power)
                    == (isOn ? scan : .off))
            #expect(
                ScanMode(
                    connectionIn: state, rules, isRestorable: rules.isCentralRestorable, radioState: power)
                    == (isOn ? connection : .off))
        }
    }

    @Test func `events of both roles wait in one queue and are handed over in one order`() {
        var life = Row.suspended.life
        #expect(life.handle(.bluetooth(.subscribe), atSecond: 2) == [.queue])
        #expect(life.handle(.bluetooth(.disconnected), atSecond: 3) == [.queue])
        #expect(life.handle(.enterForeground, atSecond: 4) == [.enteredForeground, .deliverQueued])
        // A peripheral's event that waits is not overtaken by a central's.
        life = Row.background.life
        #expect(life.handle(.bluetooth(.subscribe), atSecond: 2) == [.queue])
        #expect(life.handle(.bluetooth(.connected), atSecond: 3) == [.deliverQueued, .deliver])
    }

    @Test func `a strap's value wakes a suspended app for ten seconds`() {
        for event in Self.columns {
            var life = Row.suspendedWithMode.life
            life.handle(.bluetooth(event), atSecond: 100)
            #expect(life.deadline == .second(110))
            #expect(life.handle(.deadlineReached, atSecond: 110) == [.suspended])
        }
    }

    @Test func `a kept central keeps no services and no adverts`() {
        var life = Row.foreground.life
        life.rules = Row.terminatedKept.rules
        #expect(
            life.handle(.terminate, atSecond: 1).map(\.word)
                == ["terminated:system", "dropQueued", "stop:kept", "withdraw"])
        #expect(life.advertisingMode == .off && !life.servesDynamicValues)
        #expect(life.handle(.bluetooth(.read), atSecond: 2) == [.refuse])
        #expect(
            life.handle(.enterForeground, atSecond: 3)
                == [.launched(inBackground: false, restoring: true), .enteredForeground])
    }
}
