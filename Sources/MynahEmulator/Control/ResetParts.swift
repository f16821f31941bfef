/// The parts of a device's state that a reset restores to the start of a run.
package struct ResetParts: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Values, generators and their tick counts.
    package static let values = ResetParts(rawValue: 1 << 0)
    /// The app's state, and Bluetooth if it was turned off.
    package static let app = ResetParts(rawValue: 1 << 1)
    /// The advertisement.
    package static let advertising = ResetParts(rawValue: 1 << 2)
    /// The links of centrals, which are ended.
    package static let connections = ResetParts(rawValue: 1 << 3)
    /// The bonds, which are deleted; the links of bonded centrals end.
    package static let bonds = ResetParts(rawValue: 1 << 4)
    package static let variables = ResetParts(rawValue: 1 << 5)
    /// Faults, their counters and their random numbers.
    package static let faults = ResetParts(rawValue: 1 << 6)
    package static let all: ResetParts = [
        .values, .variables, .app, .advertising, .connections, .bonds, .faults,
    ]

    /// The parts that can be reset only while Bluetooth is on.
    static let ofRadio = ResetParts.all.subtracting([.values, .variables, .faults])
    /// The parts whose reset ends links.
    static let ofLinks: ResetParts = [.connections, .bonds]
}
