import MynahSupport

/// The reason that one side of a link refuses connection parameters.
package struct ConnectionParameterRefusal: Hashable, Sendable {
    /// A rule that a request can violate; the raw value is its name in events.
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The parameters must be within the limits of the Core Specification.
        case specification
        /// The controller must support a change of the connection parameters.
        case controller
        /// The shortest interval must be within limits.
        case intervalMinimum
        /// The shortest interval must be a multiple of a unit.
        case intervalMultiple
        /// The difference between the longest and the shortest interval must not be below a minimum.
        case intervalRange
        /// The latency must not exceed a maximum.
        case latency
        /// The supervision timeout must be within limits.
        case supervisionTimeout
        /// The longest interval × (latency + 1) must not exceed a maximum.
        case longestSilence
        /// The supervision timeout must be more than three times the longest interval × (latency + 1).
        case timeoutForSilence
    }

    package var rule: Rule
    /// The condition that the request violates, without a full stop.
    package var message: String

    package init(_ rule: Rule, _ message: String) {
        self.rule = rule
        self.message = message
    }
}

/// The rules that decide whether a device accepts connection parameters that its peer requests.
package struct ConnectionParameterRules: Hashable, Sendable {
    /// An iPhone's limits in addition to those of the Core Specification (Apple's Accessory Design
    /// Guidelines, Connection Parameters).
    package struct Limits: Hashable, Sendable {
        /// The allowed range of a request's shortest interval.
        package var shortestInterval: ClosedRange<Duration>
        /// The unit of which the shortest interval must be a multiple, in units of 1.25 ms.
        package var multiple: UInt16
        /// The smallest difference between the longest and the shortest interval.
        package var range: Duration
        /// An interval that may be both the shortest and the longest, despite `range`, or `nil` if there is
        /// none.
        package var single: Duration?
        /// The highest peripheral latency.
        package var latency: UInt16
        /// The allowed range of the supervision timeout.
        package var supervisionTimeout: ClosedRange<Duration>
        /// The maximum of the longest interval × (latency + 1).
        package var longestSilence: Duration
    }

    /// The limits in addition to those of the Core Specification, or `nil` if there are none.
    package var limits: Limits?

    /// The rules with only the limits of the Core Specification.
    package static let specification = ConnectionParameterRules()

    /// Makes rules with the limits of the Core Specification, and further limits.
    package init(_ limits: Limits? = nil) {
        self.limits = limits
    }

    /// Returns the first rule that a request violates, or `nil` if the request is accepted.
    package func refusal(of wanted: ConnectionParameterRange) -> ConnectionParameterRefusal? {
        guard wanted.isValid else {
            return .init(.specification, "the Core Specification does not allow these connection parameters")
        }
        guard let limits else { return nil }
        let shortest = wanted.shortestInterval
        if !limits.shortestInterval.contains(shortest) {
            return .init(
                .intervalMinimum,
                "the shortest interval must be \(Self.text(of: limits.shortestInterval))")
        }
        if !wanted.minimum.isMultiple(of: limits.multiple) {
            let multiple = ConnectionParameterRange.intervalUnit * Int(limits.multiple)
            return .init(.intervalMultiple, "the shortest interval must be a multiple of \(multiple.text)")
        }
        let isSingle = wanted.minimum == wanted.maximum && shortest == limits.single
        if !isSingle, wanted.longestInterval < shortest + limits.range {
            let single = limits.single.map { ", or both must be \($0.text)" } ?? ""
            return .init(
                .intervalRange,
                "the longest interval must be \(limits.range.text) above the shortest\(single)")
        }
        if wanted.latency > limits.latency {
            return .init(.latency, "the latency must be at most \(limits.latency)")
        }
        if !limits.supervisionTimeout.contains(wanted.supervisionTimeout) {
            return .init(
                .supervisionTimeout,
                "the supervision timeout must be \(Self.text(of: limits.supervisionTimeout))")
        }
        if wanted.longestSilence > limits.longestSilence {
            return .init(
                .longestSilence,
                "the longest interval × (latency + 1) must be at most \(limits.longestSilence.text)")
        }
        if wanted.supervisionTimeout <= wanted.longestSilence * 3 {
            return .init(
                .timeoutForSilence,
                "the supervision timeout must be above 3 × the longest interval × (latency + 1)")
        }
        return nil
    }

    private static func text(of range: ClosedRange<Duration>) -> String {
        "\(range.lowerBound.text) to \(range.upperBound.text)"
    }
}
