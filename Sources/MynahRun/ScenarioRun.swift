import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport

/// The scenario of a run, with its result.
final class ScenarioRun: Sendable {
    /// The end of the scenario.
    private struct End {
        var isPass: Bool
        var step: Int
        var message: String
        /// Whether the scenario ended only because the run was ending.
        var isCut: Bool
    }

    private struct State {
        var began: RunClock.Instant?
        var ended: RunClock.Instant?
        var end: End?
    }

    let choice: ScenarioChoice
    private let clock: RunClock
    private let state = Lock(State())

    init(_ choice: ScenarioChoice, clock: RunClock) {
        self.choice = choice
        self.clock = clock
    }

    /// Forgets the result; called when the run starts again.
    func beginAnew() { state.withLock { $0 = State() } }

    /// Handles an event, which contains the name of its device; returns whether the event ends the run.
    ///
    /// `isOver` is `true` if the run is already ending.
    func observe(_ event: DeviceEvent, isOver: Bool) -> Bool {
        state.withLock { state in
            switch event.payload {
            case .ready where state.began == nil:
                state.began = clock.now
                return false
            case .scenarioEnd(let end) where state.end == nil:
                guard event.device == choice.device, end.scenario == choice.name else { return false }
                state.ended = clock.now
                state.end = End(isPass: end.isPass, step: end.step, message: end.message, isCut: isOver)
                return true
            default: return false
            }
        }
    }

    /// The reason why the scenario did not pass, or `nil` if it passed.
    ///
    /// `cause` is the reason why the run ended, or `nil` if the scenario ended it.
    func trouble(_ cause: String?) -> JUnitReport.Trouble? {
        guard let end = state.withLock({ $0.end }) else {
            return .error(cause ?? "the run ended before the scenario began")
        }
        let place = "step \(end.step): \(end.message)"
        if end.isPass, !end.isCut { return nil }
        return end.isCut ? .error("\(cause ?? "the run was ended") at \(place)") : .failure(place)
    }

    /// The message with the reason why the scenario did not pass, or `nil` if it passed.
    ///
    /// `cause` is the reason why the run ended, or `nil` if the scenario ended it.
    func complaint(_ cause: String?) -> String? {
        let name = "the scenario \"\(choice.name)\""
        switch trouble(cause) {
        case .failure(let message): return "\(name) failed at \(message)"
        case .error(let message): return "\(name) did not end: \(message)"
        case nil: return nil
        }
    }

    /// The result as a JUnit report in XML.
    ///
    /// `cause` is the reason why the run ended, or `nil` if the scenario ended it.
    func report(_ cause: String?) -> String {
        let time = state.withLock { state in
            state.began.map { $0.duration(to: state.ended ?? clock.now) } ?? .zero
        }
        let trouble = trouble(cause)
        return JUnitReport([
            .init(choice.name, of: choice.device, time: time, troubles: trouble.map { [$0] } ?? [])
        ]).text
    }
}
