import MynahLifecycle
import Testing

@testable import MynahEmulator

@Suite struct CentralRoomTests {
    private let device = PeripheralIdentifier(high: 0, low: 1)
    private let other = PeripheralIdentifier(high: 0, low: 2)

    // MARK: WaitingActions

    @Test func `the first actions have to be carried out by who adds them, with those that follow`() {
        var waiting = WaitingActions()
        let isNothing = waiting.add([], in: nil)
        #expect(!isNothing)
        let isFirst = waiting.add([.startScan], in: 3)
        #expect(isFirst)
        let isSecond = waiting.add([.stopScan], in: nil)
        #expect(!isSecond)
        let first = waiting.next()
        #expect(first?.action == .startScan)
        #expect(first?.wake == 3)
        let second = waiting.next()
        #expect(second?.action == .stopScan)
        let third = waiting.next()
        #expect(third == nil)
        #expect(waiting.isEmpty)
        // Nobody has said yet that all is done.
        let isThird = waiting.add([.startScan], in: nil)
        #expect(!isThird)
        waiting.removeAll()
        waiting.finish()
        let isNext = waiting.add([.startScan], in: nil)
        #expect(isNext)
    }

    // MARK: RepeatedWrites

    private func repetition(of device: PeripheralIdentifier, _ write: Int = 0) -> RepeatedWrites.Repetition {
        .init(device: device, entry: 0, write: write)
    }

    @Test func `a write that is due while the app does not run is held once`() {
        var writes = RepeatedWrites()
        #expect(!writes.isHeld)
        writes.hold(repetition(of: device, 1))
        writes.hold(repetition(of: device, 0))
        writes.hold(repetition(of: device, 1))
        #expect(writes.isHeld)
        let held = writes.release()
        #expect(held == [repetition(of: device, 1), repetition(of: device, 0)])
        #expect(!writes.isHeld)
    }

    @Test func `the end of a link ends its writes alone`() {
        var writes = RepeatedWrites()
        let timers = [device, other].map { device in
            let timer = Task {}
            writes.wait(for: repetition(of: device), timer)
            writes.hold(repetition(of: device, 1))
            return timer
        }
        writes.stop { $0 == device }
        #expect(timers.map(\.isCancelled) == [true, false])
        let held = writes.release()
        #expect(held == [repetition(of: other, 1)])
        writes.stop()
        #expect(timers.map(\.isCancelled) == [true, true])
    }

    @Test func `a write that is cancelled waits no more, and one whose time has come is let go of`() {
        var writes = RepeatedWrites()
        let cancelled = Task {}
        writes.wait(for: repetition(of: device), cancelled)
        writes.cancel(repetition(of: device))
        #expect(cancelled.isCancelled)
        let due = Task {}
        writes.wait(for: repetition(of: device), due)
        writes.end(repetition(of: device))
        writes.stop()
        #expect(!due.isCancelled)
    }
}
