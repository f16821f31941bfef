import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct AdapterPresenceTests {
    typealias Cause = AdapterPresence.Cause

    private func present() -> AdapterPresence {
        var presence = AdapterPresence()
        #expect(presence.handle(.begin) == [.reportState(.poweredOn)])
        return presence
    }

    @Test(arguments: [Cause.daemon, .adapter, .power])
    func `a loss is reported once, and its end is recovered once`(cause: Cause) {
        var presence = present()
        #expect(
            presence.handle(.missing(cause)) == [
                .forget(cause), .reportLost(cause), .reportState(cause.state),
            ])
        #expect(presence.handle(.missing(cause)) == [])
        #expect(presence.handle(.missing(nil)) == [.perform(.registerAll(epoch: 1))])
        #expect(presence.handle(.missing(nil)) == [])
        #expect(presence.handle(.recovered(epoch: 1)) == [.reportState(.poweredOn), .reportRecovered])
        #expect(presence.handle(.recovered(epoch: 1)) == [])
    }

    @Test(arguments: [(Cause.daemon, RadioState.resetting), (.adapter, .unsupported), (.power, .poweredOff)])
    func `each cause has a radio state`(cause: Cause, state: RadioState) {
        #expect(cause.state == state)
        #expect(cause.error.code == .lost)
    }

    @Test func `a daemon that is back without its adapter yet is waited for`() {
        var presence = present()
        _ = presence.handle(.missing(.daemon))
        #expect(presence.handle(.missing(.adapter)) == [])
        // The recovery turns the adapter on, since no user turned it off.
        #expect(presence.handle(.missing(.power)) == [.perform(.registerAll(epoch: 1))])
    }

    @Test func `an adapter that was turned off is not turned on against the user's will`() {
        var presence = present()
        _ = presence.handle(.missing(.power))
        #expect(presence.handle(.missing(.power)) == [])
    }

    @Test func `a worse loss is reported as a state, and not as another loss`() {
        var presence = present()
        _ = presence.handle(.missing(.power))
        #expect(presence.handle(.missing(.adapter)) == [.forget(.adapter), .reportState(.unsupported)])
        #expect(presence.handle(.missing(.daemon)) == [.forget(.daemon), .reportState(.resetting)])
    }

    @Test func `a recovery that fails is made again after a pause`() {
        var presence = present()
        _ = presence.handle(.missing(.daemon))
        _ = presence.handle(.missing(nil))
        #expect(presence.handle(.recoveryFailed(epoch: 1)) == [.retry(after: .seconds(1))])
        #expect(presence.handle(.missing(nil)) == [.perform(.registerAll(epoch: 2))])
        #expect(presence.handle(.recoveryFailed(epoch: 1)) == [])
        #expect(presence.handle(.recovered(epoch: 2)) == [.reportState(.poweredOn), .reportRecovered])
    }

    @Test func `a daemon that goes during its recovery is waited for again`() {
        var presence = present()
        _ = presence.handle(.missing(.daemon))
        _ = presence.handle(.missing(nil))
        #expect(presence.handle(.missing(.daemon)) == [.forget(.daemon)])
        #expect(presence.handle(.recovered(epoch: 1)) == [])
        #expect(presence.handle(.missing(nil)) == [.perform(.registerAll(epoch: 2))])
    }

    @Test func `nothing happens before the begin and after the end`() {
        var presence = AdapterPresence()
        #expect(presence.handle(.missing(.daemon)) == [])
        #expect(presence.handle(.missing(nil)) == [])
        presence = present()
        #expect(presence.handle(.end) == [])
        #expect(presence.handle(.missing(.daemon)) == [])
        #expect(presence.state == .idle)
    }

    @Test func `a loss during the start is reported at its end`() {
        var presence = AdapterPresence()
        _ = presence.handle(.missing(.adapter))
        #expect(
            presence.handle(.begin) == [
                .reportState(.poweredOn), .forget(.adapter), .reportLost(.adapter),
                .reportState(.unsupported),
            ])
    }
}
