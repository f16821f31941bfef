package import MynahSupport

extension Profile {
    /// Steps that the device plays, and the events that it expects meanwhile: a test in a file.
    package struct Scenario: Hashable, Sendable {
        /// The scenario's name, which no other scenario of the profile has.
        package var name: String
        /// At least one step.
        package var steps: [ScenarioStep]
        /// The position of its declaration.
        package var mark: SourceMark
    }
}

/// A step of a scenario.
package struct ScenarioStep: Hashable, Sendable {
    /// An effect of a step, or its condition.
    package enum Action: Hashable, Sendable {
        /// Waits for an event, without a limit if `within` is `nil`.
        case await(ScenarioEvent, within: Duration?)
        /// Waits for an event, which has to happen within this time.
        case expect(ScenarioEvent, within: Duration)
        /// Waits.
        case after(Duration)
        /// Sets variables, to constants or to other variables.
        case set([Reaction.Change])
        /// Turns a fault on or off.
        case fault(String, isOn: Bool)
        /// Changes what the device advertises.
        case advertise(AdvertisingRequest)
        /// Changes the state of the app, by the word that the command line has for it.
        case app(String)
        /// Ends the scenario.
        case end(isPass: Bool)
    }

    /// The step as written, on one line and without braces.
    package var text: String
    package var action: Action

    /// The default time limit of a step that expects an event.
    static let usualLimit = Duration.seconds(5)
}

/// The events that a step waits for.
package struct ScenarioEvent: Hashable, Sendable {
    /// The name of the event.
    package var name: String
    /// The match as one JSON object, as requests of the control API have it.
    package var match: JSON
}
