import MynahValues

/// An operation of the CGM Specific Ops Control Point (Continuous Glucose Monitoring Service 1.0.2, 3.8).
///
/// The response to a `get` operation has the opcode after it.
enum MonitorOperation: UInt8, CaseIterable {
    case setInterval = 0x01
    case getInterval = 0x02
    case setCalibration = 0x04
    case getCalibration = 0x05
    case setHigh = 0x07
    case getHigh = 0x08
    case setLow = 0x0A
    case getLow = 0x0B
    case setHypo = 0x0D
    case getHypo = 0x0E
    case setHyper = 0x10
    case getHyper = 0x11
    case setDecrease = 0x13
    case getDecrease = 0x14
    case setIncrease = 0x16
    case getIncrease = 0x17
    case resetAlert = 0x19
    case startSession = 0x1A
    case stopSession = 0x1B

    /// The opcode of a response with a result.
    static let response: UInt8 = 0x1C

    enum Result: UInt8 {
        case success = 1
        case notSupported = 2
        case invalidOperand = 3
        case notCompleted = 4
        case outOfRange = 5
    }

    /// The length of the operand, in octets.
    var operandLength: Int {
        switch self {
        case .setInterval: 1
        case .setCalibration: 10
        case .getCalibration, .setHigh, .setLow, .setHypo, .setHyper, .setDecrease, .setIncrease: 2
        case .getInterval, .getHigh, .getLow, .getHypo, .getHyper, .getDecrease, .getIncrease, .resetAlert,
            .startSession, .stopSession:
            0
        }
    }

    /// The bit of the CGM Feature that the operation needs, or `nil` if it needs none.
    var feature: Int? {
        switch self {
        case .setCalibration, .getCalibration: 0
        case .setHigh, .getHigh, .setLow, .getLow: 1
        case .setHypo, .getHypo: 2
        case .setHyper, .getHyper: 3
        case .setDecrease, .getDecrease, .setIncrease, .getIncrease: 4
        case .resetAlert: 5
        case .setInterval, .getInterval, .startSession, .stopSession: nil
        }
    }
}

/// The settings of a continuous glucose monitor that centrals change: its communication interval, alert
/// levels and calibrations.
struct MonitorSettings: Sendable {
    /// The communication interval in minutes; 0 sends no measurements, and 255 every one.
    private(set) var interval: UInt8 = 255
    /// The octets of each alert level, an SFLOAT in mg/dL or mg/dL/min.
    private var levels: [MonitorOperation: [UInt8]] = [
        .setHigh: [250, 0], .setLow: [70, 0], .setHypo: [55, 0], .setHyper: [0x2C, 0x01],
        .setDecrease: [3, 0], .setIncrease: [3, 0],
    ]
    /// The records of calibrations, each ten octets.
    private var calibrations: [[UInt8]] = []

    /// The maximum number of calibrations, which is the largest number that can identify one.
    private static let most = 0xFFFE

    /// Whether a measurement made at `time` is sent; `last` is the time of the last sent measurement, or
    /// `nil`.
    func sends(at time: Duration, after last: Duration?) -> Bool {
        switch interval {
        case 0: false
        case 255: true
        default: last.map { time - $0 >= .seconds(60 * Int64(interval)) } ?? true
        }
    }

    /// The warning octet of a measurement: the alerts whose levels it exceeds.
    func warning(concentration: Double?, trend: Double?) -> UInt8 {
        func level(_ operation: MonitorOperation) -> Double { Self.number(levels[operation] ?? [0, 0]) }
        let alerts: [Bool] = [
            concentration.map { $0 < level(.setLow) } ?? false,
            concentration.map { $0 > level(.setHigh) } ?? false,
            concentration.map { $0 < level(.setHypo) } ?? false,
            concentration.map { $0 > level(.setHyper) } ?? false,
            trend.map { $0 < -level(.setDecrease) } ?? false,
            trend.map { $0 > level(.setIncrease) } ?? false,
        ]
        return alerts.reversed().reduce(UInt8(0)) { $1 ? $0 << 1 | 1 : $0 << 1 }
    }

    /// Carries out an operation, whose operand must have the right length.
    ///
    /// Returns the result code and, for a `get` operation, the operand of the response.
    mutating func carryOut(
        _ operation: MonitorOperation, _ operand: [UInt8]
    ) -> (MonitorOperation.Result, [UInt8]?) {
        switch operation {
        case .setInterval: interval = operand[0]
        case .getInterval: return (.success, [interval])
        case .setCalibration: return (calibrate(operand), nil)
        case .getCalibration:
            let number = Int(operand[0]) | Int(operand[1]) << 8
            let index = (number == 0xFFFF ? calibrations.count : number) - 1
            guard calibrations.indices.contains(index) else { return (.outOfRange, nil) }
            return (.success, calibrations[index])
        case .setHigh, .setLow, .setHypo, .setHyper, .setDecrease, .setIncrease:
            guard Self.isLevel(operand) else { return (.outOfRange, nil) }
            levels[operation] = operand
        case .getHigh, .getLow, .getHypo, .getHyper, .getDecrease, .getIncrease:
            return (.success, MonitorOperation(rawValue: operation.rawValue - 1).flatMap { levels[$0] })
        case .resetAlert, .startSession, .stopSession: break
        }
        return (.success, nil)
    }

    /// Stores a calibration, with its number and the time of the next calibration added.
    private mutating func calibrate(_ operand: [UInt8]) -> MonitorOperation.Result {
        guard Self.isLevel(Array(operand[..<2])), Self.number(Array(operand[..<2])) > 0 else {
            return .outOfRange
        }
        guard calibrations.count < Self.most else { return .notCompleted }
        let time = UInt16(operand[2]) | UInt16(operand[3]) << 8
        let next = UInt16(clamping: Int(time) + 12 * 60)
        var record = Array(operand[..<5])
        record += next.octets
        record += UInt16(calibrations.count + 1).octets
        record.append(0)
        calibrations.append(record)
        return .success
    }

    private static func number(_ octets: [UInt8]) -> Double {
        MedicalFloat.short.number(UInt64(octets[0]) | UInt64(octets[1]) << 8)
    }

    /// Whether an SFLOAT is valid as an alert level or a calibration value.
    private static func isLevel(_ octets: [UInt8]) -> Bool {
        (0...1000).contains(number(octets))
    }
}
