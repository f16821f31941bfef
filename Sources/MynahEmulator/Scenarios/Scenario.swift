import MynahLifecycle
import MynahProfiles

/// A scenario of a profile, as the machine plays it.
struct Scenario {
    /// A step.
    struct Step {
        /// The step as it is written.
        var text: String
        var action: Action
    }

    /// An effect of a step, or its condition.
    enum Action {
        /// An event happens, within this time if that is not `nil`.
        case await(EventMatch, within: Duration?)
        case pause(Duration)
        case carryOut(ScenarioEffect)
        case end(isPass: Bool)
    }

    var name: String
    var steps: [Step]

    /// Throws if a step waits for an event that no match describes; the decoder of profiles lets none pass.
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
    /// Turns a fault on or off.
    case turn(String, isOn: Bool)
    /// Changes what the device advertises.
    case advertise(AdvertisingRequest)
    /// Changes the state of the app.
    case move(AppTransition)
}

/// How a scenario ended.
struct ScenarioEnd: Hashable, Sendable {
    var isPass: Bool
    /// The number of the step that ended it, from 1 on.
    var step: Int
    var message: String
}
