import MynahCore
import MynahSupport
import MynahValues

/// A fitness machine that follows the targets of its control point (Fitness Machine Service 1.0.1, 4.16).
///
/// One central at a time has control. The machine's data approaches a target as a first-order lag does.
struct FitnessMachine: ServiceBehavior {
    static let feature: BluetoothUUID = "2ACC"
    static let controlPoint: BluetoothUUID = "2AD9"
    static let status: BluetoothUUID = "2ADA"
    /// The characteristics with the machine's data: Treadmill Data, Rower Data and Indoor Bike Data.
    static let data: [BluetoothUUID] = ["2ACD", "2AD1", "2AD2"]
    /// The fields that are 0 while the training is stopped or paused.
    private static let moving = [
        "instantaneousSpeed", "instantaneousCadence", "strokeRate", "instantaneousPower", "powerOutput",
    ]

    /// The opcode of the response to a command.
    private static let response: UInt8 = 0x80

    /// A spin-down, which calibrates a trainer: the user rides fast, stops pedaling, and lets the wheel
    /// roll.
    private enum SpinDown {
        case riding(until: Duration)
        case rolling(until: Duration)

        var end: Duration {
            switch self {
            case .riding(let end), .rolling(let end): end
            }
        }

        /// The duration of each of the two phases.
        static let step = Duration.seconds(5)
        static let status: UInt8 = 0x14
        static let success: UInt8 = 2
        static let stopPedaling: UInt8 = 4
        /// The limits of the target speed: 20 and 30 km/h.
        static let speeds: [UInt8] = [0xD0, 0x07, 0xB8, 0x0B]
    }

    let handled = [controlPoint]
    let changed = data
    /// The central that has control of the machine.
    private(set) var controller: Peer.ID?
    private var isMoving = true
    private var targets: [String: Double] = [:]
    /// The changes of the data, by the name of the field.
    private var changes: [String: FieldChange] = [:]
    private var spinDown: SpinDown?

    func due(_ service: some ServiceState) -> Duration? { spinDown?.end }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        self = FitnessMachine()
        return []
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard let opcode = value.first else { throw .invalidAttributeValueLength }
        try service.checkIsConfigured(Self.controlPoint, for: central)
        guard let known = FitnessCommand.Opcode(rawValue: opcode), isSupported(known, service) else {
            return [respond(opcode, .notSupported, to: central)]
        }
        let command = FitnessCommand(opcode: known, parameter: Array(value.dropFirst()))
        let isPermitted =
            known == .requestControl ? controller == nil || controller == central : controller == central
        guard isPermitted else { return [respond(opcode, .controlNotPermitted, to: central)] }
        guard command.isValid(within: known.range.flatMap(service.value)) else {
            return [respond(opcode, .invalidParameter, to: central)]
        }
        let isSpinDown = known == .spinDown && command.parameter == [1]
        let effects = carryOut(command, for: central, service)
        return effects + [respond(opcode, .success, isSpinDown ? SpinDown.speeds : [], to: central)]
            + (known.status.map { [.send([$0] + command.parameter, of: Self.status, to: nil)] } ?? [])
    }

    private func isSupported(_ opcode: FitnessCommand.Opcode, _ service: some ServiceState) -> Bool {
        guard let bit = opcode.feature else { return true }
        // The target setting features decide which targets the machine accepts.
        guard let features = service.value(of: Self.feature), features.count == 8 else { return false }
        let settings = features[4...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return settings >> bit & 1 != 0
    }

    private func respond(
        _ opcode: UInt8, _ result: FitnessCommand.Result, _ parameter: [UInt8] = [], to central: Peer.ID
    ) -> ServiceEffect {
        .send([Self.response, opcode, result.rawValue] + parameter, of: Self.controlPoint, to: central)
    }

    private mutating func carryOut(
        _ command: FitnessCommand, for central: Peer.ID, _ service: some ServiceState
    ) -> [ServiceEffect] {
        switch command.opcode {
        case .requestControl:
            controller = central
            return []
        case .reset:
            self = FitnessMachine()
            return changed(service)
        case .start, .stop:
            isMoving = command.opcode == .start
            for name in Self.moving { approach(name, service) }
            return changed(service)
        case .spinDown:
            spinDown = command.parameter == [1] ? .riding(until: service.now + SpinDown.step) : nil
            return []
        case .simulation:
            let power = RidingResistance(command).power(at: speed(service))
            for name in ["instantaneousPower", "powerOutput"] {
                targets[name] = power
                approach(name, service)
            }
            return changed(service)
        default:
            guard let target = command.opcode.target else { return [] }
            for name in target.fields {
                targets[name] = Double(command.integer) * target.step
                approach(name, service)
            }
            return changed(service)
        }
    }

    // MARK: The machine's data

    /// Returns the current speed in m/s, or 0 if the machine's data has none.
    private func speed(_ service: some ServiceState) -> Double {
        let speeds = Self.data.flatMap(service.fields).first { $0.name == "instantaneousSpeed" }
        return (speeds?.value.number ?? 0) / 3.6
    }

    /// Makes a field approach its target from its current number.
    ///
    /// While the training is stopped or paused, the target of a field in `moving` is 0.
    private mutating func approach(_ name: String, _ service: some ServiceState) {
        for data in Self.data {
            guard let field = service.fields(of: data).first(where: { $0.name == name }),
                let now = field.value.number
            else { continue }
            let isStill = !isMoving && Self.moving.contains(name)
            changes[name] = FieldChange(
                name: name,
                kind: .approach(
                    from: now, to: isStill ? 0 : targets[name], since: service.tick(of: data),
                    interval: service.interval(of: data)))
        }
    }

    private func changed(_ service: some ServiceState) -> [ServiceEffect] {
        let list = changes.values.sorted { $0.name < $1.name }
        return Self.data.filter { service.value(of: $0) != nil }.map {
            .change(list.isEmpty ? nil : .fields(list), of: $0)
        }
    }

    // MARK: Time

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        guard let step = spinDown, step.end <= service.now else { return [] }
        switch step {
        case .riding:
            spinDown = .rolling(until: service.now + SpinDown.step)
            return [.send([SpinDown.status, SpinDown.stopPedaling], of: Self.status, to: nil)]
        case .rolling:
            spinDown = nil
            return [.send([SpinDown.status, SpinDown.success], of: Self.status, to: nil)]
        }
    }

    /// Ends the central's control; the machine keeps its targets.
    mutating func disconnected(_ central: Peer.ID) {
        if controller == central { controller = nil }
    }
}

/// The resistance of a simulated road and of the air (Fitness Machine Service 1.0.1, 4.16.2.18).
private struct RidingResistance {
    /// The mass of the rider and the bicycle, in kg.
    private static let mass = 85.0
    private static let gravity = 9.81

    /// The speed of the head wind, in m/s.
    let wind: Double
    /// The slope of the road as a fraction, so that 0.01 is 1 %.
    let grade: Double
    /// The coefficient of rolling resistance.
    let rolling: Double
    /// The coefficient of wind resistance, in kg/m.
    let drag: Double

    /// Reads the resistance from a command whose parameter is valid.
    init(_ command: FitnessCommand) {
        wind = Double(command.integer(at: 0, octets: 2, isSigned: true)) * 0.001
        grade = Double(command.integer(at: 2, octets: 2, isSigned: true)) * 0.0001
        rolling = Double(command.integer(at: 4, octets: 1, isSigned: false)) * 0.0001
        drag = Double(command.integer(at: 5, octets: 1, isSigned: false)) * 0.01
    }

    /// Returns the power that keeps a speed, in W; at least 0, because a rider does not brake by pedaling.
    func power(at speed: Double) -> Double {
        let air = speed + wind
        let force = Self.mass * Self.gravity * (grade + rolling) + drag * air * air.magnitude
        return min(max(0, force * speed), 4000)
    }
}
