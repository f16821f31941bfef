import MynahSupport
import Testing

@Suite struct CountingTests {
    @Test func `one has no s, and nothing has one`() {
        #expect([0, 1, 2].map { $0.counting("byte") } == ["0 bytes", "1 byte", "2 bytes"])
        #expect(UInt64(1).counting("event was", "events were") == "1 event was")
        #expect(UInt8(3).counting("event was", "events were") == "3 events were")
    }
}
