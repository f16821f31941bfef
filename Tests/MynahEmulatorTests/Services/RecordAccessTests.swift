import MynahCore
import Testing

@testable import MynahEmulator

/// The codes and octets here are those of the Glucose Service 1.0.1, 3.1 and 3.4.
@Suite struct RecordAccessTests {
    static let point: BluetoothUUID = "2A52"
    static let measurement: BluetoothUUID = "2A18"

    /// Record n of 1 to 5: at 08:00 on 2026-01-0n, and no offset, concentration or status.
    static func record(_ number: UInt8) -> [UInt8] {
        [0x00, number, 0x00, 0xEA, 0x07, 0x01, number, 0x08, 0x00, 0x00]
    }

    static var meter: TestService {
        var service = TestService(subscribed: [measurement, point])
        service.interval = .milliseconds(100)
        service.originals[measurement] = { record(UInt8($0) + 1) }
        return service
    }

    static func access(_ service: TestService, count: Int = 5) -> RecordAccess {
        var access = RecordAccess(count: count)
        _ = access.begin(service)
        return access
    }

    /// Lets time pass until nothing is due, and returns what is sent.
    static func run(_ access: inout RecordAccess, _ service: inout TestService) -> [Sent] {
        var sent: [Sent] = []
        while let due = access.due(service) {
            service.now = max(service.now, due)
            sent += service.take(access.tick(service))
        }
        return sent
    }

    // MARK: Every opcode, operator and operand

    /// A date and time as an operand: at an hour of 2026-01-DD.
    static func time(_ day: UInt8, _ hour: UInt8) -> [UInt8] { [0xEA, 0x07, 0x01, day, hour, 0, 0] }

    static let operands: [[UInt8]] =
        [
            [], [1], [1, 2], [1, 2, 0], [1, 2, 0, 4], [1, 2, 0, 4, 0], [1, 4, 0, 2, 0], [1, 2, 0, 4, 0, 0],
            [2], [2, 2, 0],
            [2] + time(2, 8), [2] + time(2, 8) + [0], [2] + time(2, 8) + time(4, 7),
            [2] + time(4, 7) + time(2, 8), [2] + time(32, 8), [2] + time(2, 24), [0], [0, 2, 0], [3, 2, 0],
        ]

    /// The numbers of the records that an operator and an operand select, or the response value.
    static func expected(_ operation: UInt8, _ operand: [UInt8]) -> Result<[UInt8], RecordRequest.Refusal> {
        func refused(_ response: RecordRequest.Response) -> Result<[UInt8], RecordRequest.Refusal> {
            .failure(.init(response: response))
        }
        let isTime = operand.first == 2
        switch operation {
        case 0: return refused(.invalidOperator)
        case 1, 5, 6:
            guard operand.isEmpty else { return refused(.invalidOperand) }
            return .success(operation == 1 ? [1, 2, 3, 4, 5] : operation == 5 ? [1] : [5])
        case 2, 3:
            guard let type = operand.first else { return refused(.invalidOperand) }
            guard type == 1 || type == 2 else { return refused(.operandNotSupported) }
            guard operand == [1, 2, 0] || operand == [2] + time(2, 8) else { return refused(.invalidOperand) }
            return .success(operation == 2 ? [1, 2] : [2, 3, 4, 5])
        case 4:
            guard let type = operand.first else { return refused(.invalidOperand) }
            guard type == 1 || type == 2 else { return refused(.operandNotSupported) }
            guard operand == [1, 2, 0, 4, 0] || operand == [2] + time(2, 8) + time(4, 7) else {
                return refused(.invalidOperand)
            }
            return .success(isTime ? [2, 3] : [2, 3, 4])
        default: return refused(.operatorNotSupported)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 0xFF] as [UInt8], [0, 1, 2, 3, 4, 5, 6, 7, 0xFF] as [UInt8])
    func `every opcode, operator and operand gets its answer`(_ opcode: UInt8, _ operation: UInt8) {
        for operand in Self.operands {
            var service = Self.meter
            var access = Self.access(service)
            let outcome = access.outcome(of: [opcode, operation] + operand, to: Self.point, &service)
            let selected = Self.expected(operation, operand)
            let response: [UInt8]
            switch (opcode, selected) {
            case (3, _):
                // Abort, and nothing is under way.
                response =
                    operation != 0 ? [6, 0, 3, 3] : operand.isEmpty ? [6, 0, 3, 7] : [6, 0, 3, 5]
            case (1, .failure(let refusal)), (2, .failure(let refusal)), (4, .failure(let refusal)):
                response = [6, 0, opcode, refusal.response.rawValue]
            case (1, .success(let numbers)):
                #expect(outcome == .sent([]))
                let sent = Self.run(&access, &service)
                let records = numbers.map { Sent(value: Self.record($0), characteristic: Self.measurement) }
                #expect(
                    sent == records + [Sent(value: [6, 0, 1, 1], characteristic: Self.point)], "\(operand)")
                continue
            case (2, .success(let numbers)):
                response = [6, 0, 2, 1]
                let left = ([1, 2, 3, 4, 5] as [UInt8]).filter { !numbers.contains($0) }
                #expect(access.records.map(\.measurement) == left.map(Self.record))
            case (4, .success(let numbers)): response = [5, 0, UInt8(numbers.count), 0]
            default: response = [6, 0, opcode, 2]
            }
            #expect(outcome == .response(response, on: Self.point), "\(opcode) \(operation) \(operand)")
            #expect(access.due(service) == nil)
        }
    }

    @Test(arguments: [1, 2, 4] as [UInt8])
    func `a request without an operator has an invalid one`(_ opcode: UInt8) {
        var service = Self.meter
        var access = Self.access(service)
        #expect(
            access.outcome(of: [opcode], to: Self.point, &service)
                == .response([6, 0, opcode, 3], on: Self.point))
    }

    @Test func `an empty request has an invalid length`() {
        var service = Self.meter
        var access = Self.access(service)
        #expect(access.outcome(of: [], to: Self.point, &service) == .error(0x0D))
    }

    @Test(
        arguments: [([1, 1], [6, 0, 1, 6]), ([2, 1], [6, 0, 2, 6]), ([4, 1], [5, 0, 0, 0])]
            as [([UInt8], [UInt8])])
    func `an empty meter has no records`(_ request: [UInt8], _ response: [UInt8]) {
        var service = Self.meter
        var access = Self.access(service, count: 0)
        #expect(access.outcome(of: request, to: Self.point, &service) == .response(response, on: Self.point))
        #expect(
            access.outcome(of: [4, 6], to: Self.point, &service) == .response([5, 0, 0, 0], on: Self.point))
    }

    // MARK: Errors

    @Test func `a control point that is not subscribed gets 0x81 for every request`() {
        var service = Self.meter
        service.subscribed = [Self.measurement]
        var access = Self.access(service)
        for request in [[1, 1], [2, 1], [3, 0], [4, 1], [9, 9]] as [[UInt8]] {
            #expect(access.outcome(of: request, to: Self.point, &service) == .error(0x81))
        }
        #expect(access.records.count == 5)
    }

    @Test func `only a report needs a subscription to the measurement`() {
        var service = Self.meter
        service.subscribed = [Self.point]
        var access = Self.access(service)
        #expect(access.outcome(of: [1, 1], to: Self.point, &service) == .error(0x81))
        #expect(
            access.outcome(of: [4, 1], to: Self.point, &service) == .response([5, 0, 5, 0], on: Self.point))
    }

    @Test func `a request while a report is under way gets 0x80, and does not disturb it`() {
        var service = Self.meter
        var access = Self.access(service)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        #expect(service.take(access.tick(service)).map(\.value) == [Self.record(1)])
        for request in [[1, 1], [2, 1], [4, 1], [9, 9]] as [[UInt8]] {
            #expect(access.outcome(of: request, to: Self.point, &service) == .error(0x80))
        }
        let rest = Self.run(&access, &service).map(\.value)
        #expect(rest == [2, 3, 4, 5].map(Self.record) + [[6, 0, 1, 1]])
    }

    @Test func `a request whose predecessor's response waits for room gets 0x80`() {
        var service = Self.meter
        var access = Self.access(service)
        service.sending = [Self.point]
        #expect(access.outcome(of: [4, 1], to: Self.point, &service) == .error(0x80))
        #expect(access.outcome(of: [3, 0], to: Self.point, &service) == .error(0x80))
    }

    // MARK: Reports

    @Test func `records are sent one by one, at the pace of the measurement`() {
        var service = Self.meter
        var access = Self.access(service)
        service.now = .seconds(7)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        #expect(access.due(service) == .seconds(7))
        #expect(service.take(access.tick(service)).count == 1)
        #expect(access.due(service) == .seconds(7) + .milliseconds(100))
        #expect(access.tick(service).isEmpty)
    }

    @Test func `a central that takes its records slowly holds up no other's`() {
        var service = Self.meter
        var access = Self.access(service)
        for central in [TestService.phone, TestService.other] {
            _ = access.outcome(of: [1, 1], to: Self.point, by: central, &service)
        }
        service.waiting = [TestService.phone]
        #expect(access.due(service) == .zero)
        #expect(service.take(access.tick(service)).map(\.central) == [TestService.other])
        #expect(access.due(service) == .milliseconds(100))
        service.waiting = []
        #expect(access.due(service) == .zero)
        #expect(service.take(access.tick(service)).map(\.central) == [TestService.phone])
    }

    @Test func `abort ends a report in the middle, and a report after it begins anew`() {
        var service = Self.meter
        var access = Self.access(service)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        _ = access.tick(service)
        // A wrong abort ends nothing.
        #expect(
            access.outcome(of: [3, 1], to: Self.point, &service) == .response([6, 0, 3, 3], on: Self.point))
        #expect(access.due(service) != nil)
        #expect(
            access.outcome(of: [3, 0], to: Self.point, &service) == .response([6, 0, 3, 1], on: Self.point))
        #expect(access.due(service) == nil)
        #expect(
            access.outcome(of: [3, 0], to: Self.point, &service) == .response([6, 0, 3, 7], on: Self.point))
        #expect(access.outcome(of: [1, 6], to: Self.point, &service) == .sent([]))
        #expect(Self.run(&access, &service).map(\.value) == [Self.record(5), [6, 0, 1, 1]])
    }

    @Test func `a report whose central unsubscribes is not completed`() {
        var service = Self.meter
        var access = Self.access(service)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        _ = access.tick(service)
        service.subscribed = [Self.point]
        #expect(Self.run(&access, &service).map(\.value) == [[6, 0, 1, 8]])
    }

    @Test func `a disconnection ends a report of its central alone`() {
        var service = Self.meter
        var access = Self.access(service)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        _ = access.outcome(of: [1, 5], to: Self.point, by: TestService.other, &service)
        access.disconnected(TestService.phone)
        let sent = Self.run(&access, &service)
        #expect(sent.map(\.central) == [TestService.other, TestService.other])
        #expect(access.outcome(of: [1, 6], to: Self.point, &service) == .sent([]))
        #expect(Self.run(&access, &service).map(\.value) == [Self.record(5), [6, 0, 1, 1]])
    }

    @Test func `deleted records are gone until the device is reset`() {
        var service = Self.meter
        var access = Self.access(service)
        _ = access.outcome(of: [2, 4, 1, 2, 0, 4, 0], to: Self.point, &service)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        #expect(Self.run(&access, &service).map(\.value) == [Self.record(1), Self.record(5), [6, 0, 1, 1]])
        _ = access.begin(service)
        #expect(
            access.outcome(of: [4, 1], to: Self.point, &service) == .response([5, 0, 5, 0], on: Self.point))
    }

    @Test func `a context follows its measurement, with its sequence number`() {
        var service = Self.meter
        service.subscribed.insert("2A34")
        service.originals[Self.measurement] = { tick in
            // Flag bit 4: a context follows; record 2 has none.
            var record = Self.record(UInt8(tick) + 1)
            record[0] = tick == 0 ? 0x10 : 0
            return record
        }
        service.originals["2A34"] = { _ in [0x02, 0xFF, 0xFF, 0x01] }
        var access = Self.access(service, count: 2)
        _ = access.outcome(of: [1, 1], to: Self.point, &service)
        #expect(
            Self.run(&access, &service).map(\.value) == [
                [0x10] + Self.record(1).dropFirst(), [0x02, 0x01, 0x00, 0x01], Self.record(2), [6, 0, 1, 1],
            ])
    }

    @Test func `the user-facing time is the base time and its offset`() throws {
        // Flag bit 0: an offset, here -90 minutes from 00:30 on 2026-03-01: 23:00 on 28 February.
        let bytes: [UInt8] = [0x01, 7, 0, 0xEA, 0x07, 3, 1, 0, 30, 0, 0xA6, 0xFF]
        let record = try #require(StoredRecord(bytes, context: nil))
        #expect(record.sequenceNumber == 7)
        #expect(record.time == OctetDate([0xEA, 0x07, 2, 28, 23, 0, 0])?.seconds)
        #expect(StoredRecord(bytes.dropLast(), context: nil) == nil)
        #expect(StoredRecord([0, 1, 0], context: nil) == nil)
    }
}

/// Pulse Oximeter Service 1.0.1, 3.5: requests are for all records.
@Suite struct SpotCheckAccessTests {
    static let point: BluetoothUUID = "2A52"
    static let measurement: BluetoothUUID = "2A5E"

    /// 97 %, and a pulse rate of 60 and the record's number.
    static func record(_ number: UInt8) -> [UInt8] { [0, 97, 0, 60 + number, 0] }

    static var oximeter: TestService {
        var service = TestService(subscribed: [measurement, point])
        service.interval = .milliseconds(100)
        service.originals[measurement] = { record(UInt8($0)) }
        return service
    }

    static func access(_ service: TestService) -> RecordAccess {
        var access = RecordAccess(.pulseOximeter, count: 3)
        _ = access.begin(service)
        return access
    }

    enum State: CaseIterable {
        case stored
        /// All records are deleted.
        case empty
        /// A report has sent the first record.
        case reporting
    }

    /// The response to a request, or the error; `nil` for a report that begins.
    static func expected(_ request: [UInt8], in state: State) -> WriteOutcome? {
        let opcode = request[0]
        func refused(_ value: UInt8) -> WriteOutcome { .response([6, 0, opcode, value], on: point) }
        if state == .reporting, opcode != 3 { return .error(0xFE) }
        guard (1...4).contains(opcode) else { return refused(2) }
        guard request.count > 1 else { return refused(3) }
        if opcode == 3 {
            guard request[1] == 0 else { return refused(3) }
            return refused(request.count > 2 ? 5 : state == .reporting ? 1 : 7)
        }
        switch request[1] {
        case 0: return refused(3)
        case 1: break
        default: return refused(4)
        }
        guard request.count == 2 else { return refused(5) }
        if opcode == 4 { return .response([5, 0, state == .empty ? 0 : 3, 0], on: point) }
        guard state == .stored else { return refused(6) }
        return opcode == 2 ? refused(1) : nil
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 0xFF] as [UInt8], State.allCases)
    func `every opcode, operator and operand gets its answer in every state`(
        _ opcode: UInt8, _ state: State
    ) {
        let operators: [[UInt8]] = [
            [], [0], [1], [2], [3], [4], [5], [6], [0xFF], [0, 9], [1, 9], [3, 1, 2, 0],
        ]
        for request in operators.map({ [opcode] + $0 }) {
            var service = Self.oximeter
            var access = Self.access(service)
            if state == .empty { _ = access.outcome(of: [2, 1], to: Self.point, &service) }
            if state == .reporting {
                _ = access.outcome(of: [1, 1], to: Self.point, &service)
                _ = access.tick(service)
            }
            let outcome = access.outcome(of: request, to: Self.point, &service)
            guard let expected = Self.expected(request, in: state) else {
                #expect(outcome == .sent([]))
                let sent = RecordAccessTests.run(&access, &service)
                #expect(sent.map(\.value) == [0, 1, 2].map(Self.record) + [[6, 0, 1, 1]])
                continue
            }
            #expect(outcome == expected, "\(request) \(state)")
        }
    }

    @Test func `a spot check that is too short is no record`() {
        var service = Self.oximeter
        service.originals[Self.measurement] = { [0, 97, 0, UInt8($0)] }
        #expect(Self.access(service).records.isEmpty)
    }
}
