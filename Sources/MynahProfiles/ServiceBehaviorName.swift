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
    /// MCUmgr's echo, reset and image update.
    case mcumgr
    /// Nordic's secure DFU.
    case nordicDFU = "nordic-dfu"
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
        case .mcumgr: "DA2E7828-FBCE-4E01-AE9E-261174997C48"
        case .nordicDFU: "8EC90001-F315-4F60-9FB8-838830DAEA50"
        case .nordicUART: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
        }
    }

    /// The errors that it answers with and that not every radio can send: 0xFD if its control point is
    /// written without a subscription.
    var errors: [ATTError] {
        switch self {
        case .fitnessMachine, .glucose, .nordicDFU: [.cccdImproperlyConfigured]
        case .currentTime, .cyclingSpeedAndCadence, .heartRate, .mcumgr, .nordicUART: []
        }
    }
}
