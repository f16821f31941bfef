import MynahConsole
import Testing

@Suite struct OutputBacklogTests {
    @Test func `what has no room is dropped, and counted once there is room to report it`() {
        var backlog = OutputBacklog(limit: 10)
        #expect(backlog.take(6))
        #expect(backlog.take(4))
        #expect(!backlog.take(1))
        #expect(!backlog.take(1))
        #expect(backlog.waiting == 10)
        #expect(backlog.takeDropped() == 0)
        backlog.remove(6)
        #expect(backlog.takeDropped() == 2)
        #expect(backlog.takeDropped() == 0)
    }

    @Test func `an urgent write has room when others have none, and is bounded too`() {
        var backlog = OutputBacklog(limit: 10)
        #expect(backlog.take(10))
        #expect(!backlog.take(1))
        #expect(backlog.take(10, isUrgent: true))
        #expect(!backlog.take(1, isUrgent: true))
        #expect(backlog.waiting == 20)
    }
}
