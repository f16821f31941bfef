import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite struct LinkInitiatorTests {
    /// A state by what happened, an event, and the actions.
    ///
    /// `w` wants devices, `h` hears one, `n` hears one that takes no connection, `c` reports a link to one;
    /// `e` ends the last attempt: reached, timed out, without room, or refused; `l` says how many links there
    /// are, and `d` which devices have made one.
    static let table = """
        -                 w12        listen
        -                 h1         -
        w1                h1         initiate:1:2s
        w1                n1         -
        w1                h2         -
        w1                w1         -
        w12               w1         -
        w1                w12        listen
        w1                c1         -
        w1                l1         -
        w12,h1            h1         -
        w12,h1            h2         -
        w12,h1            e:reached  -
        w12,h1            e:timeout  listen
        w12,h1            e:noroom   listen
        w12,h1            e:refused  failed:1
        w12,h1            w2         cancel
        w12,h1            w          cancel
        w12,h1            c1         -
        w12,h1            c2         -
        w12,h1,h2         c1         initiate:2:2s
        w12,h1,h2         c2         -
        w12,h1,h2         e:timeout  listen initiate:2:2s
        w12,h1,h2         e:noroom   listen initiate:2:2s
        w12,h1,h2         e:refused  failed:1 initiate:2:2s
        w12,h1,h2,c2      e:timeout  listen
        w12,h1,h2,w1      e:timeout  listen
        w12,h1,w2         h2         -
        w12,h1,w2         h1         -
        w12,h1,w2         e:timeout  -
        w12,h1,w2         e:refused  -
        w12,h1,w2         c1         -
        w12,h1,w2,h2      e:timeout  initiate:2:2s
        w12,h1,w2,h2      c1         initiate:2:2s
        w12,h1,w2,w12     h1         -
        w12,h1,w2,w12,h1  e:timeout  listen initiate:1:2s
        w12,h1,c1         e:reached  -
        w12,h1,c1         e:timeout  -
        w12,l3            h1         exhausted:3
        w12,l3,h1         h2         -
        w12,l3,h1         l2         listen
        w12,l3,h1,l2      h1         initiate:1:2s
        w12,l3            l2         listen
        w12,l2,h1,h2,l3   c1         exhausted:3
        l3                l2         -
        w12               d1         initiate:1:2s
        d1                w12        listen initiate:1:2s
        d1                w2         listen
        d1,w1             h1         -
        d1,w1             d1         -
        d1,w1             e:reached  -
        d1,w1,e:reached   d          -
        w12,h2            d1         -
        w12,h2,d1         e:timeout  listen initiate:1:2s
        w12,l3            d1         initiate:1:2s
        w12,l3,d1         h2         exhausted:3
        """

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `each event does in each state what the table says`(row: String) {
        let words = row.split(separator: " ").map(String.init)
        var script = Script(limit: row.contains("l") && row.contains("3") ? 3 : nil)
        for event in words[0].split(separator: ",") where event != "-" { _ = script.take(String(event)) }
        let actions = script.take(words[1])
        #expect((actions.isEmpty ? ["-"] : actions) == Array(words.dropFirst(2)))
    }

    @Test func `a limit that the controller showed by refusing is reported once until a link ends`() {
        var script = Script(limit: nil)
        _ = script.take("l2")
        _ = script.take("w12")
        #expect(script.take("h1") == ["initiate:1:2s"])
        #expect(script.take("e:noroom") == ["exhausted:2"])
        #expect(script.take("h1") == [] && script.take("h2") == [])
        #expect(script.take("l1") == ["listen"])
        #expect(script.take("h2") == ["initiate:2:2s"])
    }

    @Test func `a limit that the controller showed is forgotten when a link ends`() {
        var script = Script(limit: nil)
        for event in ["l1", "w12", "h1", "e:noroom", "l0", "l1"] { _ = script.take(event) }
        #expect(script.take("h1") == ["initiate:1:2s"])
    }

    @Test func `a controller that refuses its first link is asked again`() {
        var script = Script(limit: nil)
        _ = script.take("w1")
        _ = script.take("h1")
        #expect(script.take("e:noroom") == ["listen"])
        #expect(script.take("h1") == ["initiate:1:2s"])
    }

    @Test func `after a reset nothing is wanted, and an old attempt's end changes nothing`() {
        var script = Script(limit: nil)
        _ = script.take("w1")
        _ = script.take("h1")
        script.initiator.reset()
        #expect(script.take("h1") == [] && script.initiator.isIdle)
        #expect(script.take("w1") == ["listen"])
        #expect(script.take("e:timeout") == [])
        #expect(script.take("h1") == ["initiate:1:2s"])
    }

    @Test func `twelve pending connections complete as their devices appear`() {
        var script = Script(limit: 16)
        var actions: [LinkInitiator.Action] = []
        script.initiator.want((1...12).map { .device($0) }, into: &actions)
        for device in [7, 3, 12, 1, 2, 4, 5, 6, 8, 9, 10, 11] as [UInt64] {
            actions = []
            script.initiator.heard(Script.report(device), into: &actions)
            let attempt = script.lastAttempt + 1
            #expect(actions == [.initiate(.device(device), attempt: attempt, timeout: .seconds(2))])
            script.lastAttempt = attempt
            script.initiator.connected(to: .device(device), into: &actions)
            script.initiator.ended(attempt, .connected, into: &actions)
            #expect(actions.count == 1 && script.initiator.isIdle)
        }
    }

    // MARK: Histories

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `in any history one attempt is under way at once, for a wanted device, and each device has its turn`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var air = RandomAir(limit: Int.random(in: 1...3, using: &random))
            for _ in 0..<60 { air.step(&random) }
            #expect(air.faults == [])
            air.serve()
            #expect(air.faults == [])
            #expect(air.wanted.isEmpty, "a device that is heard again and again was never connected")
        }
    }
}

/// Runs events that are written as words.
private struct Script {
    var initiator: LinkInitiator
    var lastAttempt: UInt64 = 0
    private var links = 0

    init(limit: Int?) {
        initiator = LinkInitiator(limit: limit)
    }

    static func report(_ device: UInt64, _ kind: ScanReport.Kind = .connectable) -> ScanReport {
        ScanReport(address: .device(device), kind: kind, data: [])
    }

    mutating func take(_ event: String) -> [String] {
        var actions: [LinkInitiator.Action] = []
        let rest = event.dropFirst()
        let number = rest.first.flatMap { UInt64(String($0)) } ?? 0
        switch event.first {
        case "w": initiator.want(rest.compactMap { UInt64(String($0)) }.map { .device($0) }, into: &actions)
        case "h": initiator.heard(Self.report(number), into: &actions)
        case "n":
            for kind in [ScanReport.Kind.scannable, .nonConnectable, .scanResponse] {
                initiator.heard(Self.report(number, kind), into: &actions)
            }
        case "c": initiator.connected(to: .device(number), into: &actions)
        case "l":
            links = Int(number)
            initiator.has(links: links, into: &actions)
        case "d":
            let devices = rest.compactMap { UInt64(String($0)) }.map { DeviceAddress.device($0) }
            initiator.has(links: links, madeBy: devices, into: &actions)
        default: initiator.ended(lastAttempt, Self.outcome(event), into: &actions)
        }
        return actions.map { word($0) }
    }

    private static func outcome(_ event: String) -> LinkInitiator.Outcome {
        switch event {
        case "e:reached": .connected
        case "e:noroom": .noRoom
        case "e:refused": .failed(.lostLink)
        default: .notReached
        }
    }

    private mutating func word(_ action: LinkInitiator.Action) -> String {
        switch action {
        case .initiate(let address, let attempt, let timeout):
            lastAttempt = attempt
            return "initiate:\(address.value & 0xFF):\(timeout.components.seconds)s"
        case .cancel(let attempt): return attempt == lastAttempt ? "cancel" : "cancel another attempt"
        case .listenAnew: return "listen"
        case .linksExhausted(let limit): return "exhausted:\(limit)"
        case .failed(let address, _): return "failed:\(address.value & 0xFF)"
        }
    }
}

/// A radio and apps that behave in any order, with what was wrong.
private struct RandomAir {
    var initiator: LinkInitiator
    let limit: Int
    var wanted: Set<UInt64> = []
    var links: [UInt64] = []
    var attempt: (device: UInt64, number: UInt64, isCancelled: Bool)?
    var faults: [String] = []

    init(limit: Int) {
        self.limit = limit
        initiator = LinkInitiator(limit: limit)
    }

    mutating func step(_ random: inout SeededGenerator) {
        let device = UInt64.random(in: 1...5, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            if !links.contains(device) { wanted.insert(device) }
            want()
        case 2:
            wanted.remove(device)
            want()
        case 3, 4: hear(device)
        case 5: if let attempt { links.count < limit ? connect(attempt.device) : end(.notReached) }
        case 6: end(.notReached)
        default:
            if !links.isEmpty { links.removeFirst() }
            run { $0.has(links: $1.links.count, into: &$2) }
        }
    }

    /// Every device that is waited for is heard until it is connected; a link ends if there is no room.
    mutating func serve() {
        for _ in 0..<20 {
            for device in wanted.sorted() { hear(device) }
            if let attempt { attempt.isCancelled ? end(.notReached) : connect(attempt.device) }
            if links.count == limit {
                links.removeFirst()
                run { $0.has(links: $1.links.count, into: &$2) }
            }
        }
    }

    private mutating func want() {
        run { $0.want($1.wanted.sorted().map { .device($0) }, into: &$2) }
    }

    private mutating func hear(_ device: UInt64) {
        run { initiator, _, actions in initiator.heard(Script.report(device), into: &actions) }
    }

    private mutating func connect(_ device: UInt64) {
        guard let ended = attempt else { return }
        attempt = nil
        wanted.remove(device)
        links.append(device)
        run { $0.has(links: $1.links.count, into: &$2) }
        run { initiator, _, actions in initiator.connected(to: .device(device), into: &actions) }
        // The call returns after its link was reported.
        run { initiator, _, actions in initiator.ended(ended.number, .connected, into: &actions) }
        want()
    }

    private mutating func end(_ outcome: LinkInitiator.Outcome) {
        guard let ended = attempt else { return }
        attempt = nil
        run { initiator, _, actions in initiator.ended(ended.number, outcome, into: &actions) }
    }

    private mutating func run(
        _ body: (inout LinkInitiator, RandomAir, inout [LinkInitiator.Action]) -> Void
    ) {
        var actions: [LinkInitiator.Action] = []
        body(&initiator, self, &actions)
        for action in actions {
            switch action {
            case .initiate(let address, let number, _):
                let device = address.value & 0xFF
                if attempt != nil { faults.append("two attempts at once") }
                if !wanted.contains(device) { faults.append("an attempt for a device that nobody wants") }
                if links.count >= limit { faults.append("an attempt without room for its link") }
                attempt = (device, number, false)
            case .cancel(let number):
                if attempt?.number != number || attempt?.isCancelled == true {
                    faults.append("a cancellation of nothing")
                }
                if let device = attempt?.device, wanted.contains(device) {
                    faults.append("a wanted one is cancelled")
                }
                attempt?.isCancelled = true
            case .failed: faults.append("a failure that was not reported")
            case .listenAnew, .linksExhausted: break
            }
        }
    }
}
