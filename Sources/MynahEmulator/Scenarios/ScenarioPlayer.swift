import MynahProfiles
import MynahSupport

/// Plays the scenarios of an emulator's devices, at most one at a time for each device.
///
/// Belongs to the emulator, and runs on the phone's executor. Scenarios receive the events of the devices in
/// order. Effects are carried out later, because an event may be reported in the middle of a change.
final class ScenarioPlayer {
    /// A scenario that is being played.
    private struct Played {
        let number: Int
        let label: String
        let events: EventReporter
        var machine: ScenarioMachine
        /// The time until which the scenario waits, and the task that wakes it then.
        var wait: (due: RunClock.Instant, task: Task<Void, Never>)?

        /// Whether an event concerns the scenario's device or its phone.
        ///
        /// With `isOfAll`, an event without a device concerns all devices.
        func isAbout(_ event: DeviceEvent, isOfAll: Bool) -> Bool {
            guard let name = event.device else { return events.device == nil || isOfAll }
            return EventMatch.isDevice(label, name)
        }
    }

    private let clock: RunClock
    private let link: EmulatorLink
    /// `true` while a scenario is being played, or waits for its device to be ready.
    private let isPlaying: Lock<Bool>
    private var played: [Played] = []
    private var last = 0
    /// The function to call when the devices are ready, or `nil`.
    private var whenReady: (() -> Void)?

    init(_ clock: RunClock, _ link: EmulatorLink, isPlaying: Lock<Bool>) {
        self.clock = clock
        self.link = link
        self.isPlaying = isPlaying
    }

    /// Calls `body` as soon as the devices are ready, before the next event.
    func onReady(_ body: @escaping () -> Void) {
        whenReady = body
        noteUse()
    }

    /// Returns the name of the scenario that a device is playing, or `nil` if there is none.
    func scenario(of label: String) -> String? {
        played.first { $0.label == label }?.machine.scenario.name
    }

    /// Begins to play a scenario; `events` reports its end.
    func begin(_ scenario: Scenario, of label: String, _ events: EventReporter) {
        last += 1
        played.append(Played(number: last, label: label, events: events, machine: ScenarioMachine(scenario)))
        noteUse()
        feed(last) { $0.begin() }
    }

    /// Ends the scenario of a device as failed, or all scenarios if `label` is `nil`.
    func end(of label: String? = nil, _ reason: String) {
        for each in played where label == nil || each.label == label { feed(each.number) { $0.cut(reason) } }
    }

    /// Handles an event of a device or of its phone, after it was reported.
    ///
    /// With `isOfAll`, an event without a device concerns all devices.
    func observe(_ event: DeviceEvent, isOfAll: Bool) {
        if event.name == .ready, let body = whenReady {
            whenReady = nil
            body()
            return noteUse()
        }
        for each in played where each.isAbout(event, isOfAll: isOfAll) {
            // An event at the same time as the end of a wait comes too late.
            if let due = each.wait?.due, due <= clock.now { timePassed(each.number) }
            feed(each.number) { $0.observe(event) }
        }
    }

    // MARK: The machines

    private func timePassed(_ number: Int) {
        if let index = played.firstIndex(where: { $0.number == number }) {
            played[index].wait?.task.cancel()
            played[index].wait = nil
        }
        feed(number) { $0.timePassed() }
    }

    private func feed(_ number: Int, _ input: (inout ScenarioMachine) -> [ScenarioMachine.Output]) {
        guard let index = played.firstIndex(where: { $0.number == number }) else { return }
        for output in input(&played[index].machine) {
            switch output {
            case .wait(let time):
                let due = clock.now.advanced(by: time)
                let task = link.enqueue(at: due, on: clock) {
                    $0.control.scenarios.player.timePassed(number)
                }
                played[index].wait = (due, task)
            case .stopWaiting:
                played[index].wait?.task.cancel()
                played[index].wait = nil
            case .carryOut(let effect):
                link.enqueue { [label = played[index].label] emulator in
                    let scenarios = emulator.control.scenarios
                    // The scenario may have ended in the meantime.
                    guard scenarios.player.isPlaying(number) else { return }
                    let problem = await scenarios.carryOut(effect, of: label)
                    scenarios.player.feed(number) { $0.done(problem) }
                }
            case .end(let end): finish(played.remove(at: index), end)
            }
        }
    }

    private func isPlaying(_ number: Int) -> Bool { played.contains { $0.number == number } }

    private func finish(_ each: Played, _ end: ScenarioEnd) {
        noteUse()
        Self.report(end, of: each.machine.scenario.name, each.events)
    }

    /// Reports the end of a scenario, even of one that could not begin.
    static func report(_ end: ScenarioEnd, of name: String, _ events: EventReporter) {
        events.report(
            .scenarioEnded,
            .scenarioEnd(.init(name, isPass: end.isPass, step: end.step, end.message)))
    }

    private func noteUse() {
        let isUsed = !played.isEmpty || whenReady != nil
        isPlaying.withLock { $0 = isUsed }
    }
}
