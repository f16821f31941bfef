import MynahSupport

/// Why a side of a link refuses connection parameters.
package struct ConnectionParameterRefusal: Hashable, Sendable {
    /// A rule that a request breaks, by its name in events.
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The bounds of the Core Specification.
        case specification
        /// The controller changes no connection parameters.
        case controller
        /// The shortest interval has a minimum and a maximum.
        case intervalMinimum
        /// The shortest interval is a multiple of a unit.
        case intervalMultiple
        /// The longest interval is far enough above the shortest.
        case intervalRange
        /// The latency has a maximum.
        case latency
        /// The supervision timeout has a minimum and a maximum.
        case supervisionTimeout
        /// The peripheral is silent for no longer than a maximum.
        case longestSilence
        /// The supervision timeout is longer than three times that silence.
        case timeoutForSilence
    }

    /// The rule.
    package var rule: Rule
    /// The condition that the request does not meet, without a full stop.
    package var message: String

    /// A refusal.
    package init(_ rule: Rule, _ message: String) {
        self.rule = rule
        self.message = message
    }
}

/// The rules by which a device accepts connection parameters that its peer requests.
package struct ConnectionParameterRules: Hashable, Sendable {
    /// The limits that an iPhone has beside those of the Core Specification (Apple's Accessory Design
    /// Guidelines, Connection Parameters).
    package struct Limits: Hashable, Sendable {
        /// The shortest interval that a request may begin with, and the longest.
        package var shortestInterval: ClosedRange<Duration>
        /// The shortest interval is a multiple of it, in units of 1.25 ms.
        package var multiple: UInt16
        /// The least difference between the longest and the shortest interval.
        package var range: Duration
        /// The interval that may be both the shortest and the longest, or `nil` if none may.
        package var single: Duration?
        /// The highest latency.
        package var latency: UInt16
        /// The supervision timeout.
        package var supervisionTimeout: ClosedRange<Duration>
        /// The longest interval × (latency + 1), at most.
        package var longestSilence: Duration
    }

    /// The limits beside those of the Core Specification, or `nil` if there are none.
    package var limits: Limits?

    /// The bounds of the Core Specification alone.
    package static let specification = ConnectionParameterRules()

    /// The bounds of the Core Specification, and limits beside them.
    package init(_ limits: Limits? = nil) {
        self.limits = limits
    }

    /// Why a request is refused: the first rule that it breaks, or `nil` if it is accepted.
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
