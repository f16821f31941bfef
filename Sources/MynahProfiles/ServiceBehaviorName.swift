package import MynahCore

/// The behavior of a service beyond storing values, named after the service that specifies the behavior.
package enum ServiceBehaviorName: String, Hashable, Sendable, CaseIterable {
    /// Measurements are stored until a central has confirmed them.
    case bloodPressure = "blood-pressure"
    /// Measurements are stored until a central has confirmed them.
    case bodyComposition = "body-composition"
    /// A session with its measurements, records and alerts, and both control points.
    case continuousGlucose = "continuous-glucose"
    /// A write sets the clock.
    case currentTime = "current-time"
    /// The SC Control Point is supported.
    case cyclingSpeedAndCadence = "cycling-speed-and-cadence"
    /// The Fitness Machine Control Point is supported.
    case fitnessMachine = "fitness-machine"
    /// Records are stored, and the Record Access Control Point is supported.
    case glucose
    /// The Heart Rate Control Point is supported.
    case heartRate = "heart-rate"
    /// Protocol modes, the HID Control Point and reports are supported.
    case hid
    /// A write starts an alert.
    case immediateAlert = "immediate-alert"
    /// The loss of the link starts an alert.
    case linkLoss = "link-loss"
    /// MCUmgr's echo, reset and image update are supported.
    case mcumgr
    /// Reads return no bytes, and written packets are not stored.
    case midi
    /// Nordic's secure DFU is supported.
    case nordicDFU = "nordic-dfu"
    /// Received data is sent back.
    case nordicUART = "nordic-uart"
    /// Records are stored, and the Record Access Control Point is supported.
    case pulseOximeter = "pulse-oximeter"
    /// The SC Control Point is supported.
    case runningSpeedAndCadence = "running-speed-and-cadence"
    /// Measurements are stored until a central has confirmed them.
    case weightScale = "weight-scale"

    /// The characteristic that a service with this behavior must have.
    ///
    /// The behavior sends the values of this characteristic, or answers the writes to it.
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

    /// `true` if the service stores measurements or records; the key `records` sets their number.
    package var hasRecords: Bool {
        switch self {
        case .bloodPressure, .bodyComposition, .continuousGlucose, .glucose, .pulseOximeter, .weightScale:
            true
        case .currentTime, .cyclingSpeedAndCadence, .fitnessMachine, .heartRate, .hid, .immediateAlert,
            .linkLoss, .mcumgr, .midi, .nordicDFU, .nordicUART, .runningSpeedAndCadence:
            false
        }
    }

    /// `true` if the device sends the main characteristic's values, and `false` if centrals write them.
    package var isSent: Bool {
        switch self {
        case .bloodPressure, .bodyComposition, .weightScale: true
        default: false
        }
    }

    /// The ATT errors of the behavior that some radios cannot send.
    ///
    /// The only such error is 0xFD: the answer if a central writes to the control point without a
    /// subscription to it.
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
