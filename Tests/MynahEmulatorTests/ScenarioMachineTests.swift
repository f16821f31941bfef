import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahEmulator

/// The machine that plays scenarios: every input in every state of a step.
@Suite(.timeLimit(.minutes(5))) struct ScenarioMachineTests {
    static func profile(_ steps: String) -> String {
        """
        mynah: 1
        name: Test
        scenarios: [{name: a, steps: [\(steps)]}]
        app: {backgroundModes: [bluetooth-peripheral]}
        variables: {power: 150}
        faults: [{name: gone, on: read, do: noAnswer}]
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: 01}}
              - {uuid: 2A39, properties: [write]}

        """
    }

    static func machine(_ steps: String) throws -> ScenarioMachine {
        let loaded = try ProfileLoader.load(text: profile(steps), file: "test.yaml")
        return ScenarioMachine(try Scenario(try #require(loaded.scenarios.first)))
    }

    static func event(_ name: DeviceEvent.Name, _ value: String? = nil) -> DeviceEvent {
        DeviceEvent(
            time: WallTime(microseconds: 0), name: name,
            fields: [
                .init("service", "180D"), .init("characteristic", name == .write ? "2A39" : "2A37"),
            ] + (value.map { [.init("value", .string($0))] } ?? []))
    }

    /// Gives an input, in a word, and returns the outputs in words.
    static func feed(_ machine: inout ScenarioMachine, _ input: String) -> [String] {
        let outputs: [ScenarioMachine.Output]
        switch input {
        case "begin": outputs = machine.begin()
        case "read": outputs = machine.observe(event(.read, "01"))
        case "write": outputs = machine.observe(event(.write, "01"))
        case "other": outputs = machine.observe(event(.write, "02"))
        case "sub": outputs = machine.observe(event(.subscribed))
        case "time": outputs = machine.timePassed()
        case "done": outputs = machine.done()
        case "failed": outputs = machine.done("it is not there")
        default: outputs = machine.cut("the run ended first")
        }
        return outputs.map(word)
    }

    private static func word(_ output: ScenarioMachine.Output) -> String {
        switch output {
        case .wait(let time): "wait \(time.text)"
        case .stopWaiting: "stop"
        case .carryOut(.advertise(let request)): "advertise \(request)"
        case .carryOut(.set(let changes)): "set \(changes.map(\.variable).joined())"
        case .carryOut(.turn(let fault, let isOn)): "turn \(fault) \(isOn ? "on" : "off")"
        case .carryOut(.move(let transition)): "app \(transition.rawValue)"
        case .end(let end): "\(end.isPass ? "pass" : "fail") \(end.step): \(end.message)"
        }
    }

    /// The steps, the inputs, and the outputs for each input.
    static let histories: [(steps: String, inputs: String, outputs: [[String]])] = [
        ("{end: pass}", "begin", [["pass 1: every step was played"]]),
        ("{end: fail}", "begin", [["fail 1: the scenario ends here (end: fail)"]]),
        // An event ends a step, and only if it matches.
        ("{await: read}", "begin sub read", [[], [], ["pass 1: every step was played"]]),
        (
            "{await: read}", "begin time done cut",
            [[], [], [], ["fail 1: the run ended first (await: read)"]]
        ),
        (
            "{await: read, within: 2 s}", "begin read",
            [["wait 2 s"], ["stop", "pass 1: every step was played"]]
        ),
        (
            "{await: read, within: 2 s}", "begin time",
            [["wait 2 s"], ["fail 1: no read within 2 s (await: read, within: 2 s)"]]
        ),
        (
            "{expect: write, value: 01}", "begin read write",
            [["wait 5 s"], [], ["stop", "pass 1: every step was played"]]
        ),
        (
            "{expect: write, value: 01}", "begin other time",
            [
                ["wait 5 s"], [],
                [
                    "fail 1: no such write within 5 s; the nearest one differs in value: service 180D, "
                        + "characteristic 2A39, value 02 (expect: write, value: 01)"
                ],
            ]
        ),
        (
            "{expect: write}", "begin cut",
            [["wait 5 s"], ["stop", "fail 1: the run ended first (expect: write)"]]
        ),
        // One event ends one step.
        ("{await: read}, {await: read}", "begin read read", [[], [], ["pass 2: every step was played"]]),
        ("{await: read}, {await: write}", "begin write read", [[], [], []]),
        // A pause: what happens meanwhile counts for nothing.
        (
            "{after: 5 s}, {await: read}", "begin read time read",
            [["wait 5 s"], [], [], ["pass 2: every step was played"]]
        ),
        (
            "{await: read}, {after: 5 s}, {await: write}", "begin read write time write",
            [[], ["wait 5 s"], [], [], ["pass 3: every step was played"]]
        ),
        ("{after: 5 s}", "begin cut", [["wait 5 s"], ["stop", "fail 1: the run ended first (after: 5 s)"]]),
        ("{after: 5 s}, {end: pass}", "begin time", [["wait 5 s"], ["pass 2: every step was played"]]),
        // Effects: an event that comes meanwhile ends a later step.
        ("{fault: gone}", "begin done", [["turn gone on"], ["pass 1: every step was played"]]),
        ("{fault: gone, off: true}", "begin done", [["turn gone off"], ["pass 1: every step was played"]]),
        ("{set: {power: 0}}", "begin done", [["set power"], ["pass 1: every step was played"]]),
        ("{app: background}", "begin done", [["app background"], ["pass 1: every step was played"]]),
        ("{fault: gone}", "begin failed", [["turn gone on"], ["fail 1: it is not there (fault: gone)"]]),
        ("{fault: gone}", "begin time", [["turn gone on"], []]),
        (
            "{fault: gone}", "begin cut done",
            [["turn gone on"], ["fail 1: the run ended first (fault: gone)"], []]
        ),
        (
            "{fault: gone}, {expect: read}", "begin read done",
            [["turn gone on"], [], ["pass 2: every step was played"]]
        ),
        (
            "{set: {power: 0}}, {fault: gone}, {await: read}, {expect: write}", "begin read done write done",
            [["set power"], [], ["turn gone on"], [], ["pass 4: every step was played"]]
        ),
        (
            "{await: read}, {set: {power: 0}}, {await: write}, {fault: gone}, {await: sub}",
            "begin read write done sub done",
            [[], ["set power"], [], ["turn gone on"], [], ["pass 5: every step was played"]]
        ),
        (
            "{fault: gone}, {after: 1 s}, {await: read}", "begin read done read time read",
            [["turn gone on"], [], ["wait 1 s"], [], [], ["pass 3: every step was played"]]
        ),
        // Nothing comes after the end.
        ("{end: pass}", "begin read time done cut", [["pass 1: every step was played"], [], [], [], []]),
    ]

    @Test("a scenario is played step by step", arguments: histories)
    func history(_ steps: String, _ inputs: String, _ outputs: [[String]]) throws {
        var machine = try Self.machine(steps.replacing("await: sub}", with: "await: subscribed}"))
        let given = inputs.split(separator: " ").map { Self.feed(&machine, String($0)) }
        #expect(given == outputs)
        #expect(
            machine.isOver
                == (outputs.flatMap { $0 }.last.map { $0.hasPrefix("pass") || $0.hasPrefix("fail") } ?? false)
        )
    }

    @Test func `no history of inputs plays a step twice, or goes on after the end`() throws {
        let steps = ["{await: read}", "{expect: write, within: 1 s}", "{after: 1 s}", "{fault: gone}"]
        let inputs = ["read", "write", "other", "time", "done", "failed", "cut"]
        var random = SeededRandom(seed: 20)
        for _ in 0..<2000 {
            let count = Int.random(in: 1...5, using: &random)
            let list = (0..<count).map { _ in steps.randomElement(using: &random) ?? "" }
            var machine = try Self.machine(list.joined(separator: ", "))
            var outputs = Self.feed(&machine, "begin")
            var index = machine.index
            for _ in 0..<20 {
                let isOver = machine.isOver
                let new = Self.feed(&machine, inputs.randomElement(using: &random) ?? "")
                #expect(!isOver || new.isEmpty)
                #expect(machine.index >= index)
                index = machine.index
                outputs += new
            }
            #expect(
                outputs.count { $0.hasPrefix("pass") || $0.hasPrefix("fail") } == (machine.isOver ? 1 : 0))
            #expect(outputs.count { $0 == "turn gone on" } <= list.count { $0.contains("fault") })
        }
    }

    @Test func `the catalog of events has the names of the event stream, and the words for an app`() {
        #expect(Set(EventCatalog.names) == Set(DeviceEvent.Name.allCases.map(\.rawValue)))
        for transition in AppTransition.allCases {
            #expect(throws: Never.self) { try Self.machine("{app: \(transition.rawValue)}") }
        }
    }

    @Test func `every field that a profile accepts is one that a match accepts`() throws {
        for name in EventCatalog.names {
            for field in EventCatalog.fields(of: name) where field != "value" {
                let match = JSON.object([.init("event", .string(name)), .init(field, "1")])
                #expect(throws: Never.self) { try EventMatch(json: match) }
            }
        }
    }
}
