import MynahCore
import MynahHCI

/// The connection parameters that one side asks the other for (Core Specification, Vol 3, Part A, 4.20).
struct ConnectionParameterRange: Hashable, Sendable {
    /// The shortest connection interval, in units of 1.25 ms.
    var minimum: UInt16
    /// The longest connection interval, in units of 1.25 ms.
    var maximum: UInt16
    /// How many connection events the peripheral may skip.
    var latency: UInt16
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16

    /// Whether a central may take them: within their bounds, and with a supervision timeout that is longer
    /// than the peripheral may be silent.
    var isValid: Bool {
        (6...3200).contains(minimum) && (6...3200).contains(maximum) && minimum <= maximum && latency <= 499
            && (10...3200).contains(timeout)
            && Int(timeout) * 10 * 4 > (1 + Int(latency)) * Int(maximum) * 5 * 2
    }
}

extension ConnectionParameterRange {
    /// A peripheral's request: intervals of 15 to 30 ms, 30 to 60 ms or 120 to 240 ms, and a supervision
    /// timeout of 6 s.
    ///
    /// Apple names no numbers; these are multiples of 15 ms within its Accessory Design Guidelines.
    init(_ latency: ConnectionLatency) {
        let (minimum, maximum): (UInt16, UInt16) =
            switch latency {
            case .low: (12, 24)
            case .medium: (24, 48)
            case .high: (96, 192)
            }
        self.init(minimum: minimum, maximum: maximum, latency: 0, timeout: 600)
    }
}
