package import MynahCore

/// The behavior of a service in addition to storing values, by the name of the service that specifies it.
package enum ServiceBehaviorName: String, Hashable, Sendable, CaseIterable {
    /// Measurements that are stored until they are confirmed.
    case bloodPressure = "blood-pressure"
    /// Measurements that are stored until they are confirmed.
    case bodyComposition = "body-composition"
    /// A session with its measurements, records and alerts, and both control points.
    case continuousGlucose = "continuous-glucose"
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
    /// Protocol modes, the HID Control Point and reports.
    case hid
    /// An alert at once.
    case immediateAlert = "immediate-alert"
    /// An alert when the link is lost.
    case linkLoss = "link-loss"
    /// MCUmgr's echo, reset and image update.
    case mcumgr
    /// Reads without bytes, and writes that are not kept.
    case midi
    /// Nordic's secure DFU.
    case nordicDFU = "nordic-dfu"
    /// Received data is sent back.
    case nordicUART = "nordic-uart"
    /// Stored records, and the Record Access Control Point.
    case pulseOximeter = "pulse-oximeter"
    /// The SC Control Point.
    case runningSpeedAndCadence = "running-speed-and-cadence"
    /// Measurements that are stored until they are confirmed.
    case weightScale = "weight-scale"

    /// The characteristic that it cannot be without: the one whose writes it answers, or whose values it
    /// sends.
    package var mainCharacteristic: BluetoothUUID {
        switch self {
        case .bloodPressure: "2A35"
        case .bodyComposition: "2A9C"
        case .continuousGlucose: "2AAC"
        case .currentTime: "2A2B"
        case .cyclingSpeedAndCadence, .runningSpeedAndCadence: "2A55"
        case .fitnessMachine: "2AD9"
        case .glucose, .pulseOximeter: "2A52"
        case .heartRate: "2A39"
        case .immediateAlert, .linkLoss: "2A06"
        case .mcumgr: "DA2E7828-FBCE-4E01-AE9E-261174997C48"
        case .nordicDFU: "8EC90001-F315-4F60-9FB8-838830DAEA50"
        case .hid: "2A4C"
        case .midi: "7772E5DB-3868-4112-A1A9-F2669D106BF3"
        case .nordicUART: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
        case .weightScale: "2A9D"
        }
    }

    /// `true` if the service stores measurements or records, which `records` counts.
    package var hasRecords: Bool {
        switch self {
        case .bloodPressure, .bodyComposition, .continuousGlucose, .glucose, .pulseOximeter, .weightScale:
            true
        case .currentTime, .cyclingSpeedAndCadence, .fitnessMachine, .heartRate, .hid, .immediateAlert,
            .linkLoss, .mcumgr, .midi, .nordicDFU, .nordicUART, .runningSpeedAndCadence:
            false
        }
    }

    /// `true` if the device sends the main characteristic, `false` if centrals write it.
    package var isSent: Bool {
        switch self {
        case .bloodPressure, .bodyComposition, .weightScale: true
        default: false
        }
    }

    /// The errors of the behavior that not every radio can send: 0xFD if its control point is written without
    /// a subscription.
    var errors: [ATTError] {
        switch self {
        case .continuousGlucose, .fitnessMachine, .nordicDFU, .pulseOximeter: [.cccdImproperlyConfigured]
        case .bloodPressure, .bodyComposition, .currentTime, .cyclingSpeedAndCadence, .glucose, .heartRate,
            .hid, .immediateAlert, .linkLoss, .mcumgr, .midi, .nordicUART, .runningSpeedAndCadence,
            .weightScale:
            []
        }
    }
}
