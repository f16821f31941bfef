import MynahTestSupport
import Testing

@testable import MynahSupport

@Suite(.timeLimit(.minutes(15))) struct DeadlinesTests {
    @Test func `deadlines come in the order of their times`() {
        var deadlines = Deadlines<Int>()
        for key in [5, 1, 4, 2, 3] { deadlines[key] = .seconds(key) }
        #expect(deadlines.count == 5 && deadlines.wakeTime == .seconds(1))
        var due: [Int] = []
        while let key = deadlines.takeDue(at: .seconds(3)) { due.append(key) }
        #expect(due == [1, 2, 3])
        #expect(deadlines.count == 2 && deadlines.wakeTime == .seconds(4))
        #expect(deadlines[4] == .seconds(4) && deadlines[1] == nil)
    }

    @Test func `a deadline that is removed or moved does not come at its old time`() {
        var deadlines = Deadlines<Int>()
        deadlines[1] = .seconds(1)
        deadlines[2] = .seconds(2)
        deadlines[3] = .seconds(9)
        deadlines[1] = nil
        deadlines[2] = .seconds(5)
        deadlines[3] = .seconds(3)
        #expect(deadlines.takeDue(at: .seconds(2)) == nil)
        #expect(deadlines.takeDue(at: .seconds(4)) == 3)
        #expect(deadlines.takeDue(at: .seconds(4)) == nil)
        #expect(deadlines.takeDue(at: .seconds(9)) == 2)
        #expect(deadlines.takeDue(at: .seconds(9)) == nil)
        #expect(deadlines.count == 0 && deadlines.wakeTime == nil)
    }

    @Test func `they agree with a sorted list after any operations`() {
        var random = SeededGenerator(seed: 11)
        var deadlines = Deadlines<Int>()
        var list: [Int: Duration] = [:]
        var now = Duration.zero
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                deadlines[key] = nil
                list[key] = nil
            case 1:
                now += .milliseconds(Int.random(in: 0..<30, using: &random))
                var due: Set<Int> = []
                while let each = deadlines.takeDue(at: now) { due.insert(each) }
                #expect(due == Set(list.filter { $0.value <= now }.keys))
                list = list.filter { $0.value > now }
            default:
                let time = now + .milliseconds(Int.random(in: 1..<200, using: &random))
                deadlines[key] = time
                list[key] = time
            }
            #expect(deadlines.count == list.count)
            // It never sleeps past the earliest.
            if let earliest = list.values.min() { #expect(deadlines.wakeTime ?? .zero <= earliest) }
        }
    }

    @Test func `the timer sleeps once, and again if a deadline comes earlier`() async throws {
        let clock = ManualClock()
        let woken = Lock([UInt64]())
        var timer = DeadlineTimer(RunClock(clock))
        func arm(_ seconds: Int?) {
            timer.arm(seconds.map { .seconds($0) }) { number in woken.withLock { $0.append(number) } }
        }
        arm(5)
        try await clock.waitForSleepers(1)
        arm(7)
        #expect(clock.pauses == [.seconds(5)])
        arm(2)
        try await until("it sleeps for 2 s") { clock.pauses == [.seconds(2)] }
        clock.advance(by: .seconds(2))
        try await until("the second task has woken") { woken.withLock { $0 } == [2] }
        let (isOld, isNew) = (timer.woke(1), timer.woke(2))
        #expect(!isOld && isNew)
        arm(3)
        try await until("it sleeps for 1 s") { clock.pauses == [.seconds(1)] }
        // Nothing to wake for: it sleeps on, and is no cost to what comes next.
        arm(nil)
        arm(4)
        #expect(clock.pauses == [.seconds(1)])
        timer.stop()
        try await until("it sleeps no more") { clock.pauses.isEmpty }
    }
}
