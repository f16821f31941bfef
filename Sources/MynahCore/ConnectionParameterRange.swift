/// The connection parameters that one side of a link requests, with a range of intervals.
///
/// For current parameters, both intervals are the same (Core Specification, Vol 3, Part A, 4.20).
public struct ConnectionParameterRange: Hashable, Sendable {
    /// The shortest connection interval, in units of 1.25 ms.
    package var minimum: UInt16
    /// The longest connection interval, in units of 1.25 ms.
    package var maximum: UInt16
    /// The peripheral latency: the number of connection events that the peripheral may skip.
    package var latency: UInt16
    /// The supervision timeout, in units of 10 ms.
    package var timeout: UInt16

    /// Makes a range of connection parameters.
    package init(minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16) {
        self.minimum = minimum
        self.maximum = maximum
        self.latency = latency
        self.timeout = timeout
    }

    package static let intervalUnit = Duration.microseconds(1250)
    /// The unit of supervision timeouts.
    package static let timeoutUnit = Duration.milliseconds(10)

    package var shortestInterval: Duration { Self.intervalUnit * Int(minimum) }
    package var longestInterval: Duration { Self.intervalUnit * Int(maximum) }
    package var supervisionTimeout: Duration { Self.timeoutUnit * Int(timeout) }
    /// The longest time between two connection events in which the peripheral listens.
    package var longestSilence: Duration { longestInterval * (1 + Int(latency)) }

    /// Whether the parameters are within the limits of the specification.
    ///
    /// The supervision timeout must be more than twice `longestSilence`.
    package var isValid: Bool {
        (6...3200).contains(minimum) && (6...3200).contains(maximum) && minimum <= maximum && latency <= 499
            && (10...3200).contains(timeout) && supervisionTimeout > longestSilence * 2
    }
}

extension ConnectionParameterRange {
    /// Makes the parameters that a peripheral requests for a connection latency.
    ///
    /// The intervals are 15 to 30 ms, 30 to 60 ms or 120 to 240 ms, and the supervision timeout is 6 s. Apple
    /// documents no numbers; an iPhone accepts these from iOS 10 on.
    package init(_ latency: ConnectionLatency) {
        let (minimum, maximum): (UInt16, UInt16) =
            switch latency {
            case .low: (12, 24)
            case .medium: (24, 48)
            case .high: (96, 192)
            }
        self.init(minimum: minimum, maximum: maximum, latency: 0, timeout: 600)
    }
}

/// A report about the connection parameters of a link.
public struct ConnectionParameterReport: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// The peer requested other parameters, or answered a request.
        case requested(ConnectionParameterRequest)
        /// The connection parameters changed to these.
        case changed(ConnectionParameterRange)
    }

    /// The reported request or change.
    package var content: Content

    /// Makes a report with this content.
    package init(_ content: Content) {
        self.content = content
    }
}

/// A request for connection parameters, with its answer.
package struct ConnectionParameterRequest: Hashable, Sendable {
    package enum Procedure: String, Hashable, Sendable {
        /// The Connection Parameter Update Request of L2CAP.
        case l2cap
        /// The Connection Parameters Request procedure of the Link Layer.
        case linkLayer
    }

    /// The requested parameters.
    package var wanted: ConnectionParameterRange
    package var procedure: Procedure
    /// Whether the parameters were accepted.
    package var isAccepted: Bool
    /// The rule that the parameters violate, with its description.
    ///
    /// The value is `nil` if the parameters were accepted. It is also `nil` if the peer refused them,
    /// because the answer of a peer has no reason.
    package var refusal: ConnectionParameterRefusal?

    /// Makes a request with its answer.
    package init(
        _ wanted: ConnectionParameterRange, by procedure: Procedure, isAccepted: Bool,
        _ refusal: ConnectionParameterRefusal? = nil
    ) {
        self.wanted = wanted
        self.procedure = procedure
        self.isAccepted = isAccepted
        self.refusal = refusal
    }
}
