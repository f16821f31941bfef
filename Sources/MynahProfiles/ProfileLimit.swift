import MynahCore

/// The parts of a profile whose number is limited.
///
/// The limits also apply to parts that a test adds or sets.
package enum ProfileLimit: CaseIterable, Sendable {
    /// The answers of a rule, and the answers that are queued for a central.
    case answers
    /// The faults of a device.
    case faults
    /// The notifications of a phone, which ANCS counts in one byte.
    case notifications
    /// The scenarios of a device.
    case scenarios
    /// The steps of a scenario.
    case steps
    /// The tracks of a phone's media player.
    case tracks
    /// The variables of a device.
    case variables
    /// The bytes of a variable's text, in UTF-8.
    case variableBytes

    /// The largest number of these parts.
    package var count: Int {
        switch self {
        case .answers: 10_000
        case .faults, .steps, .tracks, .variables: 1000
        case .notifications: 255
        case .scenarios: 100
        case .variableBytes: GATT.maximumValueLength
        }
    }
}
