import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite struct LinkLedgerTests {
    @Test(arguments: LinkTable.situations.keys.sorted())
    func `each event does in each state what the table says`(situation: String) throws {
        var missing = Set(LinkTable.events)
        for line in try #require(LinkTable.situations[situation]).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            #expect(missing.remove(words[0]) != nil, "no such event, or two rows: \(line)")
            var script = LinkScript(situation)
            let actions = script.take(words[0])
            let outcome = ([script.state] + (actions.isEmpty ? ["-"] : actions)).joined(separator: " ")
            #expect(outcome == words.dropFirst().joined(separator: " "), "\(situation), \(words[0])")
        }
        #expect(missing.isEmpty, "no row in \(situation)")
    }

    // MARK: State

    @Test func `devices are listened for in the order in which they were asked for`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        for device in [5, 2, 9] as [UInt64] { ledger.connect(.a, to: .device(device), into: &actions) }
        ledger.connect(.b, to: .device(2), into: &actions)
        ledger.connect(.b, to: .device(7), .delayed, into: &actions)
        #expect(ledger.wanted.map(\.address) == [.device(5), .device(2), .device(9)])
        #expect(ledger.wanted[1].managers == [.a, .b])
        #expect(ledger.devices(of: .b) == [.device(2), .device(7)])
        ledger.linkUp(.first, to: .device(2), into: &actions)
        #expect(ledger.wanted.map(\.address) == [.device(5), .device(9)])
        #expect(ledger.connected == [.device(2)] && ledger.holders(of: .first) == [.a, .b])
        #expect(ledger.link(to: .device(2), of: .b) == .first && ledger.link(to: .device(5), of: .a) == nil)
        #expect(ledger.state(of: .device(2), for: .a) == .connected)
        #expect(ledger.state(of: .device(5), for: .a) == .connecting)
        #expect(ledger.state(of: .device(5), for: .b) == .disconnected)
        #expect(ledger.options(of: .device(7), for: .b) == .delayed)
        #expect(ledger.concerns(.device(7)) && !ledger.concerns(.device(8)))
    }

    @Test func `two managers of one app hold a link each by itself, and the app is named once`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        let (one, two) = (ManagerKey(app: 1, manager: 10), ManagerKey(app: 1, manager: 11))
        for manager in [one, two, .b] { ledger.connect(manager, to: .device(1), into: &actions) }
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        ledger.cancel(.b, to: .device(1), into: &actions)
        #expect(actions.last == .linkKept(.device(1), heldBy: [1]))
        actions = []
        ledger.cancel(one, to: .device(1), into: &actions)
        #expect(actions.last == .linkKept(.device(1), heldBy: [1]))
        #expect(ledger.holders(of: .first) == [two])
    }

    @Test func `new options of a connection replace the old ones, and say nothing twice`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), into: &actions)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        ledger.connect(.a, to: .device(1), .reconnecting, into: &actions)
        #expect(actions == [])
        ledger.linkDown(.first, .lostLink, into: &actions)
        #expect(
            actions.first
                == .disconnected(.a, .device(1), .init(error: .lostLink, isReconnecting: true)))
    }

    @Test func `with the radio gone nobody waits for the device of a link again`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), into: &actions)
        ledger.connect(.b, to: .device(1), .reconnecting, into: &actions)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        let gone = RadioError(.lost, "the radio is gone")
        ledger.linkDown(.first, gone, into: &actions)
        let ends = [ManagerKey.a, .b].map { LinkAction.disconnected($0, .device(1), .init(error: gone)) }
        #expect(actions == ends + [.linkEnded(.device(1), .first)])
        #expect(ledger.wanted.isEmpty)
    }

    @Test func `after a restart of the phone the devices of kept links are waited for`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        for manager in [ManagerKey.a, .b] { ledger.connect(manager, to: .device(1), into: &actions) }
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        ledger.powerLost(keepingFor: { $0 == .a }, links: { _ in true }, into: &actions)
        #expect(actions == [.forgotten(.b, .device(1)), .linkEnded(.device(1), .first), .wantedChanged])
        #expect(ledger.wanted.map(\.managers) == [[.a]])
        #expect(ledger.state(of: .device(1), for: .a) == .connecting)
    }

    @Test func `a start delay that is over after its request was cancelled changes nothing`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), .delayed, into: &actions)
        guard case .waitForStart(let request, .seconds(3))? = actions.last else {
            Issue.record("no wait: \(actions)")
            return
        }
        ledger.cancel(.a, to: .device(1), into: &actions)
        ledger.connect(.a, to: .device(1), .delayed, into: &actions)
        actions = []
        ledger.delayElapsed(request, into: &actions)
        #expect(actions == [] && ledger.wanted == [])
    }

    @Test func `another process's held and pending connections are pending, without a new start delay`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.restore(.a, to: .device(1), .delayed, into: &actions)
        ledger.restore(.a, to: .device(1), into: &actions)
        #expect(actions == [.wantedChanged] && ledger.wanted.map(\.managers) == [[.a]])
        #expect(ledger.state(of: .device(1), for: .a) == .connecting)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        ledger.restore(.b, to: .device(1), into: &actions)
        #expect(actions == [.connected(.b, .device(1), .first, isLocal: true)])
    }

    // MARK: Second links, other addresses

    @Test func `a second link to a device is ended, and its end is no disconnection`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), into: &actions)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        ledger.linkUp(.first, to: .device(1), into: &actions)
        #expect(actions == [])
        ledger.linkUp(.second, to: .device(1), into: &actions)
        #expect(actions == [.endLink(.second)] && ledger.holders(of: .second) == [])
        actions = []
        ledger.linkDown(.second, nil, into: &actions)
        ledger.linkDown(.second, nil, into: &actions)
        #expect(actions == [.linkEnded(.device(1), .second)] && ledger.holders(of: .first) == [.a])
    }

    @Test func `a device that pairs keeps its link under its identity address`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), into: &actions)
        ledger.connect(.b, to: .device(2), into: &actions)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        actions = []
        ledger.moved(.first, to: .device(2), into: &actions)
        #expect(actions == [.connected(.b, .device(2), .first, isLocal: true), .wantedChanged])
        #expect(ledger.holders(of: .first) == [.a, .b] && !ledger.concerns(.device(1)))
        actions = []
        ledger.moved(.first, to: .device(2), into: &actions)
        ledger.moved(.second, to: .device(2), into: &actions)
        #expect(actions == [])
        ledger.linkDown(.first, .lostLink, into: &actions)
        #expect(actions.last == .linkEnded(.device(2), .first) && actions.count == 3)
    }

    @Test func `a device with two links at two addresses stays two devices`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), into: &actions)
        ledger.connect(.b, to: .device(2), into: &actions)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        ledger.linkUp(.second, to: .device(2), into: &actions)
        actions = []
        ledger.moved(.first, to: .device(2), into: &actions)
        #expect(actions == [])
        #expect(ledger.holders(of: .first) == [.a] && ledger.holders(of: .second) == [.b])
    }

    @Test func `a link that is being ended can move, and those who wait at its identity wait on`() {
        var ledger = LinkLedger()
        var actions: [LinkAction] = []
        ledger.connect(.a, to: .device(1), into: &actions)
        ledger.linkUp(.first, to: .device(1), into: &actions)
        ledger.cancel(.a, to: .device(1), into: &actions)
        ledger.connect(.b, to: .device(2), into: &actions)
        ledger.moved(.first, to: .device(2), into: &actions)
        #expect(ledger.wanted == [])
        ledger.linkDown(.first, nil, into: &actions)
        #expect(ledger.wanted.map(\.managers) == [[.b]])
    }

    // MARK: Histories

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `in any history every link has a holder or ends, and nothing is delivered twice`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var seen: Set<String> = []
        for _ in 0..<250 {
            var watcher = LinkWatcher()
            for _ in 0..<60 { watcher.step(&random) }
            watcher.finish()
            #expect(watcher.faults == [])
            seen.formUnion(watcher.seen)
        }
        // Histories in which half of it never happens would prove nothing.
        #expect(
            seen == [
                "connecting", "connected", "connected:local", "failed", "lost", "reconnecting",
                "cancelled:pending",
                "cancelled:local", "cancelled", "forgotten", "end", "leave", "kept", "ended", "wait",
                "wanted",
            ])
    }
}
