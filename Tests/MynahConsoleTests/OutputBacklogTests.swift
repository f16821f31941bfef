import MynahConsole
import Testing

@Suite struct OutputBacklogTests {
    @Test func `a write without room is dropped, and counted once there is room to report it`() {
        var backlog = OutputBacklog(limit: 10)
        let taken = [6, 4, 1, 1].map { backlog.reserve($0) }
        #expect(taken == [true, true, false, false])
        #expect(backlog.waiting == 10)
        let early = backlog.takeDropped()
        backlog.remove(6)
        let dropped = [early, backlog.takeDropped(), backlog.takeDropped()]
        #expect(dropped == [0, 2, 0])
    }

    @Test func `an urgent write has room when others have none, and is bounded too`() {
        var backlog = OutputBacklog(limit: 10)
        let taken = [(10, false), (1, false), (10, true), (1, true)].map { backlog.reserve($0, isUrgent: $1) }
        #expect(taken == [true, false, true, false])
        #expect(backlog.waiting == 20)
    }
}
