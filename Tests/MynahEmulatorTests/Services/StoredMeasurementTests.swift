import MynahCore
import Testing

@testable import MynahEmulator

/// Measurements that are kept until they are confirmed (Blood Pressure Service 1.1.1, 3.1).
@Suite struct StoredMeasurementTests {
    static let measurement: BluetoothUUID = "2A35"
    static let phone = TestService.phone
    static let other = TestService.other

    /// Measurement n of 0 on has n in its last octet; one is taken each minute.
    static var cuff: TestService {
        var service = TestService()
        service.interval = .seconds(60)
        service.originals[measurement] = { [0, UInt8(truncatingIfNeeded: $0)] }
        return service
    }

    static func measurements(_ service: TestService, count: Int = 2) -> StoredMeasurements {
        var measurements = StoredMeasurements(measurement, count: count)
        _ = measurements.begin(service)
        return measurements
    }

    static func numbers(_ sent: [Sent]) -> [UInt8] { sent.map { $0.value[1] } }

    // MARK: Every event in every state

    enum State: CaseIterable {
        /// Nobody is subscribed.
        case idle
        /// A phone is subscribed, and has confirmed all.
        case subscribed
        /// A phone has to confirm measurement 0.
        case sending
        /// The same, and its link has ended.
        case gone
    }

    enum Event: CaseIterable {
        case subscribe, confirm, minute, unsubscribe, disconnect
    }

    /// The bytes that are sent after an event in a state, and the measurements that are stored then.
    static func expected(_ event: Event, in state: State) -> (sent: [UInt8], stored: [UInt64]) {
        switch (state, event) {
        case (.idle, .subscribe), (.gone, .subscribe): ([0], [0, 1])
        case (.idle, .minute), (.gone, .minute): ([], [0, 1, 2])
        case (.idle, _), (.gone, _): ([], [0, 1])
        case (.subscribed, .minute): ([2], [2])
        case (.subscribed, _): ([], [])
        // It subscribes again, and may have missed the indication.
        case (.sending, .subscribe): ([0], [0, 1])
        case (.sending, .confirm): ([1], [1])
        case (.sending, .minute): ([], [0, 1, 2])
        case (.sending, _): ([], [0, 1])
        }
    }

    @Test(arguments: State.allCases, Event.allCases)
    func `each event in each state sends and keeps what it should`(_ state: State, _ event: Event) {
        var service = Self.cuff
        var measurements = Self.measurements(service)
        if state != .idle {
            service.subscribed = [Self.measurement]
            _ = service.take(measurements.subscribed(Self.phone, to: Self.measurement, service))
        }
        if state == .subscribed {
            for _ in 0..<2 { _ = measurements.confirmed(Self.phone, Self.measurement, service) }
        }
        if state == .gone {
            service.subscribed = []
            _ = measurements.linkEnded(Self.phone, isLost: false, service)
        }
        var sent: [Sent] = []
        switch event {
        case .subscribe:
            service.subscribed = [Self.measurement]
            sent = service.take(measurements.subscribed(Self.phone, to: Self.measurement, service))
        case .confirm:
            sent = service.take(measurements.confirmed(Self.phone, Self.measurement, service))
        case .minute:
            #expect(measurements.due(service) == .seconds(60))
            service.now = .seconds(60)
            sent = service.take(measurements.tick(service))
        case .unsubscribe:
            service.subscribed = []
            measurements.unsubscribed(Self.phone, from: Self.measurement)
        case .disconnect:
            service.subscribed = []
            sent = service.take(measurements.linkEnded(Self.phone, isLost: true, service))
        }
        let expected = Self.expected(event, in: state)
        #expect(Self.numbers(sent) == expected.sent)
        #expect(measurements.stored.map(\.number) == expected.stored)
    }

    // MARK: Several centrals, and radios that do not name them

    @Test func `each of two centrals gets the measurements, and each is deleted once`() {
        var service = Self.cuff
        service.subscribed = [Self.measurement]
        var measurements = Self.measurements(service, count: 3)
        let first = service.take(measurements.subscribed(Self.phone, to: Self.measurement, service))
        #expect(Self.numbers(first) == [0])
        service.connected = [Self.phone, Self.other]
        let second = service.take(measurements.subscribed(Self.other, to: Self.measurement, service))
        #expect(second == [Sent(value: [0, 0], characteristic: Self.measurement, central: Self.other)])
        #expect(
            Self.numbers(service.take(measurements.confirmed(Self.phone, Self.measurement, service))) == [1])
        #expect(
            Self.numbers(service.take(measurements.confirmed(Self.other, Self.measurement, service))) == [1])
        #expect(measurements.stored.map(\.number) == [1, 2])
    }

    @Test func `a radio that names no central confirms for all of them`() {
        var service = Self.cuff
        service.subscribed = [Self.measurement]
        service.connected = [nil]
        var measurements = Self.measurements(service)
        let sent = service.take(measurements.subscribed(nil, to: Self.measurement, service))
        #expect(sent == [Sent(value: [0, 0], characteristic: Self.measurement, central: nil)])
        #expect(Self.numbers(service.take(measurements.confirmed(nil, Self.measurement, service))) == [1])
        #expect(measurements.stored.map(\.number) == [1])
    }

    @Test func `another characteristic has no effect`() {
        var service = Self.cuff
        service.subscribed = [Self.measurement]
        var measurements = Self.measurements(service)
        #expect(measurements.subscribed(Self.phone, to: "2A36", service) == [])
        _ = measurements.subscribed(Self.phone, to: Self.measurement, service)
        #expect(measurements.confirmed(Self.phone, "2A36", service) == [])
        #expect(measurements.stored.count == 2)
    }

    // MARK: Memory

    @Test func `the newest measurements are kept when there are too many`() {
        var service = Self.cuff
        var measurements = Self.measurements(service)
        for minute in 1...300 {
            service.now = .seconds(60 * minute)
            _ = measurements.tick(service)
        }
        #expect(measurements.stored.count == StoredMeasurements.most)
        #expect(measurements.stored.last?.number == 301)
    }

    @Test func `of a long time without a tick the newest measurements are taken`() {
        var service = Self.cuff
        var measurements = Self.measurements(service)
        service.now = .seconds(60 * 1_000_000)
        _ = measurements.tick(service)
        #expect(measurements.stored.count == StoredMeasurements.most)
        #expect(measurements.stored.last?.number == 1_000_001)
        #expect(measurements.due(service) == .seconds(60 * 1_000_001))
    }

    @Test func `a reset stores what was there at the start, and goes on with the time`() {
        var service = Self.cuff
        var measurements = Self.measurements(service)
        service.now = .seconds(600)
        _ = measurements.begin(service)
        #expect(measurements.stored.map(\.number) == [0, 1])
        #expect(measurements.due(service) == .seconds(660))
    }
}
