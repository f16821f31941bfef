import MynahProfiles
import MynahSupport

/// Plays the steps of a scenario: a state machine without I/O and without a clock.
///
/// Events during a pause are ignored. An event during an effect can already end the next step that waits for
/// an event. Each event ends at most one step.
struct ScenarioMachine {
    /// An instruction to the driver.
    enum Output: Hashable, Sendable {
        /// Call `timePassed()` after this time, unless `stopWaiting` follows first.
        case wait(Duration)
        /// Cancel the call of `timePassed()`.
        case stopWaiting
        /// Carry out an effect, and then call `done()`.
        case carryOut(ScenarioEffect)
        /// The scenario has ended, and no further output follows.
        case end(ScenarioEnd)
    }

    /// The state of the current step.
    private enum Stage {
        case idle
        /// The scenario waits for an event, and with `isLimited` also for a time limit.
        case awaiting(isLimited: Bool)
        case pausing
        case carryingOut
        case ended
    }

    let scenario: Scenario
    private var stage = Stage.idle
    private(set) var index = 0
    /// The index of the next step that waits for an event, or `nil` if a pause or an `end` step precedes it.
    ///
    /// This is the current step or, while effects are carried out, a later one.
    private var awaited: Int?
    /// The index of the step that the last matching event ended.
    private var met: Int?
    private var nearest: NearestMatches<DeviceEvent>?

    init(_ scenario: Scenario) {
        self.scenario = scenario
    }

    /// `true` if the scenario has ended.
    var isOver: Bool { if case .ended = stage { true } else { false } }

    // MARK: Inputs

    /// Begins with the first step.
    mutating func begin() -> [Output] {
        look(from: 0)
        return advance()
    }

    /// Handles an event of the device.
    mutating func observe(_ event: DeviceEvent) -> [Output] {
        guard let awaited, case .await(let match, let limit) = scenario.steps[awaited].action else {
            return []
        }
        guard match.matches(event) else {
            nearest?.compare(event, event)
            return []
        }
        met = awaited
        look(from: awaited + 1)
        guard awaited == index, case .awaiting = stage else { return [] }
        index += 1
        return (limit == nil ? [] : [.stopWaiting]) + advance()
    }

    /// Handles the end of the time that the last `wait` has requested.
    mutating func timePassed() -> [Output] {
        switch stage {
        case .awaiting(isLimited: true): return fail(missing)
        case .pausing:
            index += 1
            look(from: index)
            return advance()
        case .idle, .awaiting, .carryingOut, .ended: return []
        }
    }

    /// Handles the completion of an effect; `problem` is the reason that it failed, or `nil` if it
    /// succeeded.
    mutating func done(_ problem: String? = nil) -> [Output] {
        guard case .carryingOut = stage else { return [] }
        if let problem { return fail(problem) }
        index += 1
        return advance()
    }

    /// Ends the scenario as failed, for the given reason.
    mutating func cut(_ reason: String) -> [Output] {
        let isLimited = if case .awaiting(isLimited: true) = stage { true } else { false }
        let isPausing = if case .pausing = stage { true } else { false }
        return isOver ? [] : (isLimited || isPausing ? [.stopWaiting] : []) + fail(reason)
    }

    // MARK: Steps

    /// Plays steps until one of them has to wait.
    private mutating func advance() -> [Output] {
        while index < scenario.steps.count {
            switch scenario.steps[index].action {
            case .await(_, let limit):
                if let met, met >= index { break }
                stage = .awaiting(isLimited: limit != nil)
                return limit.map { [.wait($0)] } ?? []
            case .pause(let time):
                stage = .pausing
                return [.wait(time)]
            case .carryOut(let effect):
                stage = .carryingOut
                return [.carryOut(effect)]
            case .end(isPass: true): return pass()
            case .end(isPass: false): return fail("the scenario ends here")
            }
            index += 1
        }
        index = scenario.steps.count - 1
        return pass()
    }

    /// Finds the first step from `index` on that the next event may end.
    private mutating func look(from index: Int) {
        awaited = nil
        nearest = nil
        for (index, step) in scenario.steps.enumerated().dropFirst(index) {
            switch step.action {
            case .carryOut: continue
            case .pause, .end: return
            case .await(let match, _):
                awaited = index
                nearest = NearestMatches(to: match, limit: 1)
                return
            }
        }
    }

    private mutating func pass() -> [Output] { end(isPass: true, "every step was played") }

    private mutating func fail(_ reason: String) -> [Output] {
        end(isPass: false, "\(reason) (\(scenario.steps[index].text))")
    }

    private mutating func end(isPass: Bool, _ message: String) -> [Output] {
        stage = .ended
        awaited = nil
        return [.end(ScenarioEnd(isPass: isPass, step: index + 1, message: message))]
    }

    /// The message that the expected event did not happen in time, with the nearest events.
    private var missing: String {
        guard case .await(let match, let limit?) = scenario.steps[index].action else { return "" }
        let name = match.name.rawValue
        guard let near = nearest?.candidates.first else { return "no \(name) within \(limit.text)" }
        return """
            no such \(name) within \(limit.text); the nearest one differs in \
            \(near.differs.joined(separator: ", ")): \(near.item.words)
            """
    }
}

extension DeviceEvent {
    /// The fields as text for a message.
    fileprivate var words: String {
        fields.map { "\($0.key) \($0.value.stringValue ?? $0.value.text)" }.joined(separator: ", ")
    }
}
