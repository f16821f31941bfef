import MynahSupport
import Testing

@Suite struct MadeOnceTests {
    @Test func `a value is made when it is first asked for, and kept`() {
        let asked = Lock<[Int]>([])
        let halves = MadeOnce<Int, Int> { number in
            asked.withLock { $0.append(number) }
            return number.isMultiple(of: 2) ? number / 2 : nil
        }
        #expect(asked.withLock { $0 } == [])
        #expect([halves[4], halves[8], halves[4], halves[3], halves[3]] == [2, 4, 2, nil, nil])
        #expect(asked.withLock { $0 } == [4, 8, 3, 3])
    }
}
