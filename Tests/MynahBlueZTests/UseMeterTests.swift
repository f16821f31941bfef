import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct UseMeterTests {
    private static let report = AdvertisingReport(
        isOn: true, data: [2, 1, 6], interval: .milliseconds(100) ... .milliseconds(150))

    @Test func `advertising with an interval and the time of links are known, and no packets`() {
        var meter = UseMeter()
        meter.note(Self.report, at: .zero)
        meter.note(.connected(Peer(id: .init(1))), at: .seconds(10))
        meter.note(.disconnected(.init(1)), at: .seconds(31))
        meter.note(.stateChanged(.poweredOff), at: .seconds(42))
        let use = meter.use(at: .seconds(100))
        // 42 s / 105 ms = 400 events of 3 × (80 + 8 × (6 + 3) + 150) = 906 µs.
        #expect(use.advertising.advertisingEvents == 400)
        #expect((use.advertising.airtime - .microseconds(906 * 400)) < .nanoseconds(1))
        #expect(use.links[.init(1)]?.linked == .seconds(21))
        #expect(use.links[.init(1)]?.airtime == .zero)
        #expect(use.isEstimated && !use.knowsPackets)
    }

    @Test func `an interval that is not reported is not counted`() {
        var meter = UseMeter()
        meter.note(.advertisingChanged(AdvertisingReport(isOn: true, data: [2, 1, 6])), at: .zero)
        #expect(meter.use(at: .seconds(60)).advertising == AirUse())
    }

    @Test func `the end of the radio ends its links`() {
        var meter = UseMeter()
        meter.note(Self.report, at: .zero)
        meter.note(.connected(Peer(id: .init(1))), at: .zero)
        meter.stop(at: .seconds(21))
        let use = meter.use(at: .seconds(99))
        #expect(use.links[.init(1)]?.linked == .seconds(21) && use.advertising.advertisingEvents == 200)
    }
}
