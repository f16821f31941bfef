import MynahCore

/// A command of the Fitness Machine Control Point (Fitness Machine Service 1.0.1, 4.16).
struct FitnessCommand: Hashable, Sendable {
    enum Opcode: UInt8, CaseIterable {
        case requestControl = 0x00
        case reset = 0x01
        case targetSpeed = 0x02
        case targetInclination = 0x03
        case targetResistance = 0x04
        case targetPower = 0x05
        case targetHeartRate = 0x06
        case start = 0x07
        case stop = 0x08
        case targetEnergy = 0x09
        case targetSteps = 0x0A
        case targetStrides = 0x0B
        case targetDistance = 0x0C
        case targetTime = 0x0D
        case timeInTwoZones = 0x0E
        case timeInThreeZones = 0x0F
        case timeInFiveZones = 0x10
        case simulation = 0x11
        case wheelCircumference = 0x12
        case spinDown = 0x13
        case targetCadence = 0x14

        /// The bit of the Target Setting Features that the command requires, or `nil` if it requires none.
        var feature: UInt32? {
            switch self {
            case .requestControl, .reset, .start, .stop: nil
            case .targetSpeed: 0
            case .targetInclination: 1
            case .targetResistance: 2
            case .targetPower: 3
            case .targetHeartRate: 4
            case .targetEnergy: 5
            case .targetSteps: 6
            case .targetStrides: 7
            case .targetDistance: 8
            case .targetTime: 9
            case .timeInTwoZones: 10
            case .timeInThreeZones: 11
            case .timeInFiveZones: 12
            case .simulation: 13
            case .wheelCircumference: 14
            case .spinDown: 15
            case .targetCadence: 16
            }
        }

        /// The length of the parameter, in octets.
        var octets: Int {
            switch self {
            case .requestControl, .reset, .start: 0
            case .targetResistance, .targetHeartRate, .stop, .spinDown: 1
            case .targetSpeed, .targetInclination, .targetPower, .targetEnergy, .targetSteps, .targetStrides,
                .targetTime, .wheelCircumference, .targetCadence:
                2
            case .targetDistance: 3
            case .timeInTwoZones: 4
            case .timeInThreeZones, .simulation: 6
            case .timeInFiveZones: 10
            }
        }

        /// The opcode of the Fitness Machine Status that reports the command, or `nil` if there is none.
        var status: UInt8? {
            switch self {
            case .requestControl, .spinDown: nil
            case .reset: 0x01
            case .stop: 0x02
            case .start: 0x04
            case .targetSpeed, .targetInclination, .targetResistance, .targetPower, .targetHeartRate:
                rawValue + 3
            case .targetEnergy, .targetSteps, .targetStrides, .targetDistance, .targetTime, .timeInTwoZones,
                .timeInThreeZones, .timeInFiveZones, .simulation, .wheelCircumference, .targetCadence:
                rawValue + 1
            }
        }

        /// The characteristic with the supported range of the parameter, or `nil` if there is none.
        var range: BluetoothUUID? {
            switch self {
            case .targetSpeed: "2AD4"
            case .targetInclination: "2AD5"
            case .targetResistance: "2AD6"
            case .targetHeartRate: "2AD7"
            case .targetPower: "2AD8"
            default: nil
            }
        }

        /// Whether the parameter is signed.
        var isSigned: Bool { self == .targetInclination || self == .targetPower }

        /// The fields of the machine's data that follow the target value, or `nil` if the command sets none.
        ///
        /// `step` is the unit of the parameter, in the unit of the fields.
        var target: (fields: [String], step: Double)? {
            switch self {
            case .targetSpeed: (["instantaneousSpeed"], 0.01)
            case .targetInclination: (["inclination"], 0.1)
            case .targetResistance: (["resistanceLevel"], 0.1)
            case .targetPower: (["instantaneousPower", "powerOutput"], 1)
            case .targetHeartRate: (["heartRate"], 1)
            case .targetCadence: (["instantaneousCadence"], 0.5)
            default: nil
            }
        }
    }

    /// The result code of a response; PyPI's `bluetooth-sig` has the same codes.
    enum Result: UInt8 {
        case success = 1
        case notSupported = 2
        case invalidParameter = 3
        case controlNotPermitted = 5
    }

    let opcode: Opcode
    let parameter: [UInt8]

    /// Returns an integer of one to three octets from the parameter.
    func integer(at offset: Int, octets: Int, isSigned: Bool) -> Int {
        Self.integer(parameter[offset..<offset + octets], isSigned: isSigned)
    }

    private static func integer(_ bytes: some BidirectionalCollection<UInt8>, isSigned: Bool) -> Int {
        let number = bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        let width = 8 * bytes.count
        return isSigned && number >> (width - 1) != 0 ? number - 1 << width : number
    }

    /// The whole parameter as an integer.
    var integer: Int { Self.integer(parameter, isSigned: opcode.isSigned) }

    /// Whether the parameter has the right length and is within the machine's range.
    func isValid(within range: [UInt8]?) -> Bool {
        guard parameter.count == opcode.octets else { return false }
        switch opcode {
        case .stop, .spinDown: return (1...2).contains(parameter[0])
        case .wheelCircumference: return integer > 0
        default:
            guard let range, !range.isEmpty, range.count.isMultiple(of: 3) else { return true }
            // A range has a minimum, a maximum and an increment, which have the same size. The resistance
            // level has one octet in the SIG's files, but a signed integer of two octets in Fitness Machine
            // Service 1.0, in Wireshark and in trainers.
            let size = range.count / 3
            let isSigned = opcode.isSigned || opcode == .targetResistance && size == 2
            let low = Self.integer(range[..<size], isSigned: isSigned)
            let high = Self.integer(range[size..<2 * size], isSigned: isSigned)
            return low <= integer && integer <= high
        }
    }
}
