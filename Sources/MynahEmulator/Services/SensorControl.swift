import MynahCore
import MynahSupport

/// The SC Control Point of a speed and cadence sensor (Cycling Speed and Cadence Service 1.0, 3.4; Running
/// Speed and Cadence Service 1.0, 3.4).
struct SensorControl: ServiceBehavior {
    /// The properties in which the sensors of the two services differ.
    struct Sensor: Hashable, Sendable {
        let measurement: BluetoothUUID
        let feature: BluetoothUUID
        /// The field of the measurement that the control point sets, which is a total.
        let total: String
        /// The unit of the parameter, in the unit of the field `total`.
        let step: Double
        /// The feature bits that the procedures require: setting the total, calibration, several locations.
        let totalBit: UInt8
        let calibrationBit: UInt8?
        let locationsBit: UInt8
        let locations: [UInt8]

        /// A cycling sensor, which may be at the front wheel, left crank, right crank, rear dropout, rear
        /// wheel or rear hub.
        static let cycling = Sensor(
            measurement: "2A5B", feature: "2A5C", total: "cumulativeWheelRevolutions", step: 1, totalBit: 0,
            calibrationBit: nil, locationsBit: 2, locations: [4, 5, 6, 10, 12, 13])
        /// A running sensor, which may be on top of the shoe, in the shoe or at the hip.
        static let running = Sensor(
            measurement: "2A53", feature: "2A54", total: "totalDistance", step: 0.1, totalBit: 1,
            calibrationBit: 3, locationsBit: 4, locations: [1, 2, 3])
    }

    static let location: BluetoothUUID = "2A5D"
    static let controlPoint: BluetoothUUID = "2A55"

    private enum Opcode {
        static let setCumulativeValue: UInt8 = 1
        static let startCalibration: UInt8 = 2
        static let updateLocation: UInt8 = 3
        static let requestLocations: UInt8 = 4
        static let response: UInt8 = 0x10
    }

    private enum Result: UInt8 {
        case success = 1
        case notSupported = 2
        case invalidParameter = 3
    }

    let handled = [controlPoint]
    private let sensor: Sensor

    init(of sensor: Sensor = .cycling) {
        self.sensor = sensor
    }

    var changed: [BluetoothUUID] { [sensor.measurement, Self.location] }

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard let opcode = value.first else { throw .invalidAttributeValueLength }
        // The service defines codes of its own (1.6) for the errors that are 0xFD and 0xFE elsewhere.
        // Zephyr's sample peripheral_csc has the same codes.
        try service.checkIsConfigured(
            Self.controlPoint, for: central, otherwise: ATTError(code: 0x81), busy: ATTError(code: 0x80))
        let (result, parameter, effects) = answer(opcode, Array(value.dropFirst()), service)
        let response = [Opcode.response, opcode, result.rawValue] + parameter
        return effects + [.send(response, of: Self.controlPoint, to: central)]
    }

    private func answer(
        _ opcode: UInt8, _ parameter: [UInt8], _ service: some ServiceState
    ) -> (Result, [UInt8], [ServiceEffect]) {
        let features = service.value(of: sensor.feature)?.first ?? 0
        func has(_ bit: UInt8?) -> Bool { bit.map { features >> $0 & 1 != 0 } ?? false }
        switch opcode {
        case Opcode.setCumulativeValue where has(sensor.totalBit):
            guard parameter.count == 4 else { return (.invalidParameter, [], []) }
            let number = parameter.reversed().reduce(0) { $0 * 256 + Double($1) }
            let effects = service.shift(
                sensor.total, of: sensor.measurement, to: number * sensor.step,
                below: 4_294_967_296 * sensor.step)
            return (.success, [], effects)
        case Opcode.startCalibration where has(sensor.calibrationBit):
            return (parameter.isEmpty ? .success : .invalidParameter, [], [])
        case Opcode.updateLocation where has(sensor.locationsBit):
            guard parameter.count == 1, sensor.locations.contains(parameter[0]) else {
                return (.invalidParameter, [], [])
            }
            return (.success, [], [.store(parameter, of: Self.location)])
        case Opcode.requestLocations where has(sensor.locationsBit):
            guard parameter.isEmpty else { return (.invalidParameter, [], []) }
            return (.success, sensor.locations, [])
        default: return (.notSupported, [], [])
        }
    }
}
