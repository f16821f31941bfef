import MynahTestSupport
import Testing

@testable import MynahSupport

@Suite struct MinHeapTests {
    @Test func `elements leave the heap in ascending order`() {
        var random = SeededGenerator(seed: 5)
        for count in [0, 1, 2, 3, 17, 200] {
            var heap = MinHeap<Int>()
            let numbers = (0..<count).map { _ in Int.random(in: 0..<50, using: &random) }
            for number in numbers { heap.insert(number) }
            #expect(heap.count == count && heap.first == numbers.min())
            var left: [Int] = []
            while let number = heap.removeFirst() { left.append(number) }
            #expect(left == numbers.sorted())
        }
    }

    @Test func `elements that are removed do not leave the heap later`() {
        var heap = MinHeap<Int>()
        for number in [5, 1, 4, 2, 3, 6] { heap.insert(number) }
        heap.removeAll { $0.isMultiple(of: 2) }
        var left: [Int] = []
        while let number = heap.removeFirst() { left.append(number) }
        #expect(left == [1, 3, 5])
    }
}
