import MynahSupport
import Testing

@Suite struct SortedMapTests {
    @Test func `it holds what a dictionary would, in the order of the keys`() {
        var random = SystemRandomNumberGenerator()
        var map = SortedMap<UInt8, Int>()
        var dictionary: [UInt8: Int] = [:]
        for step in 0..<2000 {
            let key = UInt8.random(in: 0..<40, using: &random)
            switch step % 4 {
            case 0, 1:
                map[key] = step
                dictionary[key] = step
            case 2:
                map[key, default: 7] += 1
                dictionary[key, default: 7] += 1
            default:
                #expect(map.removeValue(forKey: key) == dictionary.removeValue(forKey: key))
            }
            #expect(map.keys == dictionary.keys.sorted())
            #expect(map.values == dictionary.sorted { $0.key < $1.key }.map(\.value))
            #expect(map[key] == dictionary[key])
            #expect(map.pairs.map(\.0) == map.keys)
            #expect(map.pairs.map(\.1) == map.values)
        }
    }

    @Test func `a value is changed at its place`() {
        var map = SortedMap<Int, [Int]>()
        map[3] = [3]
        map[1] = [1]
        #expect(map.index(of: 2) == nil)
        #expect(map.index(of: 3) == 1)
        map[at: 1].append(4)
        #expect(map[3] == [3, 4])
        map[3] = nil
        map[3] = nil
        #expect(map.keys == [1])
        #expect(map.count == 1)
        #expect(!map.isEmpty)
    }
}
