package import MynahSupport

extension Profile {
    /// A test in the profile: steps that the device carries out, and events that it expects in between.
    package struct Scenario: Hashable, Sendable {
        /// The scenario's name, which is unique in the profile.
        package var name: String
        /// The steps, at least one.
        package var steps: [ScenarioStep]
        /// The position of the scenario's declaration.
        package var mark: SourceMark
    }
}

package struct ScenarioStep: Hashable, Sendable {
    /// The effect of a step, or the event that it waits for.
    package enum Action: Hashable, Sendable {
        /// Wait for an event, for at most `within`, or without a limit if that is `nil`.
        case await(ScenarioEvent, within: Duration?)
        /// Wait for an event, which must happen within this time.
        case expect(ScenarioEvent, within: Duration)
        /// Wait for this time.
        case after(Duration)
        /// Set variables, to constants or to other variables.
        case set([Reaction.Change])
        /// Turn a fault on or off.
        case fault(String, isOn: Bool)
        /// Change the advertising.
        case advertise(AdvertisingRequest)
        /// Change the state of the app; the text is the transition's word on the command line.
        case app(String)
        /// End the scenario.
        case end(isPass: Bool)
    }

    /// The step on one line, as written but without braces.
    package var text: String
    package var action: Action

    /// The default time limit of a step that expects an event.
    static let usualLimit = Duration.seconds(5)
}

/// The description of the events that a step waits for.
package struct ScenarioEvent: Hashable, Sendable {
    package var name: String
    /// The conditions for the event's fields, as a JSON object in the form of the control API.
    package var match: JSON
}
