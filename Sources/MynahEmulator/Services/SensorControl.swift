import MynahCore
import MynahSupport

/// The SC Control Point of a speed and cadence sensor (Cycling Speed and Cadence Service 1.0, 3.4).
struct SensorControl: ServiceBehavior {
    static let measurement: BluetoothUUID = "2A5B"
    static let feature: BluetoothUUID = "2A5C"
    static let location: BluetoothUUID = "2A5D"
    static let controlPoint: BluetoothUUID = "2A55"

    private enum Opcode {
        static let setCumulativeValue: UInt8 = 1
        static let updateLocation: UInt8 = 3
        static let requestLocations: UInt8 = 4
        static let response: UInt8 = 0x10
    }

    private enum Result: UInt8 {
        case success = 1
        case notSupported = 2
        case invalidParameter = 3
    }

    /// Front wheel, left crank, right crank, rear dropout, rear wheel and rear hub.
    static let locations: [UInt8] = [4, 5, 6, 10, 12, 13]

    let handled = [controlPoint]
    let changed = [measurement, location]

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard let opcode = value.first else { throw .invalidAttributeValueLength }
        // The service has codes of its own for what 0xFD and 0xFE mean elsewhere (1.6); Zephyr's sample
        // peripheral_csc has the same.
        try service.checkIsConfigured(
            Self.controlPoint, for: central, otherwise: ATTError(code: 0x81), busy: ATTError(code: 0x80))
        let (result, parameter, effects) = answer(opcode, Array(value.dropFirst()), service)
        let response = [Opcode.response, opcode, result.rawValue] + parameter
        return effects + [.send(response, of: Self.controlPoint, to: central)]
    }

    private func answer(
        _ opcode: UInt8, _ parameter: [UInt8], _ service: some ServiceState
    ) -> (Result, [UInt8], [ServiceEffect]) {
        let features = service.value(of: Self.feature)?.first ?? 0
        // Bit 0: wheel revolutions; bit 2: several locations.
        switch opcode {
        case Opcode.setCumulativeValue where features & 1 != 0:
            guard parameter.count == 4 else { return (.invalidParameter, [], []) }
            let number = parameter.reversed().reduce(0) { $0 * 256 + Double($1) }
            let effects = service.shift(
                "cumulativeWheelRevolutions", of: Self.measurement, to: number, below: 4_294_967_296)
            return (.success, [], effects)
        case Opcode.updateLocation where features & 4 != 0:
            guard parameter.count == 1, Self.locations.contains(parameter[0]) else {
                return (.invalidParameter, [], [])
            }
            return (.success, [], [.store(parameter, of: Self.location)])
        case Opcode.requestLocations where features & 4 != 0:
            guard parameter.isEmpty else { return (.invalidParameter, [], []) }
            return (.success, Self.locations, [])
        default: return (.notSupported, [], [])
        }
    }
}
