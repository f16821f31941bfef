package import MynahSupport

extension Profile {
    /// Steps that the device plays, and the events that it expects in between: a test in a file.
    package struct Scenario: Hashable, Sendable {
        /// The scenario's name, which is unique in the profile.
        package var name: String
        /// The steps, at least one.
        package var steps: [ScenarioStep]
        /// The position of the scenario's declaration.
        package var mark: SourceMark
    }
}

/// A step of a scenario.
package struct ScenarioStep: Hashable, Sendable {
    /// An effect of a step, or its condition.
    package enum Action: Hashable, Sendable {
        /// Wait for an event, without a time limit if `within` is `nil`.
        case await(ScenarioEvent, within: Duration?)
        /// Wait for an event, which must happen within this time.
        case expect(ScenarioEvent, within: Duration)
        /// Waits.
        case after(Duration)
        /// Set variables, to constants or to other variables.
        case set([Reaction.Change])
        /// Turn a fault on or off.
        case fault(String, isOn: Bool)
        /// Changes what the device advertises.
        case advertise(AdvertisingRequest)
        /// Change the state of the app; the text is the word for the transition on the command line.
        case app(String)
        /// Ends the scenario.
        case end(isPass: Bool)
    }

    /// The step as written, but on one line and without braces.
    package var text: String
    package var action: Action

    /// The default time limit of a step that expects an event.
    static let usualLimit = Duration.seconds(5)
}

/// The description of the events that a step waits for.
package struct ScenarioEvent: Hashable, Sendable {
    /// The name of the event.
    package var name: String
    /// The match as one JSON object, in the form of the control API.
    package var match: JSON
}
