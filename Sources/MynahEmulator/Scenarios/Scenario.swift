import MynahLifecycle
import MynahProfiles

/// A scenario of a profile, in the form that `ScenarioMachine` plays.
struct Scenario {
    struct Step {
        /// The step as written in the profile.
        var text: String
        var action: Action
    }

    /// The effect of a step, or the condition that it waits for.
    enum Action {
        /// Wait for an event, for at most this time, or without a limit if the time is `nil`.
        case await(EventMatch, within: Duration?)
        case pause(Duration)
        case carryOut(ScenarioEffect)
        case end(isPass: Bool)
    }

    var name: String
    var steps: [Step]

    /// Converts a scenario of a profile.
    ///
    /// Throws if a step has an invalid match. The profile's decoder rejects such a match, so this does not
    /// happen for a decoded profile.
    init(_ scenario: Profile.Scenario) throws(EventMatch.Problem) {
        name = scenario.name
        steps = []
        for step in scenario.steps { steps.append(Step(text: step.text, action: try Action(step.action))) }
    }
}

extension Scenario.Action {
    fileprivate init(_ action: ScenarioStep.Action) throws(EventMatch.Problem) {
        switch action {
        case .await(let event, let limit): self = .await(try EventMatch(json: event.match), within: limit)
        case .expect(let event, let limit): self = .await(try EventMatch(json: event.match), within: limit)
        case .after(let time): self = .pause(time)
        case .set(let changes): self = .carryOut(.set(changes))
        case .fault(let name, let isOn): self = .carryOut(.turn(name, isOn: isOn))
        case .advertise(let request): self = .carryOut(.advertise(request))
        case .app(let word):
            guard let transition = AppTransition(rawValue: word) else {
                throw EventMatch.Problem(message: "there is no app state \"\(word)\"")
            }
            self = .carryOut(.move(transition))
        case .end(let isPass): self = .end(isPass: isPass)
        }
    }
}

/// The effect of a step on its device.
enum ScenarioEffect: Hashable, Sendable {
    /// Sets variables.
    case set([Reaction.Change])
    /// Turn a fault on or off.
    case turn(String, isOn: Bool)
    /// Changes what the device advertises.
    case advertise(AdvertisingRequest)
    /// Change the state of the app.
    case move(AppTransition)
}

/// The result of a scenario.
struct ScenarioEnd: Hashable, Sendable {
    var isPass: Bool
    /// The number of the last step, counted from 1.
    var step: Int
    var message: String
}
