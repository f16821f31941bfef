import MynahCore
import Testing

@testable import MynahEmulator

/// The codes and octets here are those of the Fitness Machine Service 1.0, 4.16 and 4.17.
@Suite struct FitnessMachineTests {
    static let point: BluetoothUUID = "2AD9"
    static let status: BluetoothUUID = "2ADA"
    static let bike: BluetoothUUID = "2AD2"

    /// 30.00 km/h, 90 /min, resistance level 50 and 150 W.
    static let data: [UInt8] = [0x64, 0x00, 0xB8, 0x0B, 0xB4, 0x00, 0x32, 0x00, 0x96, 0x00]

    static func trainer(features: UInt32 = 0x1FFFF) -> TestService {
        var service = TestService(subscribed: [point, status])
        service.stored["2ACC"] =
            [0, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: features >> (8 * $0)) }
        service.originals[bike] = { _ in data }
        service.stored["2AD4"] = [0xF4, 0x01, 0xA0, 0x0F, 0x01, 0x00]  // 5.00 to 40.00 km/h
        service.stored["2AD5"] = [0x9C, 0xFF, 0xC8, 0x00, 0x05, 0x00]  // -10.0 to 20.0 %
        service.stored["2AD6"] = [0x01, 0x14, 0x01]  // 1 to 20
        service.stored["2AD7"] = [0x3C, 0xB4, 0x01]  // 60 to 180 bpm
        service.stored["2AD8"] = [0x00, 0x00, 0x20, 0x03, 0x01, 0x00]  // 0 to 800 W
        return service
    }

    /// A machine that a phone controls.
    static func controlled(_ service: inout TestService) -> FitnessMachine {
        var machine = FitnessMachine()
        #expect(machine.outcome(of: [0x00], to: point, &service) == .response([0x80, 0x00, 0x01], on: point))
        return machine
    }

    /// A response, and a status to all that are subscribed.
    static func done(_ response: [UInt8], _ status: [UInt8]) -> WriteOutcome {
        .sent([
            Sent(value: response, characteristic: point),
            Sent(value: status, characteristic: self.status, central: nil),
        ])
    }

    struct Command: Sendable, CustomStringConvertible {
        var opcode: UInt8
        /// Parameters that the machine accepts.
        var accepted: [[UInt8]]
        /// Parameters of the right length that it does not.
        var refused: [[UInt8]] = []
        /// The status that follows, before the parameter.
        var status: UInt8?
        /// The bit of the target setting features.
        var feature: UInt32?

        var description: String { "opcode \(opcode)" }
    }

    static let commands = [
        Command(opcode: 0x01, accepted: [[]], status: 0x01),
        Command(
            opcode: 0x02, accepted: [[0xF4, 0x01], [0xA0, 0x0F]], refused: [[0xF3, 0x01], [0xA1, 0x0F]],
            status: 0x05, feature: 0),
        Command(
            opcode: 0x03, accepted: [[0x9C, 0xFF], [0x00, 0x00], [0xC8, 0x00]],
            refused: [[0x9B, 0xFF], [0xC9, 0x00]], status: 0x06, feature: 1),
        Command(opcode: 0x04, accepted: [[1], [20]], refused: [[0], [21]], status: 0x07, feature: 2),
        Command(
            opcode: 0x05, accepted: [[0x00, 0x00], [0x20, 0x03]], refused: [[0xFF, 0xFF], [0x21, 0x03]],
            status: 0x08, feature: 3),
        Command(opcode: 0x06, accepted: [[60], [180]], refused: [[59], [181]], status: 0x09, feature: 4),
        Command(opcode: 0x07, accepted: [[]], status: 0x04),
        Command(opcode: 0x08, accepted: [[1], [2]], refused: [[0], [3]], status: 0x02),
        Command(opcode: 0x09, accepted: [[0xFF, 0xFF]], status: 0x0A, feature: 5),
        Command(opcode: 0x0A, accepted: [[1, 0]], status: 0x0B, feature: 6),
        Command(opcode: 0x0B, accepted: [[1, 0]], status: 0x0C, feature: 7),
        Command(opcode: 0x0C, accepted: [[1, 0, 0]], status: 0x0D, feature: 8),
        Command(opcode: 0x0D, accepted: [[1, 0]], status: 0x0E, feature: 9),
        Command(opcode: 0x0E, accepted: [[1, 0, 2, 0]], status: 0x0F, feature: 10),
        Command(opcode: 0x0F, accepted: [[1, 0, 2, 0, 3, 0]], status: 0x10, feature: 11),
        Command(
            opcode: 0x10, accepted: [[1, 0, 2, 0, 3, 0, 4, 0, 5, 0]], status: 0x11, feature: 12),
        Command(opcode: 0x11, accepted: [[0xE8, 0x03, 0x2C, 0x01, 40, 51]], status: 0x12, feature: 13),
        Command(
            opcode: 0x12, accepted: [[0x98, 0x53]], refused: [[0, 0]], status: 0x13, feature: 14),
        Command(opcode: 0x13, accepted: [[2]], refused: [[0], [3]], feature: 15),
        Command(opcode: 0x14, accepted: [[0xB4, 0x00]], status: 0x15, feature: 16),
    ]

    @Test(arguments: commands)
    func `a command within its limits succeeds, and its status follows`(_ command: Command) {
        for parameter in command.accepted {
            var service = Self.trainer()
            var machine = Self.controlled(&service)
            let response: [UInt8] = [0x80, command.opcode, 0x01]
            let outcome = machine.outcome(of: [command.opcode] + parameter, to: Self.point, &service)
            #expect(
                outcome
                    == (command.status.map { Self.done(response, [$0] + parameter) }
                        ?? .response(response, on: Self.point)))
        }
    }

    @Test(arguments: commands)
    func `a parameter of another length or out of range is invalid`(_ command: Command) {
        let usual = command.accepted[0]
        let lengths = (0...12).filter { $0 != usual.count }.map { [UInt8](repeating: 1, count: $0) }
        for parameter in command.refused + lengths {
            var service = Self.trainer()
            var machine = Self.controlled(&service)
            #expect(
                machine.outcome(of: [command.opcode] + parameter, to: Self.point, &service)
                    == .response([0x80, command.opcode, 0x03], on: Self.point), "\(parameter)")
        }
    }

    @Test(arguments: commands)
    func `a command without control is not permitted`(_ command: Command) {
        for controller in [nil, TestService.other] {
            var service = Self.trainer()
            var machine = FitnessMachine()
            if let controller { _ = machine.outcome(of: [0x00], to: Self.point, by: controller, &service) }
            let value = [command.opcode] + command.accepted[0]
            #expect(
                machine.outcome(of: value, to: Self.point, &service)
                    == .response([0x80, command.opcode, 0x05], on: Self.point))
        }
    }

    @Test(arguments: commands)
    func `a command without its feature is not supported`(_ command: Command) {
        guard let feature = command.feature else { return }
        var service = Self.trainer(features: ~(1 << feature))
        var machine = Self.controlled(&service)
        #expect(
            machine.outcome(of: [command.opcode] + command.accepted[0], to: Self.point, &service)
                == .response([0x80, command.opcode, 0x02], on: Self.point))
        service = Self.trainer(features: 1 << feature)
        let outcome = machine.outcome(of: [command.opcode] + command.accepted[0], to: Self.point, &service)
        #expect(outcome != .response([0x80, command.opcode, 0x02], on: Self.point))
    }

    @Test func `opcodes that are not assigned are not supported`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        for opcode in UInt8(0x15)...0xFF {
            #expect(
                machine.outcome(of: [opcode, 1], to: Self.point, &service)
                    == .response([0x80, opcode, 0x02], on: Self.point))
        }
    }

    @Test func `an empty command, and one without a subscription or room, get errors`() {
        var service = Self.trainer()
        var machine = FitnessMachine()
        #expect(machine.outcome(of: [], to: Self.point, &service) == .error(0x0D))
        service.sending = [Self.point]
        #expect(machine.outcome(of: [0], to: Self.point, &service) == .error(0xFE))
        service.subscribed = [Self.status]
        #expect(machine.outcome(of: [0], to: Self.point, &service) == .error(0xFD))
    }

    @Test func `one central has control until it resets the machine or disconnects`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        func request(_ central: Peer.ID, _ machine: inout FitnessMachine) -> WriteOutcome {
            machine.outcome(of: [0x00], to: Self.point, by: central, &service)
        }
        #expect(request(TestService.phone, &machine) == .response([0x80, 0, 1], on: Self.point))
        let refused = Sent(value: [0x80, 0, 5], characteristic: Self.point, central: TestService.other)
        #expect(request(TestService.other, &machine) == .sent([refused]))
        machine.disconnected(TestService.phone)
        var granted = refused
        granted.value = [0x80, 0, 1]
        #expect(request(TestService.other, &machine) == .sent([granted]))
        _ = machine.outcome(of: [0x01], to: Self.point, by: TestService.other, &service)
        #expect(machine.controller == nil)
        #expect(
            machine.outcome(of: [0x00, 0x00], to: Self.point, &service)
                == .response([0x80, 0x00, 0x03], on: Self.point))
    }

    @Test func `a resistance range with two octets a number is read as well`() {
        var service = Self.trainer()
        service.stored["2AD6"] = [0x0A, 0x00, 0x64, 0x00, 0x01, 0x00]  // 1.0 to 10.0
        var machine = Self.controlled(&service)
        for (level, result) in [(9, 3), (10, 1), (100, 1), (101, 3)] as [(UInt8, UInt8)] {
            let outcome = machine.outcome(of: [0x04, level], to: Self.point, &service)
            guard case .sent(let sent) = outcome else { return #expect(Bool(false)) }
            #expect(sent.first?.value == [0x80, 0x04, result])
        }
    }

    // MARK: The machine's data

    /// The instantaneous power on the air.
    private func power(_ service: TestService) -> Int {
        let value = service.value(of: Self.bike) ?? []
        return value.count == 10 ? Int(value[8]) | Int(value[9]) << 8 : -1
    }

    @Test func `power approaches its target as a function of the tick`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        service.now = .seconds(10)
        _ = machine.outcome(of: [0x05, 0xFA, 0x00], to: Self.point, &service)  // 250 W
        // 250 - 100 * exp(-t / 1.5), worked by hand.
        for (second, watts) in [(0, 150), (1, 199), (2, 224), (3, 236), (5, 246), (20, 250)] {
            service.now = .seconds(10 + second)
            #expect(power(service) == watts)
        }
        // The next target begins at the power of that moment.
        service.now = .seconds(12)
        _ = machine.outcome(of: [0x05, 0x64, 0x00], to: Self.point, &service)  // 100 W
        #expect(power(service) == 224)
        service.now = .seconds(13)
        #expect(power(service) == 164)
        // Everything but power is the profile's.
        let value = service.value(of: Self.bike) ?? []
        #expect(Array(value.prefix(7)) == Array(Self.data.prefix(7)))
    }

    @Test func `a pause lets speed, cadence and power fall to 0, and a start brings them back`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        _ = machine.outcome(of: [0x05, 0xC8, 0x00], to: Self.point, &service)  // 200 W
        service.now = .seconds(60)
        _ = machine.outcome(of: [0x08, 0x02], to: Self.point, &service)
        service.now = .seconds(120)
        #expect(service.value(of: Self.bike) == [0x64, 0x00, 0, 0, 0, 0, 0x32, 0, 0, 0])
        _ = machine.outcome(of: [0x07], to: Self.point, &service)
        service.now = .seconds(180)
        #expect(service.value(of: Self.bike) == [0x64, 0x00, 0xB8, 0x0B, 0xB4, 0x00, 0x32, 0x00, 0xC8, 0x00])
    }

    @Test func `a reset brings back the profile's values`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        _ = machine.outcome(of: [0x05, 0xFA, 0x00], to: Self.point, &service)
        service.now = .seconds(60)
        _ = machine.outcome(of: [0x01], to: Self.point, &service)
        #expect(service.value(of: Self.bike) == Self.data)
    }

    @Test func `a simulated climb takes the power that holds the speed`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        // No wind, 3 %, 0.004 and 0.51 kg/m at 30 km/h: (85 * 9.81 * 0.034 + 0.51 * 8.333²) * 8.333 = 531 W.
        _ = machine.outcome(of: [0x11, 0, 0, 0x2C, 0x01, 40, 51], to: Self.point, &service)
        service.now = .seconds(60)
        #expect(power(service) == 531)
        // Downhill nobody pedals.
        _ = machine.outcome(of: [0x11, 0, 0, 0x18, 0xFC, 40, 0], to: Self.point, &service)
        service.now = .seconds(120)
        #expect(power(service) == 0)
    }

    @Test func `a spin-down says its speeds, then to stop pedaling, then that it succeeded`() {
        var service = Self.trainer()
        var machine = Self.controlled(&service)
        // 20.00 and 30.00 km/h.
        #expect(
            machine.outcome(of: [0x13, 0x01], to: Self.point, &service)
                == .response([0x80, 0x13, 0x01, 0xD0, 0x07, 0xB8, 0x0B], on: Self.point))
        for status in [[0x14, 0x04], [0x14, 0x02]] as [[UInt8]] {
            #expect(machine.tick(service) == [])
            service.now = machine.due(service) ?? .zero
            let sent = service.take(machine.tick(service))
            #expect(sent == [Sent(value: status, characteristic: Self.status, central: nil)])
        }
        #expect(machine.due(service) == nil)
        _ = machine.outcome(of: [0x13, 0x01], to: Self.point, &service)
        _ = machine.outcome(of: [0x13, 0x02], to: Self.point, &service)
        #expect(machine.due(service) == nil)
    }
}
