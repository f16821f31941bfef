import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite struct ReconnectPlanTests {
    /// The plan, what happened, an event, and the actions.
    ///
    /// The stages of a plan are apart by commas, the ways of one are letters: known, connected, scan. `k:12`
    /// says that retrieving known devices found 1 and 2, `s:3` that the scan discovered 3; `up:1`, `fail:1`
    /// and `down:1` are about connections; `over` ends the last wait.
    static let table = """
        k,c,s  -                        begin    known wait
        k,c,s  -                        k:1      -
        k,c,s  -                        up:1     -
        k,c,s  -                        stop     -
        k,c,s  begin                    k:       connected wait
        k,c,s  begin                    k:1      connect:1
        k,c,s  begin                    c:1      -
        k,c,s  begin                    s:3      -
        k,c,s  begin                    over     connected wait
        k,c,s  begin                    stop     -
        k,c,s  begin                    begin    known wait
        k,c,s  begin,over               k:1      connect:1
        k,c,s  begin,k:1                up:1     -
        k,c,s  begin,k:1                up:2     -
        k,c,s  begin,k:1                k:2      -
        k,c,s  begin,k:1                fail:1   connected wait
        k,c,s  begin,k:1                fail:2   -
        k,c,s  begin,k:1                over     connected wait
        k,c,s  begin,k:1                stop     cancel:1
        k,c,s  begin,k:1                begin    cancel:1 known wait
        k,c,s  begin,k:12               fail:1   connect:2
        k,c,s  begin,k:12,fail:1        fail:2   connected wait
        k,c,s  begin,k:12,fail:1        up:2     -
        k,c,s  begin,k:1,over           c:       scan
        k,c,s  begin,k:1,over           c:1      -
        k,c,s  begin,k:1,over,c:1       over     scan
        k,c,s  begin,k:1,over           c:2      connect:2
        k,c,s  begin,k:1,over,c:2       up:1     cancel:2
        k,c,s  begin,k:1,over,c:2       up:2     cancel:1
        k,c,s  begin,k:1,over,c:2       fail:2   scan
        k,c,s  begin,k:1,over,c:2       fail:1   -
        k,c,s  begin,k:1,over,c:        up:1     noscan
        k,c,s  begin,k:1,over,c:        s:3      connect:3
        k,c,s  begin,k:1,over,c:        s:1      -
        k,c,s  begin,k:1,over,c:        stop     noscan cancel:1
        k,c,s  begin,k:1,over,c:,s:3    up:3     noscan cancel:1
        k,c,s  begin,k:1,over,c:,s:3    s:3      -
        k,c,s  begin,k:,c:              s:3      connect:3
        k,c,s  begin,k:,c:,s:3          fail:3   -
        k,c,s  begin,k:,c:,s:3,fail:3   s:3      connect:3
        k,c,s  begin,k:,c:,s:3          stop     noscan cancel:3
        k,c,s  begin,k:1,up:1           begin    known wait
        k,c,s  begin,k:1,up:1           over     -
        k,c,s  begin,k:1,up:1           fail:1   -
        k,c,s  begin,k:1,up:1           down:2   -
        k,c,s  begin,k:1,up:1           stop     -
        k,c,s  begin,k:1,up:1,down:1    begin    known wait
        kc,s   -                        begin    known connected wait
        kc,s   begin                    k:       -
        kc,s   begin                    over     scan
        kc,s   begin,k:                 c:       scan
        kc,s   begin,k:1                c:1      -
        kc,s   begin,k:1                c:2      connect:2
        kc,s   begin,k:1                c:       -
        kc,s   begin,k:1,c:             over     scan
        kc,s   begin,k:1,c:             fail:1   scan
        kc,s   begin,k:1,c:2            up:2     cancel:1
        kcs    -                        begin    known connected scan
        kcs    begin,k:,c:              s:3      connect:3
        kcs    begin,k:1,c:2,s:3        up:2     noscan cancel:1 cancel:3
        s,k    -                        begin    scan wait
        s,k    begin                    over     known
        s,k    begin,over               k:       -
        s,k    begin,over,k:1           up:1     noscan
        s,k    begin,over               s:3      connect:3
        k      -                        begin    known
        k      begin                    k:       exhausted
        k      begin,k:                 k:1      -
        k      begin,k:                 begin    known
        k      begin,k:                 stop     -
        k      begin,k:1                fail:1   exhausted
        k,k    begin                    k:       known
        -      -                        begin    exhausted
        """

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `each event does in each state what the table says`(row: String) {
        let words = row.split(separator: " ").map(String.init)
        var script = Script(words[0])
        for event in words[1].split(separator: ",") where event != "-" { _ = script.take(String(event)) }
        let actions = script.take(words[2])
        #expect((actions.isEmpty ? ["-"] : actions) == Array(words.dropFirst(3)))
    }

    @Test func `a device whose address changed is found by scanning`() {
        var script = Script("k,c,s")
        #expect(script.take("begin") == ["known", "wait"])
        // The system knows it by its old address, at which nobody answers.
        #expect(script.take("k:1") == ["connect:1"])
        #expect(script.take("over") == ["connected", "wait"])
        #expect(script.take("c:") == ["scan"])
        #expect(script.take("s:2") == ["connect:2"])
        #expect(script.take("up:2") == ["noscan", "cancel:1"])
        #expect(script.plan.connected == .device(2) && !script.plan.isTrying && !script.plan.isScanning)
    }

    @Test func `the wait of an earlier stage means nothing to a later one`() {
        var script = Script("k,c,s")
        _ = script.take("begin")
        let first = script.lastWait
        _ = script.take("k:")
        var actions: [ReconnectPlan.Action] = []
        script.plan.waited(first, into: &actions)
        #expect(actions == [])
        #expect(script.take("over") == ["scan"])
    }

    @Test func `of many devices that match, the oldest pending connection gives way`() {
        var script = Script("s")
        _ = script.take("begin")
        for device in 1...8 { #expect(script.take("s:\(device)") == ["connect:\(device)"]) }
        #expect(script.take("s:9") == ["cancel:1", "connect:9"])
    }

    // MARK: Histories

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `in any history one connection is left in the end, and every scan is stopped`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            var watcher = PlanWatcher(&random)
            for _ in 0..<40 { watcher.step(&random) }
            watcher.stop()
            #expect(watcher.faults == [])
        }
    }
}

private func ways(_ letters: Substring) -> [ReconnectWay] {
    letters.compactMap { ["k": .known, "c": .connected, "s": .scan][$0] }
}

/// Runs events that are written as words.
private struct Script {
    var plan: ReconnectPlan
    private(set) var lastWait: UInt64 = 0

    init(_ stages: String) {
        plan = ReconnectPlan(stages.split(separator: ",").map { ways($0) })
    }

    mutating func take(_ event: String) -> [String] {
        var actions: [ReconnectPlan.Action] = []
        let parts = event.split(separator: ":", omittingEmptySubsequences: false)
        let devices = parts.dropFirst().joined().compactMap { UInt64(String($0)) }
            .map { PeripheralIdentifier.device($0) }
        let first = devices.first ?? .device(0)
        switch parts[0] {
        case "begin": plan.begin(into: &actions)
        case "stop": plan.stop(into: &actions)
        case "k": plan.retrieved(.known, devices, into: &actions)
        case "c": plan.retrieved(.connected, devices, into: &actions)
        case "s": plan.discovered(first, into: &actions)
        case "up": plan.connected(first, into: &actions)
        case "fail": plan.failed(first, into: &actions)
        case "down": plan.disconnected(first)
        case "over": plan.waited(lastWait, into: &actions)
        default: return ["no such event"]
        }
        return actions.map { word($0) }
    }

    private mutating func word(_ action: ReconnectPlan.Action) -> String {
        switch action {
        case .retrieveKnown: return "known"
        case .retrieveConnected: return "connected"
        case .startScan: return "scan"
        case .stopScan: return "noscan"
        case .connect(let device): return "connect:\(device.number)"
        case .cancel(let device): return "cancel:\(device.number)"
        case .wait(let number, let patience):
            lastWait = number
            return patience == .seconds(10) ? "wait" : "wait for another time"
        case .exhausted: return "exhausted"
        }
    }
}

/// An app whose calls return in any order, with what was wrong.
private struct PlanWatcher {
    private var plan: ReconnectPlan
    private var pending: Set<PeripheralIdentifier> = []
    private var isScanning = false
    private var retrieving: [ReconnectWay] = []
    private var connected: PeripheralIdentifier?
    private var waits: [UInt64] = []
    private(set) var faults: [String] = []

    init(_ random: inout SeededGenerator) {
        let stages = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            ReconnectWay.allCases.filter { _ in Bool.random(using: &random) }
        }
        plan = ReconnectPlan(stages)
    }

    mutating func step(_ random: inout SeededGenerator) {
        let device = PeripheralIdentifier.device(.random(in: 1...4, using: &random))
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where connected == nil: run { $0.begin(into: &$1) }
        case 1, 2:
            guard let way = retrieving.popLast() else { break }
            let found = (1...4).map { PeripheralIdentifier.device($0) }.filter { _ in
                Int.random(in: 0..<4, using: &random) == 0
            }
            run { $0.retrieved(way, found, into: &$1) }
        case 3, 4: if isScanning { run { $0.discovered(device, into: &$1) } }
        case 5:
            guard pending.remove(device) != nil else { break }
            connected = device
            run { $0.connected(device, into: &$1) }
            if !pending.isEmpty || isScanning { faults.append("more goes on than the one connection") }
            if plan.connected != device { faults.append("it does not know its connection") }
        case 6:
            guard pending.remove(device) != nil else { break }
            run { $0.failed(device, into: &$1) }
        case 7: if let wait = waits.randomElement(using: &random) { run { $0.waited(wait, into: &$1) } }
        default:
            guard let lost = connected else { break }
            connected = nil
            run { plan, _ in plan.disconnected(lost) }
        }
        if plan.isScanning != isScanning { faults.append("it does not know its scan") }
        if plan.isTrying, pending.isEmpty, retrieving.isEmpty, !isScanning {
            faults.append("it waits for nothing")
        }
    }

    mutating func stop() {
        run { $0.stop(into: &$1) }
        if !pending.isEmpty || isScanning { faults.append("something goes on after the stop") }
    }

    private mutating func run(_ body: (inout ReconnectPlan, inout [ReconnectPlan.Action]) -> Void) {
        var actions: [ReconnectPlan.Action] = []
        body(&plan, &actions)
        for action in actions {
            switch action {
            case .retrieveKnown: retrieving.append(.known)
            case .retrieveConnected: retrieving.append(.connected)
            case .startScan:
                if isScanning { faults.append("a second scan") }
                isScanning = true
            case .stopScan:
                if !isScanning { faults.append("no scan to stop") }
                isScanning = false
            case .connect(let device):
                if connected != nil || !pending.insert(device).inserted {
                    faults.append("a connection too many")
                }
            case .cancel(let device):
                if pending.remove(device) == nil { faults.append("no connection to cancel") }
            case .wait(let number, _): waits.append(number)
            case .exhausted:
                if !pending.isEmpty || isScanning { faults.append("exhausted while something goes on") }
            }
        }
    }
}

extension PeripheralIdentifier {
    /// A device of a test, by a digit.
    fileprivate static func device(_ number: UInt64) -> PeripheralIdentifier {
        PeripheralIdentifier(high: number, low: number)
    }

    fileprivate var number: String { description.suffix(1).description }
}
