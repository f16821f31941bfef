import MynahCore
import Testing

@testable import MynahEmulator

@Suite struct HeartRateControlTests {
    static let point: BluetoothUUID = "2A39"

    /// 72 bpm, and 10 kJ more each tick; the flags say that the energy is there.
    static var strap: TestService {
        var service = TestService()
        service.originals["2A37"] = { tick in
            [0x08, 72, UInt8(tick * 10 % 256), UInt8(tick * 10 / 256 % 256)]
        }
        return service
    }

    @Test func `01 resets the energy expended, which goes on from 0`() {
        var service = Self.strap
        var control = HeartRateControl()
        service.now = .seconds(100)
        #expect(service.value(of: "2A37") == [0x08, 72, 0xE8, 0x03])
        #expect(control.outcome(of: [1], to: Self.point, &service) == .sent([]))
        #expect(service.value(of: "2A37") == [0x08, 72, 0, 0])
        service.now = .seconds(103)
        #expect(service.value(of: "2A37") == [0x08, 72, 30, 0])
    }

    @Test func `another command gets 0x80, and another length 0x0D`() {
        var service = Self.strap
        var control = HeartRateControl()
        for value in UInt8.min...UInt8.max where value != 1 {
            #expect(control.outcome(of: [value], to: Self.point, &service) == .error(0x80))
        }
        #expect(control.outcome(of: [], to: Self.point, &service) == .error(0x0D))
        #expect(control.outcome(of: [1, 0], to: Self.point, &service) == .error(0x0D))
    }

    @Test func `a measurement without energy expended stays as it is`() {
        var service = TestService()
        service.originals["2A37"] = { _ in [0x00, 72] }
        var control = HeartRateControl()
        #expect(control.outcome(of: [1], to: Self.point, &service) == .sent([]))
        #expect(service.value(of: "2A37") == [0x00, 72])
    }
}

@Suite struct CurrentTimeTests {
    static let time: BluetoothUUID = "2A2B"

    /// Thursday, 2026-01-01 00:00:00, and a second more each tick; the profile does not say the day.
    static var clock: TestService {
        var service = TestService()
        service.originals[time] = { [0xEA, 0x07, 1, 1, 0, 0, UInt8($0), 0, 0, 0] }
        return service
    }

    @Test func `the day of the week is known from the start`() {
        var service = Self.clock
        let current = CurrentTime()
        _ = service.take(current.begin(service))
        service.now = .seconds(5)
        #expect(service.value(of: Self.time) == [0xEA, 0x07, 1, 1, 0, 0, 5, 4, 0, 0])
    }

    @Test func `a write sets the clock, and the change is notified`() {
        var service = Self.clock
        var current = CurrentTime()
        _ = service.take(current.begin(service))
        service.now = .seconds(5)
        // 2028-02-29 is a Tuesday, which is worked out, and not the Sunday that is written.
        let written: [UInt8] = [0xEC, 0x07, 2, 29, 23, 59, 58, 7, 128, 0]
        let changed: [UInt8] = [0xEC, 0x07, 2, 29, 23, 59, 58, 2, 128, 1]
        #expect(
            current.outcome(of: written, to: Self.time, &service)
                == .sent([Sent(value: changed, characteristic: Self.time, central: nil)]))
        #expect(service.value(of: Self.time) == changed)
        service.now = .seconds(8)
        #expect(service.value(of: Self.time) == [0xEC, 0x07, 3, 1, 0, 0, 1, 3, 128, 1])
    }

    @Test(
        arguments: [
            [0xEA, 0x07, 0, 1, 0, 0, 0, 0, 0, 0], [0xEA, 0x07, 2, 30, 0, 0, 0, 0, 0, 0],
            [0xEA, 0x07, 1, 1, 24, 0, 0, 0, 0, 0], [0xEA, 0x07, 1, 1, 0, 60, 0, 0, 0, 0],
            [0xEA, 0x07, 1, 1, 0, 0, 60, 0, 0, 0], [0xEA, 0x07, 1, 1, 0, 0, 0, 8, 0, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0xFF, 0xFF, 1, 1, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func `a date that does not exist gets 0x80`(_ value: [UInt8]) {
        var service = Self.clock
        var current = CurrentTime()
        #expect(current.outcome(of: value, to: Self.time, &service) == .error(0x80))
    }

    @Test func `another length gets 0x0D`() {
        var service = Self.clock
        var current = CurrentTime()
        for count in (0...12) where count != 10 {
            let value = [UInt8](repeating: 1, count: count)
            #expect(current.outcome(of: value, to: Self.time, &service) == .error(0x0D))
        }
    }

    @Test func `a clock at the end of the year 9999 stays there`() {
        var service = Self.clock
        var current = CurrentTime()
        let end: [UInt8] = [0x0F, 0x27, 12, 31, 23, 59, 59, 0, 0, 1]
        _ = current.outcome(of: end, to: Self.time, &service)
        service.now = .seconds(1 << 40)
        #expect(service.changes[Self.time]?.value(end, at: .max, layout: nil).prefix(7) == end.prefix(7))
    }
}

@Suite struct SensorControlTests {
    static let point: BluetoothUUID = "2A55"

    static func sensor(features: UInt8 = 7) -> TestService {
        var service = TestService(subscribed: [point])
        service.stored["2A5C"] = [features, 0]
        service.stored["2A5D"] = [4]
        // Flags: wheel data. A revolution each tick.
        service.originals["2A5B"] = { [0x01, UInt8($0), 0, 0, 0, 0, 0] }
        return service
    }

    @Test func `the cumulative value goes on from where it is set, and wraps`() {
        var service = Self.sensor()
        var control = SensorControl()
        service.now = .seconds(9)
        #expect(
            control.outcome(of: [1, 0xFE, 0xFF, 0xFF, 0xFF], to: Self.point, &service)
                == .response([0x10, 1, 1], on: Self.point))
        #expect(service.value(of: "2A5B") == [0x01, 0xFE, 0xFF, 0xFF, 0xFF, 0, 0])
        service.now = .seconds(12)
        #expect(service.value(of: "2A5B") == [0x01, 1, 0, 0, 0, 0, 0])
    }

    @Test func `the sensor location is updated to one of those that are supported`() {
        var service = Self.sensor()
        var control = SensorControl()
        // Front wheel, left crank, right crank, rear dropout, rear wheel, rear hub.
        let locations: [UInt8] = [4, 5, 6, 10, 12, 13]
        #expect(
            control.outcome(of: [4], to: Self.point, &service)
                == .response([0x10, 4, 1] + locations, on: Self.point))
        for location in UInt8.min...UInt8.max {
            let isKnown = locations.contains(location)
            #expect(
                control.outcome(of: [3, location], to: Self.point, &service)
                    == .response([0x10, 3, isKnown ? 1 : 3], on: Self.point))
            if isKnown { #expect(service.value(of: "2A5D") == [location]) }
        }
    }

    @Test func `a parameter of another length is invalid`() {
        var service = Self.sensor()
        var control = SensorControl()
        for (opcode, count) in [(1, 4), (3, 1), (4, 0)] as [(UInt8, Int)] {
            for other in 0...6 where other != count {
                #expect(
                    control.outcome(
                        of: [opcode] + [UInt8](repeating: 4, count: other), to: Self.point, &service)
                        == .response([0x10, opcode, 3], on: Self.point))
            }
        }
    }

    @Test func `an opcode without its feature, and any other, is not supported`() {
        var service = Self.sensor(features: 2)
        var control = SensorControl()
        for opcode in UInt8.min...UInt8.max {
            #expect(
                control.outcome(of: [opcode], to: Self.point, &service)
                    == .response([0x10, opcode, 2], on: Self.point))
        }
    }

    @Test func `an empty command, and one without a subscription or room, get errors`() {
        var service = Self.sensor()
        var control = SensorControl()
        #expect(control.outcome(of: [], to: Self.point, &service) == .error(0x0D))
        service.sending = [Self.point]
        #expect(control.outcome(of: [4], to: Self.point, &service) == .error(0x80))
        service.subscribed = []
        #expect(control.outcome(of: [4], to: Self.point, &service) == .error(0x81))
    }
}

/// The SC Control Point of Running Speed and Cadence Service 1.0, 3.4.
@Suite struct RunningControlTests {
    static let point: BluetoothUUID = "2A55"

    /// A metre more each tick, in tenths; the flags say that the distance is there, and that the runner runs.
    static func pod(features: UInt8 = 0x1F) -> TestService {
        var service = TestService(subscribed: [point])
        service.stored["2A54"] = [features, 0]
        service.stored["2A5D"] = [1]
        service.originals["2A53"] = { [0x06, 0, 3, 168, UInt8($0 * 10), 0, 0, 0] }
        return service
    }

    /// The features that an opcode needs, by their bits, and its parameters that succeed.
    static let opcodes: [UInt8: (bit: UInt8, parameters: [[UInt8]], answer: [UInt8])] = [
        1: (1, [[0, 0, 0, 0], [1, 2, 3, 4]], []), 2: (3, [[]], []), 3: (4, [[1], [2], [3]], []),
        4: (4, [[]], [1, 2, 3]),
    ]

    @Test(arguments: [0, 1, 2, 3, 4, 5, 0x10, 0xFF] as [UInt8], [0, 0x02, 0x08, 0x10, 0x1F] as [UInt8])
    func `every opcode gets its answer with every set of features`(_ opcode: UInt8, _ features: UInt8) {
        let parameters: [[UInt8]] = [
            [], [0], [1], [2], [3], [4], [12], [1, 2], [1, 2, 3], [0, 0, 0, 0], [1, 2, 3, 4],
            [1, 2, 3, 4, 5],
        ]
        for parameter in parameters {
            var service = Self.pod(features: features)
            var control = SensorControl(of: .running)
            var response: [UInt8] = [0x10, opcode, 2]
            if let known = Self.opcodes[opcode], features >> known.bit & 1 == 1 {
                let isValid = known.parameters.contains(parameter)
                response = [0x10, opcode, isValid ? 1 : 3] + (isValid ? known.answer : [])
            }
            #expect(
                control.outcome(of: [opcode] + parameter, to: Self.point, &service)
                    == .response(response, on: Self.point), "\(opcode) \(parameter) \(features)")
        }
    }

    @Test func `the total distance goes on from where it is set, and wraps`() {
        var service = Self.pod()
        var control = SensorControl(of: .running)
        service.now = .seconds(9)
        _ = control.outcome(of: [1, 0xF0, 0xFF, 0xFF, 0xFF], to: Self.point, &service)
        #expect(service.value(of: "2A53") == [0x06, 0, 3, 168, 0xF0, 0xFF, 0xFF, 0xFF])
        service.now = .seconds(11)
        #expect(service.value(of: "2A53") == [0x06, 0, 3, 168, 4, 0, 0, 0])
    }

    @Test func `a command without a subscription or room gets the errors of its service`() {
        var service = Self.pod()
        var control = SensorControl(of: .running)
        #expect(control.outcome(of: [], to: Self.point, &service) == .error(0x0D))
        service.sending = [Self.point]
        #expect(control.outcome(of: [4], to: Self.point, &service) == .error(0x80))
        service.subscribed = []
        #expect(control.outcome(of: [4], to: Self.point, &service) == .error(0x81))
    }
}

@Suite struct SerialEchoTests {
    @Test func `received data is sent back to its sender, in parts that fit`() {
        var service = TestService()
        var echo = SerialEcho()
        let (receive, transmit) = (SerialEcho.receive, SerialEcho.transmit)
        #expect(
            echo.outcome(of: [1, 2], to: receive, &service)
                == .sent([Sent(value: [1, 2], characteristic: transmit)]))
        #expect(service.value(of: receive) == [1, 2])
        #expect(echo.outcome(of: [], to: receive, &service) == .sent([]))
        let long = (0..<45).map { UInt8($0) }
        guard case .sent(let parts) = echo.outcome(of: long, to: receive, &service) else { return }
        #expect(parts.map(\.value.count) == [20, 20, 5])
        #expect(parts.flatMap(\.value) == long)
    }
}
