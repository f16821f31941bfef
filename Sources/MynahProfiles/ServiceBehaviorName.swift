package import MynahCore

/// The behavior of a service beyond keeping its values, by the name of the service that specifies it.
package enum ServiceBehaviorName: String, Hashable, Sendable, CaseIterable {
    /// A write sets the clock.
    case currentTime = "current-time"
    /// The SC Control Point.
    case cyclingSpeedAndCadence = "cycling-speed-and-cadence"
    /// The Fitness Machine Control Point.
    case fitnessMachine = "fitness-machine"
    /// Stored records, and the Record Access Control Point.
    case glucose
    /// The Heart Rate Control Point.
    case heartRate = "heart-rate"
    /// Protocol modes, the HID Control Point and reports.
    case hid
    /// Reads without bytes, and writes that are not kept.
    case midi
    /// Sends received data back.
    case nordicUART = "nordic-uart"

    /// The characteristic whose writes it answers.
    package var controlPoint: BluetoothUUID {
        switch self {
        case .currentTime: "2A2B"
        case .cyclingSpeedAndCadence: "2A55"
        case .fitnessMachine: "2AD9"
        case .glucose: "2A52"
        case .heartRate: "2A39"
        case .hid: "2A4C"
        case .midi: "7772E5DB-3868-4112-A1A9-F2669D106BF3"
        case .nordicUART: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
        }
    }

    /// The errors that it answers with and that not every radio can send: 0xFD if its control point is
    /// written without a subscription.
    var errors: [ATTError] {
        switch self {
        case .fitnessMachine, .glucose: [.cccdImproperlyConfigured]
        case .currentTime, .cyclingSpeedAndCadence, .heartRate, .hid, .midi, .nordicUART: []
        }
    }
}
