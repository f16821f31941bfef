import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct RadioLifeTests {
    private func running() -> RadioLife {
        var life = RadioLife()
        #expect(life.handle(.start) == [])
        #expect(life.handle(.started) == [.tellState(.poweredOn)])
        return life
    }

    @Test func `what is missing is told once, and what comes back is recovered once`() {
        for (cause, state) in [
            (RadioLife.Cause.daemon, "resetting"), (.adapter, "unsupported"), (.power, "poweredOff"),
        ] {
            var life = running()
            #expect(
                life.handle(.missing(cause)) == [.forget(cause), .tellLost(cause), .tellState(cause.state)])
            #expect(cause.state.rawValue == state)
            #expect(life.handle(.missing(cause)) == [])
            #expect(life.handle(.missing(nil)) == [.recover(attempt: 1)])
            #expect(life.handle(.missing(nil)) == [])
            #expect(life.handle(.recovered(attempt: 1)) == [.tellState(.poweredOn), .tellRecovered])
            #expect(life.handle(.recovered(attempt: 1)) == [])
        }
    }

    @Test func `a daemon that is back without its adapter yet is waited for`() {
        var life = running()
        _ = life.handle(.missing(.daemon))
        #expect(life.handle(.missing(.adapter)) == [])
        // Power is ours to turn on, since nobody turned it off.
        #expect(life.handle(.missing(.power)) == [.recover(attempt: 1)])
    }

    @Test func `an adapter that was turned off is not turned on against the user's will`() {
        var life = running()
        _ = life.handle(.missing(.power))
        #expect(life.handle(.missing(.power)) == [])
        #expect(life.handle(.retry) == [])
    }

    @Test func `what gets worse is told as a state, and not as another loss`() {
        var life = running()
        _ = life.handle(.missing(.power))
        #expect(life.handle(.missing(.adapter)) == [.forget(.adapter), .tellState(.unsupported)])
        #expect(life.handle(.missing(.daemon)) == [.forget(.daemon), .tellState(.resetting)])
    }

    @Test func `an attempt that fails is made again after a pause`() {
        var life = running()
        _ = life.handle(.missing(.daemon))
        _ = life.handle(.missing(nil))
        #expect(life.handle(.recoveryFailed(attempt: 1)) == [.pause])
        #expect(life.handle(.retry) == [.recover(attempt: 2)])
        #expect(life.handle(.recoveryFailed(attempt: 1)) == [])
        #expect(life.handle(.recovered(attempt: 2)) == [.tellState(.poweredOn), .tellRecovered])
    }

    @Test func `a daemon that goes while it is recovered is waited for again`() {
        var life = running()
        _ = life.handle(.missing(.daemon))
        _ = life.handle(.missing(nil))
        #expect(life.handle(.missing(.daemon)) == [.forget(.daemon)])
        #expect(life.handle(.recovered(attempt: 1)) == [])
        #expect(life.handle(.missing(nil)) == [.recover(attempt: 2)])
    }

    @Test func `nothing happens after the end`() {
        var life = running()
        #expect(life.handle(.stop) == [])
        #expect(life.handle(.missing(.daemon)) == [])
        #expect(life.handle(.stopped) == [])
        #expect(life.state == .stopped)
        #expect(life.handle(.retry) == [])
    }
}
