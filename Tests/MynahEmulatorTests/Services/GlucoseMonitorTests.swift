import MynahCore
import MynahSupport
import Testing

@testable import MynahEmulator

/// The codes and octets here are those of the Continuous Glucose Monitoring Service 1.0.2, 3.1 to 3.8.
@Suite struct GlucoseMonitorTests {
    static let measurement: BluetoothUUID = "2AA7"
    static let status: BluetoothUUID = "2AA9"
    static let start: BluetoothUUID = "2AAA"
    static let records: BluetoothUUID = "2A52"
    static let operations: BluetoothUUID = "2AAC"

    /// Every feature but E2E-CRC.
    static let features: [UInt8] = [0xFF, 0xEF, 0x01, 0x59]

    /// A monitor with a measurement of 100 mg/dL a minute; tick n has the concentration 100 + n.
    struct Rig {
        var service = TestService(subscribed: [measurement, records, operations])
        var monitor: GlucoseMonitor

        init(features: [UInt8] = GlucoseMonitorTests.features, count: Int = 5, at now: Duration = .zero) {
            service.interval = .seconds(60)
            service.now = now
            service.originals[measurement] = { [0, 0, 100 + UInt8($0 % 100), 0, 0, 0] }
            service.originals["2AA8"] = { _ in features }
            service.originals["2AAB"] = { _ in [0x50, 0x01] }
            monitor = GlucoseMonitor(count: count)
            _ = monitor.begin(service)
        }

        mutating func ask(_ request: [UInt8], of point: BluetoothUUID = operations) -> WriteOutcome {
            monitor.outcome(of: request, to: point, &service)
        }

        /// The response of the control point to an operation.
        mutating func operate(_ request: [UInt8]) -> [UInt8] {
            guard case .sent(let sent) = ask(request), sent.count == 1 else {
                Issue.record("\(request) has no response")
                return []
            }
            return sent[0].value
        }

        /// Lets time pass until a time; returns what is sent.
        mutating func run(until end: Duration) -> [Sent] {
            var sent: [Sent] = []
            while let due = monitor.due(service), due <= end {
                service.now = max(service.now, due)
                sent += service.take(monitor.tick(service))
            }
            service.now = max(service.now, end)
            return sent
        }

        func read(_ characteristic: BluetoothUUID) throws -> [UInt8]? {
            try monitor.read(characteristic, by: TestService.phone, service)
        }
    }

    static func record(_ number: UInt8, offset: UInt8) -> [UInt8] { [6, 0, 100 + number, 0, offset, 0] }

    // MARK: Measurements

    @Test func `a session has run for as many measurements as there are records, and goes on`() throws {
        var rig = Rig(at: .seconds(1000))
        #expect(rig.monitor.records.map(\.measurement) == (0..<5).map { Self.record($0, offset: $0) })
        #expect(rig.monitor.due(rig.service) == .seconds(1060))
        #expect(try rig.read(Self.status) == [4, 0, 0, 1, 0])
        let sent = rig.run(until: .seconds(1120))
        #expect(sent.map(\.value) == [Self.record(5, offset: 5), Self.record(6, offset: 6)])
        #expect(sent.allSatisfy { $0.characteristic == Self.measurement })
        #expect(rig.monitor.records.count == 7)
        #expect(try rig.read(Self.status) == [6, 0, 0, 1, 0])
    }

    @Test func `without records the session begins with the device`() {
        var rig = Rig(count: 0)
        #expect(rig.run(until: .seconds(120)).map(\.value).suffix(2).map { $0[4] } == [1, 2])
    }

    @Test func `a monitor whose app was suspended keeps its newest measurements`() {
        var rig = Rig(count: 0)
        _ = rig.run(until: .zero)
        rig.service.now = .seconds(60 * 5000)
        let sent = rig.service.take(rig.monitor.tick(rig.service))
        #expect(sent.count == 1)
        #expect(rig.monitor.records.count == GlucoseMonitor.most)
        #expect(rig.monitor.records.map(\.sequenceNumber) == Array(4001...5000))
    }

    @Test func `the session stops by itself when its sensor has lasted long enough`() throws {
        var rig = Rig(count: 0)
        rig.service.originals["2AAB"] = { _ in [1, 0] }
        #expect(rig.run(until: .seconds(2 * 3600)).count == 60)
        #expect(try rig.read(Self.status) == [60, 0, 1, 1, 0])
        #expect(rig.monitor.due(rig.service) == nil)
    }

    /// Concentrations beside the levels 70, 250, 55 and 300, and trends beside 3 mg/dL/min, with the warning
    /// octet.
    static let warnings: [(value: [UInt8], measured: [UInt8])] = [
        ([0, 0, 70, 0, 0, 0], [6, 0, 70, 0, 0, 0]),
        ([0, 0, 69, 0, 0, 0], [7, 0x20, 69, 0, 0, 0, 0x01]),
        ([0, 0, 54, 0, 0, 0], [7, 0x20, 54, 0, 0, 0, 0x05]),
        ([0, 0, 250, 0, 0, 0], [6, 0, 250, 0, 0, 0]),
        ([0, 0, 251, 0, 0, 0], [7, 0x20, 251, 0, 0, 0, 0x02]),
        ([0, 0, 0x2D, 0x01, 0, 0], [7, 0x20, 0x2D, 0x01, 0, 0, 0x0A]),
        ([0, 1, 100, 0, 0, 0, 3, 0], [8, 1, 100, 0, 0, 0, 3, 0]),
        ([0, 1, 100, 0, 0, 0, 4, 0], [9, 0x21, 100, 0, 0, 0, 0x20, 4, 0]),
        ([0, 1, 100, 0, 0, 0, 0xFC, 0x0F], [9, 0x21, 100, 0, 0, 0, 0x10, 0xFC, 0x0F]),
        // Beside the other octets, and with a warning of the profile's own.
        ([0, 0xC0, 69, 0, 0, 0, 2, 4], [9, 0xE0, 69, 0, 0, 0, 2, 4, 0x01]),
        ([0, 0xE0, 69, 0, 0, 0, 2, 4, 0x80], [9, 0xE0, 69, 0, 0, 0, 2, 4, 0x81]),
    ]

    @Test(arguments: warnings)
    func `alerts are in the warning octet`(value: [UInt8], measured: [UInt8]) throws {
        var rig = Rig(count: 0)
        rig.service.originals[Self.measurement] = { _ in value }
        #expect(rig.run(until: .zero).map(\.value) == [measured])
        let warning = measured[1] & 0x20 == 0 ? 0 : measured[measured[1] & 0xC0 == 0 ? 6 : 8]
        // Of its own, the monitor knows its alerts alone.
        #expect(try rig.read(Self.status)?.last == warning & 0x7F)
    }

    // MARK: Every operation

    static let calibration: [UInt8] = [110, 0, 9, 0, 0x19, 0, 0, 0, 0, 0]

    struct Operation: Sendable, CustomStringConvertible {
        var request: [UInt8]
        /// The response while the session runs, and after it was stopped.
        var running: [UInt8]
        var stopped: [UInt8]?
        /// The bit of the feature without which the opcode is not supported.
        var feature: Int?

        var description: String { "\(request)" }
    }

    static func result(_ opcode: UInt8, _ code: UInt8) -> [UInt8] { [0x1C, opcode, code] }

    static let others: [Operation] =
        [
            Operation(request: [1, 5], running: result(1, 1)),
            Operation(request: [1, 0], running: result(1, 1)),
            Operation(request: [1], running: result(1, 3)),
            Operation(request: [1, 5, 0], running: result(1, 3)),
            Operation(request: [2], running: [3, 255]), Operation(request: [2, 0], running: result(2, 3)),
            Operation(
                request: [4] + calibration, running: result(4, 1), stopped: result(4, 4), feature: 0),
            Operation(
                request: [4, 0, 0] + calibration[2...], running: result(4, 5), stopped: result(4, 4),
                feature: 0),
            Operation(
                request: [4, 0xFF, 0x07] + calibration[2...], running: result(4, 5), stopped: result(4, 4),
                feature: 0),
            Operation(request: [4] + calibration.dropLast(), running: result(4, 3), feature: 0),
            Operation(request: [5, 1, 0], running: result(5, 5), feature: 0),
            Operation(request: [5, 0xFF, 0xFF], running: result(5, 5), feature: 0),
            Operation(request: [5, 1], running: result(5, 3), feature: 0),
            Operation(request: [0x19], running: result(0x19, 1), feature: 5),
            Operation(request: [0x19, 0], running: result(0x19, 3), feature: 5),
            Operation(request: [0x1A], running: result(0x1A, 4), stopped: result(0x1A, 1)),
            Operation(request: [0x1A, 0], running: result(0x1A, 3)),
            Operation(request: [0x1B], running: result(0x1B, 1), stopped: result(0x1B, 4)),
            Operation(request: [0x1B, 0], running: result(0x1B, 3)),
        ]

    static let ofLevels: [Operation] =
        levels.flatMap { opcode, usual, feature -> [Operation] in
            [
                Operation(request: [opcode, 0x78, 0], running: result(opcode, 1), feature: feature),
                // 120.0, -1, NaN, not at this resolution, and both infinities.
                Operation(request: [opcode, 0xB0, 0xF4], running: result(opcode, 1), feature: feature),
                Operation(request: [opcode, 0xFF, 0x0F], running: result(opcode, 5), feature: feature),
                Operation(request: [opcode, 0xFF, 0x07], running: result(opcode, 5), feature: feature),
                Operation(request: [opcode, 0x00, 0x08], running: result(opcode, 5), feature: feature),
                Operation(request: [opcode, 0xFE, 0x07], running: result(opcode, 5), feature: feature),
                Operation(request: [opcode, 0x02, 0x08], running: result(opcode, 5), feature: feature),
                Operation(request: [opcode, 0x78], running: result(opcode, 3), feature: feature),
                Operation(request: [opcode + 1], running: [opcode + 2] + usual, feature: feature),
                Operation(request: [opcode + 1, 0], running: result(opcode + 1, 3), feature: feature),
            ]
        }

    private static let unknownOpcodes: [UInt8] = [
        0, 3, 6, 9, 0x0C, 0x0F, 0x12, 0x15, 0x18, 0x1C, 0x1D, 0xFF,
    ]

    static let all: [Operation] =
        others + ofLevels
        + unknownOpcodes.map {
            Operation(request: [$0, 0, 0], running: result($0, 2))
        }

    /// The opcodes that set a level, the level at the start, and the feature.
    static let levels: [(UInt8, [UInt8], Int)] = [
        (0x07, [250, 0], 1), (0x0A, [70, 0], 1), (0x0D, [55, 0], 2), (0x10, [0x2C, 0x01], 3),
        (0x13, [3, 0], 4), (0x16, [3, 0], 4),
    ]

    @Test(arguments: all)
    func `each operation has its response, in a session and after it, with its feature and without`(
        _ operation: Operation
    ) {
        var rig = Rig()
        #expect(rig.operate(operation.request) == operation.running)
        rig = Rig()
        #expect(rig.operate([0x1B]) == Self.result(0x1B, 1))
        #expect(rig.operate(operation.request) == operation.stopped ?? operation.running)
        guard let feature = operation.feature else { return }
        var features = Self.features
        features[feature / 8] &= ~(1 << (feature % 8))
        rig = Rig(features: features)
        #expect(rig.operate(operation.request) == Self.result(operation.request[0], 2))
    }

    @Test func `every opcode of the control point is tried`() {
        #expect(Set(Self.all.map { $0.request[0] }).isSuperset(of: 0...0x1D))
    }

    @Test func `an operation without a subscription gets 0xFD, before its response 0xFE, and empty 0x0D`() {
        var rig = Rig()
        #expect(rig.ask([]) == .error(0x0D))
        rig.service.sending = [Self.operations]
        #expect(rig.ask([2]) == .error(0xFE))
        rig.service.subscribed = []
        for operation in Self.all { #expect(rig.ask(operation.request) == .error(0xFD)) }
    }

    @Test func `a level that was set is read back, and is the alert's`() {
        for (opcode, _, _) in Self.levels {
            var rig = Rig()
            #expect(rig.operate([opcode, 0x5A, 0]) == Self.result(opcode, 1))
            #expect(rig.operate([opcode + 1]) == [opcode + 2, 0x5A, 0])
        }
        var rig = Rig(count: 0)
        #expect(rig.operate([0x0A, 101, 0]) == Self.result(0x0A, 1))
        #expect(rig.run(until: .zero).map(\.value) == [[7, 0x20, 100, 0, 0, 0, 0x01]])
    }

    @Test func `calibrations are numbered, and the last one is found without its number`() {
        var rig = Rig()
        #expect(rig.operate([4] + Self.calibration) == Self.result(4, 1))
        #expect(rig.operate([4, 120, 0, 0xFF, 0xFE, 0x21, 9, 9, 9, 9, 9]) == Self.result(4, 1))
        // The next calibration is due 12 hours later: 9 + 720 minutes. The number and the status follow.
        #expect(rig.operate([5, 1, 0]) == [6, 110, 0, 9, 0, 0x19, 0xD9, 0x02, 1, 0, 0])
        let second: [UInt8] = [6, 120, 0, 0xFF, 0xFE, 0x21, 0xFF, 0xFF, 2, 0, 0]
        #expect(rig.operate([5, 2, 0]) == second)
        #expect(rig.operate([5, 0xFF, 0xFF]) == second)
        #expect(rig.operate([5, 3, 0]) == Self.result(5, 5))
    }

    @Test func `the communication interval chooses which measurements are sent, and all are stored`() {
        for (interval, count) in [(0, 0), (1, 12), (2, 6), (5, 3), (255, 12)] as [(UInt8, Int)] {
            var rig = Rig(count: 0)
            #expect(rig.operate([1, interval]) == Self.result(1, 1))
            #expect(rig.operate([2]) == [3, interval])
            #expect(rig.run(until: .seconds(11 * 60)).count == count, "\(interval)")
            #expect(rig.monitor.records.count == 12)
        }
    }

    @Test func `a stopped session takes nothing, and a new one begins anew`() throws {
        var rig = Rig()
        #expect(rig.operate([0x0A, 101, 0]) == Self.result(0x0A, 1))
        rig.service.now = .seconds(30)
        #expect(rig.operate([0x1B]) == Self.result(0x1B, 1))
        #expect(rig.run(until: .seconds(600)).isEmpty)
        #expect(try rig.read(Self.status) == [4, 0, 1, 1, 0])
        #expect(rig.ask([4, 1], of: Self.records) == .response([5, 0, 5, 0], on: Self.records))
        #expect(rig.operate([0x1A]) == Self.result(0x1A, 1))
        #expect(rig.ask([4, 1], of: Self.records) == .response([5, 0, 0, 0], on: Self.records))
        #expect(rig.operate([0x0B]) == [0x0C, 70, 0])
        let sent = rig.run(until: .seconds(660)).map(\.value)
        #expect(sent == [Self.record(5, offset: 0), Self.record(6, offset: 1)])
        #expect(try rig.read(Self.status) == [1, 0, 0, 1, 0])
    }

    @Test func `a monitor of one session starts no other`() {
        var features = Self.features
        features[1] &= ~0x40
        var rig = Rig(features: features)
        #expect(rig.operate([0x1B]) == Self.result(0x1B, 1))
        #expect(rig.operate([0x1A]) == Self.result(0x1A, 4))
    }

    // MARK: Records

    /// Requests, and the time offsets of the records that follow, or the response.
    static let requests: [(request: [UInt8], numbers: [UInt8], response: [UInt8])] = [
        ([1, 1], [0, 1, 2, 3, 4], [6, 0, 1, 1]), ([1, 2, 1, 1, 0], [0, 1], [6, 0, 1, 1]),
        ([1, 3, 1, 3, 0], [3, 4], [6, 0, 1, 1]), ([1, 4, 1, 1, 0, 2, 0], [1, 2], [6, 0, 1, 1]),
        ([1, 5], [0], [6, 0, 1, 1]), ([1, 6], [4], [6, 0, 1, 1]), ([1, 3, 1, 9, 0], [], [6, 0, 1, 6]),
        ([1, 3, 2, 0xEA, 7, 1, 1, 8, 0, 0], [], [6, 0, 1, 9]), ([1, 3, 1, 9], [], [6, 0, 1, 5]),
        ([1, 4, 1, 2, 0, 1, 0], [], [6, 0, 1, 5]), ([1, 0], [], [6, 0, 1, 3]), ([1, 7], [], [6, 0, 1, 4]),
        ([3, 0], [], [6, 0, 3, 7]), ([4, 1], [], [5, 0, 5, 0]), ([4, 3, 1, 4, 0], [], [5, 0, 1, 0]),
        ([2, 5], [], [6, 0, 2, 1]), ([9, 1], [], [6, 0, 9, 2]),
    ]

    @Test(arguments: requests)
    func `records are reported, counted and deleted by their time offset`(
        request: [UInt8], numbers: [UInt8], response: [UInt8]
    ) {
        var rig = Rig()
        let outcome = rig.ask(request, of: Self.records)
        guard !numbers.isEmpty else { return #expect(outcome == .response(response, on: Self.records)) }
        #expect(outcome == .sent([]))
        let sent = rig.run(until: .seconds(10)).map(\.value)
        #expect(sent == numbers.map { Self.record($0, offset: $0) } + [response])
    }

    @Test func `measurements do not disturb a report`() {
        var rig = Rig(count: 5)
        rig.service.now = .seconds(59)
        #expect(rig.ask([1, 1], of: Self.records) == .sent([]))
        #expect(rig.service.take(rig.monitor.tick(rig.service)).map(\.value) == [Self.record(0, offset: 0)])
        #expect(rig.ask([4, 1], of: Self.records) == .error(0xFE))
        rig.service.now = .seconds(60)
        let sent = rig.service.take(rig.monitor.tick(rig.service)).map(\.value)
        #expect(sent == [Self.record(1, offset: 1)])
        #expect(rig.monitor.records.count == 6)
        #expect(rig.ask([3, 0], of: Self.records) == .response([6, 0, 3, 1], on: Self.records))
        rig.service.subscribed = []
        #expect(rig.ask([1, 1], of: Self.records) == .error(0xFD))
    }

    // MARK: The session start time

    @Test func `a central's time becomes the start of the session`() throws {
        var rig = Rig()
        // 2026-03-01 00:02 is four minutes after 2026-02-28 23:58; UTC+1 and no daylight saving time.
        let written: [UInt8] = [0xEA, 7, 3, 1, 0, 2, 0, 4, 0]
        #expect(try rig.read(Self.start) == [UInt8](repeating: 0, count: 9))
        #expect(rig.ask(written, of: Self.start) == .sent([]))
        #expect(try rig.read(Self.start) == [0xEA, 7, 2, 28, 23, 58, 0, 4, 0])
        #expect(try rig.read(Self.status) == [4, 0, 0, 0, 0])
    }

    @Test(
        arguments: [
            ([0xEA, 7, 2, 30, 0, 0, 0, 0, 0], 0xFF), ([0xEA, 7, 2, 1, 0, 0, 0, 57, 0], 0xFF),
            ([0xEA, 7, 2, 1, 0, 0, 0, 0, 3], 0xFF), ([0xEA, 7, 2, 1, 0, 0, 0, 0], 0x0D),
            ([0xEA, 7, 2, 1, 0, 0, 0, 0, 0, 0, 0], 0x0D),
        ] as [([UInt8], UInt8)])
    func `a time that does not exist is refused`(_ value: [UInt8], _ error: UInt8) {
        var rig = Rig()
        #expect(rig.ask(value, of: Self.start) == .error(error))
    }

    // MARK: E2E-CRC

    @Test func `the CRC is that of its check value`() {
        // CRC-16/MCRF4XX of the digits 1 to 9.
        #expect(CRC16.of(Array("123456789".utf8)) == 0x6F91)
        #expect(CRC16.of([]) == 0xFFFF)
    }

    static func protected(_ bytes: [UInt8]) -> [UInt8] {
        let crc = CRC16.of(bytes)
        return bytes + [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)]
    }

    @Test func `with E2E-CRC each value ends with it, and without it the feature has ones`() throws {
        #expect(try Rig().read("2AA8") == Self.features + [0xFF, 0xFF])
        let features: [UInt8] = [0xFF, 0xFF, 0x01, 0x59]
        var rig = Rig(features: features, count: 0)
        let measured = Self.protected([8, 0, 100, 0, 0, 0])
        #expect(rig.run(until: .zero).map(\.value) == [measured])
        #expect(try rig.read("2AA8") == Self.protected(features))
        #expect(try rig.read(Self.status) == Self.protected([0, 0, 0, 1, 0]))
        #expect(try rig.read("2AAB") == Self.protected([0x50, 1]))
        let time: [UInt8] = [0xEA, 7, 3, 1, 0, 2, 0, 4, 0]
        #expect(rig.ask(time, of: Self.start) == .error(0x80))
        #expect(rig.ask(time + [1, 2], of: Self.start) == .error(0x81))
        #expect(rig.ask(Self.protected(time), of: Self.start) == .sent([]))
        #expect(try rig.read(Self.start) == Self.protected(time))
        #expect(rig.ask([2]) == .error(0x80))
        #expect(rig.ask([1, 5]) == .error(0x80))
        #expect(rig.ask([2, 1, 2]) == .error(0x81))
        #expect(rig.operate(Self.protected([2])) == Self.protected([3, 255]))
        #expect(rig.operate(Self.protected([0x1A])) == Self.protected([0x1C, 0x1A, 4]))
        // The requests for records have none.
        #expect(rig.ask([1, 1], of: Self.records) == .sent([]))
        #expect(rig.run(until: .zero).map(\.value) == [measured, [6, 0, 1, 1]])
    }

    @Test func `hostile bytes are answered`() {
        var random = SeededRandom(seed: 7)
        for features in [Self.features, [0xFF, 0xFF, 0xFF, 0xFF], []] {
            var rig = Rig(features: features)
            for _ in 0..<2000 {
                let bytes = (0..<random.next() % 14).map { _ in UInt8(truncatingIfNeeded: random.next() >> 3)
                }
                for point in [Self.operations, Self.records, Self.start] { _ = rig.ask(bytes, of: point) }
                if hasRoom(&random) { _ = rig.run(until: rig.service.now + .seconds(60)) }
            }
            #expect(rig.monitor.records.count <= GlucoseMonitor.most)
        }
    }

    private func hasRoom(_ random: inout SeededRandom) -> Bool { random.next() % 8 == 0 }
}
