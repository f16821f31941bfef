package import MynahCore

/// The behavior of a service in addition to storing values, by the name of the service that specifies it.
package enum ServiceBehaviorName: String, Hashable, Sendable, CaseIterable {
    /// A write sets the clock (Current Time).
    case currentTime = "current-time"
    /// The procedures of the SC Control Point.
    case cyclingSpeedAndCadence = "cycling-speed-and-cadence"
    /// The procedures of the Fitness Machine Control Point.
    case fitnessMachine = "fitness-machine"
    /// Stored records, and the procedures of the Record Access Control Point.
    case glucose
    /// The procedures of the Heart Rate Control Point.
    case heartRate = "heart-rate"
    /// Received data is sent back.
    case nordicUART = "nordic-uart"

    /// The characteristic whose writes the behavior answers.
    package var controlPoint: BluetoothUUID {
        switch self {
        case .currentTime: "2A2B"
        case .cyclingSpeedAndCadence: "2A55"
        case .fitnessMachine: "2AD9"
        case .glucose: "2A52"
        case .heartRate: "2A39"
        case .nordicUART: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
        }
    }

    /// The errors of the behavior that not every radio can send: 0xFD if its control point is written without
    /// a subscription.
    var errors: [ATTError] {
        switch self {
        case .fitnessMachine, .glucose: [.cccdImproperlyConfigured]
        case .currentTime, .cyclingSpeedAndCadence, .heartRate, .nordicUART: []
        }
    }
}
