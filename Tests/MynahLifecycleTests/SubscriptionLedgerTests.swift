import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite struct SubscriptionLedgerTests {
    /// The previous event, an event, the subscribers after it, and the actions.
    ///
    /// `+A` and `-A` are requests of A; `ok` and `err` end the write under way; A gives the link up by
    /// `relA`; `gone` ends the link, `changed` changes the service. `A+` answers, `A+!` with an error.
    static let table = """
        -              +A       -   write:on
        -              -A       -   A-
        -              ok       -   -
        -              relA     -   -
        -              gone     -   -
        -              changed  -   -
        +A             ok       A   A+
        +A             err      -   A+!
        +A             +B       -   -
        +A             -A       -   -
        +A             relA     -   -
        +A             gone     -   A+!
        +A             changed  -   A+!
        +A,+B          ok       AB  A+ B+
        +A,+B          err      -   A+! write:on
        +A,+B          relB     -   -
        +A,+B          gone     -   A+! B+!
        +A,+B,err      ok       B   B+
        +A,-A          ok       A   A+ write:off
        +A,-A          err      -   A+! A-
        +A,-A,ok       ok       -   A-
        +A,-A,+A       ok       A   A+ A- A+
        +A,-A,+B       ok       B   A+ A- B+
        +A,relA        ok       -   write:off
        +A,relA        err      -   -
        +A,relA        +B       -   -
        +A,relA,ok     ok       -   -
        +A,relA,ok     err      -   -
        +A,relA,ok,+B  ok       -   write:on
        +A,relA,+B     ok       B   B+
        +A,relA,+B     err      -   write:on
        +A,ok          +A       A   A+
        +A,ok          +B       AB  B+
        +A,ok          -A       A   write:off
        +A,ok          -B       A   B-
        +A,ok          relA     -   write:off
        +A,ok          relB     A   -
        +A,ok          gone     -   -
        +A,ok          changed  -   -
        +A,ok          ok       A   -
        +A,ok,-A       ok       -   A-
        +A,ok,-A       err      A   A-!
        +A,ok,-A       +B       A   -
        +A,ok,-A       relA     -   -
        +A,ok,-A       gone     -   A-!
        +A,ok,-A,+B    ok       -   A- write:on
        +A,ok,-A,+B    err      AB  A-! B+
        +A,ok,-A,relA  ok       -   -
        +A,ok,-A,relA  err      -   -
        +A,ok,+B       +A       AB  A+
        +A,ok,+B       -A       B   A-
        +A,ok,+B       -B       A   B-
        +A,ok,+B       relA     B   -
        +A,ok,+B,-A    -B       B   write:off
        +A,gone        ok       -   -
        +A,gone        +A       -   write:on
        +A,changed     ok       -   -
        """

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `each event does in each state what the table says`(row: String) {
        let words = row.split(separator: " ").map(String.init)
        var script = Script()
        for event in words[0].split(separator: ",") where event != "-" { _ = script.take(String(event)) }
        let actions = script.take(words[1])
        let outcome =
            [script.subscribers.isEmpty ? "-" : script.subscribers] + (actions.isEmpty ? ["-"] : actions)
        #expect(outcome == Array(words.dropFirst(2)))
    }

    @Test func `the end of a write of an earlier link changes nothing`() {
        var script = Script()
        for event in ["+A", "gone"] { _ = script.take(event) }
        let old = script.lastWrite
        #expect(script.take("+A") == ["write:on"])
        var actions: [SubscriptionLedger.Action] = []
        script.ledger.written(old, error: nil, into: &actions)
        #expect(actions == [] && script.subscribers == "")
        #expect(script.take("ok") == ["A+"])
    }

    @Test func `each characteristic of each link has subscribers of its own`() {
        var ledger = SubscriptionLedger()
        var actions: [SubscriptionLedger.Action] = []
        func subscribe(_ manager: ManagerKey, _ link: Peer.ID, _ handle: AttributeHandle) {
            actions = []
            ledger.setNotify(true, for: .init(link: link, handle: handle), of: manager, into: &actions)
            if case .write(let number, _, _)? = actions.first {
                ledger.written(number, error: nil, into: &actions)
            }
        }
        subscribe(.a, .first, 9)
        subscribe(.a, .first, 3)
        subscribe(.b, .first, 3)
        subscribe(.b, .second, 3)
        #expect(ledger.subscribers(of: .init(link: .first, handle: 3)) == [.a, .b])
        #expect(ledger.subscribers(of: .init(link: .second, handle: 3)) == [.b])
        #expect(ledger.subscribers(of: .init(link: .first, handle: 9)) == [.a])
        #expect(ledger.hears(.b, .init(link: .second, handle: 3)))
        #expect(!ledger.hears(.a, .init(link: .second, handle: 3)))
        ledger.servicesChanged(1...5, on: .first, .failed(.lostLink), into: &actions)
        #expect(ledger.subscribers(of: .init(link: .first, handle: 3)) == [])
        #expect(ledger.subscribers(of: .init(link: .first, handle: 9)) == [.a])
        #expect(ledger.subscribers(of: .init(link: .second, handle: 3)) == [.b])
        ledger.linkEnded(.second, .failed(.lostLink), into: &actions)
        #expect(ledger.subscribers(of: .init(link: .second, handle: 3)) == [])
        #expect(ledger.subscribers(of: .init(link: .first, handle: 9)) == [.a])
    }

    // MARK: Histories

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `in any history there is one write for the first app and one after the last`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            var watcher = SubscriptionWatcher(canFail: Bool.random(using: &random))
            for _ in 0..<60 { watcher.step(&random) }
            watcher.finish()
            #expect(watcher.faults == [])
        }
    }
}

private let characteristic = SubscriptionLedger.Characteristic(link: .first, handle: 16)

/// Runs events that are written as words, about one characteristic.
private struct Script {
    var ledger = SubscriptionLedger()
    private(set) var lastWrite: UInt64 = 0

    var subscribers: String { ledger.subscribers(of: characteristic).map(\.letter).joined() }

    mutating func take(_ event: String) -> [String] {
        var actions: [SubscriptionLedger.Action] = []
        let manager: ManagerKey = event.hasSuffix("A") ? .a : .b
        switch event {
        case "ok": ledger.written(lastWrite, error: nil, into: &actions)
        case "err": ledger.written(lastWrite, error: .refused(.insufficientAuthentication), into: &actions)
        case "relA", "relB": ledger.release(.first, by: manager, into: &actions)
        case "gone": ledger.linkEnded(.first, .failed(.lostLink), into: &actions)
        case "changed": ledger.servicesChanged(10...20, on: .first, .failed(.lostLink), into: &actions)
        default: ledger.setNotify(event.hasPrefix("+"), for: characteristic, of: manager, into: &actions)
        }
        return actions.map { word($0) }
    }

    private mutating func word(_ action: SubscriptionLedger.Action) -> String {
        switch action {
        case .write(let number, _, let isOn):
            lastWrite = number
            return isOn ? "write:on" : "write:off"
        case .answer(let manager, _, let isOn, let error):
            return manager.letter + (isOn ? "+" : "-") + (error == nil ? "" : "!")
        }
    }
}

/// A peripheral and three apps that behave in any order, with what was wrong.
private struct SubscriptionWatcher {
    private var ledger = SubscriptionLedger()
    private let canFail: Bool
    /// The configuration at the peripheral, as far as the phone was told.
    private var isOn = false
    private var write: (number: UInt64, isOn: Bool)?
    private var open: [ManagerKey: [Bool]] = [:]
    /// The subscribers, by the answers.
    private var subscribed: Set<ManagerKey> = []
    private(set) var faults: [String] = []

    private static let managers = (1...3).map { ManagerKey.app($0) }

    init(canFail: Bool) {
        self.canFail = canFail
    }

    mutating func step(_ random: inout SeededGenerator) {
        let manager = Self.managers.randomElement(using: &random) ?? .a
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3: ask(manager, Bool.random(using: &random))
        case 4 where Bool.random(using: &random):
            open[manager] = nil
            subscribed.remove(manager)
            run { $0.release(.first, by: manager, into: &$1) }
        default: end(isRefused: canFail && Int.random(in: 0..<3, using: &random) == 0)
        }
        check()
    }

    /// Every write ends, and then everybody has an answer.
    mutating func finish() {
        for _ in 0..<200 where write != nil { end(isRefused: false) }
        if write != nil { faults.append("it never stops writing") }
        if open.values.contains(where: { !$0.isEmpty }) { faults.append("a request has no answer") }
        for manager in Self.managers {
            ask(manager, false)
            end(isRefused: false)
        }
        if isOn { faults.append("it is not cleared after the last") }
    }

    private mutating func ask(_ manager: ManagerKey, _ isOn: Bool) {
        open[manager, default: []].append(isOn)
        run { $0.setNotify(isOn, for: characteristic, of: manager, into: &$1) }
    }

    private mutating func end(isRefused: Bool) {
        guard let ended = write else { return }
        write = nil
        let hadSubscribers = !subscribed.isEmpty
        if !isRefused || !ended.isOn && !hadSubscribers { isOn = ended.isOn }
        run {
            $0.written(
                ended.number, error: isRefused ? .refused(.insufficientAuthentication) : nil, into: &$1)
        }
    }

    private mutating func run(
        _ body: (inout SubscriptionLedger, inout [SubscriptionLedger.Action]) -> Void
    ) {
        var actions: [SubscriptionLedger.Action] = []
        body(&ledger, &actions)
        for action in actions {
            switch action {
            case .write(let number, _, let isOn): begin(number, isOn)
            case .answer(let manager, _, let isOn, let error): answer(manager, isOn, error)
            }
        }
    }

    private mutating func begin(_ number: UInt64, _ new: Bool) {
        if write != nil { faults.append("two writes at once") }
        if new == isOn { faults.append("it is written as it is") }
        if new, !subscribed.isEmpty { faults.append("it is written for another than the first") }
        if !new, subscribed.count > 1 { faults.append("it is cleared before the last") }
        write = (number, new)
    }

    private mutating func answer(_ manager: ManagerKey, _ isOn: Bool, _ error: RequestError?) {
        guard open[manager]?.first == isOn else {
            faults.append("an answer that nobody waits for")
            return
        }
        open[manager]?.removeFirst()
        guard error == nil else { return }
        if isOn {
            if !self.isOn { faults.append("subscribed, and the peripheral does not know") }
            subscribed.insert(manager)
        } else {
            subscribed.remove(manager)
        }
    }

    private mutating func check() {
        if Set(ledger.subscribers(of: characteristic)) != subscribed {
            faults.append("values go to others than those who were told so")
        }
        if ledger.subscribers(of: characteristic).count != subscribed.count {
            faults.append("one is named twice")
        }
        if write == nil, isOn == subscribed.isEmpty {
            faults.append("the peripheral sends, or not, for nobody")
        }
    }
}
