import MynahCore
import Testing

@testable import MynahEmulator

/// The alerts of Link Loss Service 1.0.1 and Immediate Alert Service 1.0.
@Suite struct ProximityAlertTests {
    static let level = AlertLevel.uuid
    static let phone = TestService.phone

    @Test(arguments: 0...2 as ClosedRange<UInt8>, [false, true])
    func `a lost link raises the level that was written, and a new one ends the alert`(
        _ level: UInt8, _ isLost: Bool
    ) {
        var service = TestService()
        service.stored[Self.level] = [0]
        var behavior = LinkLoss()
        #expect(behavior.outcome(of: [level], to: Self.level, &service) == .sent([]))
        #expect(service.stored[Self.level] == [level])
        _ = service.take(behavior.linkEnded(Self.phone, isLost: isLost, service))
        let isRaised = isLost && level > 0
        #expect(service.alerts == (isRaised ? ["\(level) linkLoss 1"] : []))
        _ = service.take(behavior.linkBegan(Self.phone))
        _ = service.take(behavior.linkBegan(Self.phone))
        #expect(service.alerts == (isRaised ? ["\(level) linkLoss 1", "0 connection 1"] : []))
    }

    @Test func `an immediate alert is the level that was written last, by its central`() {
        var service = TestService()
        var behavior = ImmediateAlert()
        for level: UInt8 in [2, 1, 0, 2] {
            #expect(behavior.outcome(of: [level], to: Self.level, &service) == .sent([]))
        }
        // Another central's link has no effect.
        _ = service.take(behavior.linkEnded(TestService.other, isLost: true, service))
        #expect(service.alerts == ["2 write 1", "1 write 1", "0 write 1", "2 write 1"])
        _ = service.take(behavior.linkEnded(Self.phone, isLost: false, service))
        _ = service.take(behavior.linkEnded(Self.phone, isLost: false, service))
        #expect(service.alerts.suffix(1) == ["0 disconnection 1"] && service.alerts.count == 5)
        // An alert that was ended ends with no link.
        _ = behavior.outcome(of: [0], to: Self.level, &service)
        _ = service.take(behavior.linkEnded(Self.phone, isLost: true, service))
        #expect(service.alerts.count == 6)
    }

    @Test(arguments: [[], [0, 0], [3], [0xFF]] as [[UInt8]])
    func `a level that does not exist is refused`(_ value: [UInt8]) {
        var service = TestService()
        service.stored[Self.level] = [1]
        var loss = LinkLoss()
        var alert = ImmediateAlert()
        let error: WriteOutcome = .error(value.count == 1 ? 0x13 : 0x0D)
        #expect(loss.outcome(of: value, to: Self.level, &service) == error)
        #expect(alert.outcome(of: value, to: Self.level, &service) == error)
        #expect(service.stored[Self.level] == [1] && service.alerts.isEmpty)
    }

    @Test func `a reset ends an alert without an event`() {
        var service = TestService()
        service.stored[Self.level] = [2]
        var loss = LinkLoss()
        _ = loss.linkEnded(Self.phone, isLost: true, service)
        _ = loss.begin(service)
        #expect(loss.linkBegan(Self.phone) == [])
        var alert = ImmediateAlert()
        _ = alert.outcome(of: [2], to: Self.level, &service)
        _ = alert.begin(service)
        #expect(alert.linkEnded(Self.phone, isLost: true, service) == [])
    }
}
