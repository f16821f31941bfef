import Dispatch
import MynahSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct LockTests {
    @Test func `many tasks count without losing one`() async {
        let count = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 8000)
    }

    @Test func `many threads count without losing one`() {
        let count = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            for _ in 0..<1000 { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 16_000)
    }

    @Test func `an error thrown inside is thrown on, and the lock is free again`() {
        struct Refused: Error {}
        let lock = Lock(1)
        #expect(throws: Refused.self) { try lock.withLock { _ in throw Refused() } }
        #expect(lock.withLock { $0 } == 1)
    }
}
