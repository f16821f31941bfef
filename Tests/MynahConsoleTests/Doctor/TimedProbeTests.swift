import Glibc
import MynahConsole
import MynahTestSupport
import Testing

/// Probes that may block.
@Suite(.timeLimit(.minutes(15))) struct TimedProbeTests {
    @Test func `a probe that ends has its result`() async {
        #expect(await TimedProbe.value(limit: .seconds(500)) { 7 } == 7)
        #expect(await TimedProbe.fact(limit: .seconds(500)) { Fact.found("x") } == .found("x"))
    }

    @Test func `a probe that blocks is given up`() async throws {
        var made: [Int32] = [-1, -1]
        let isMade = makePipe(&made) == 0
        try #require(isMade)
        let ends = made
        let found = await TimedProbe.fact(limit: .milliseconds(20)) {
            var byte: UInt8 = 0
            // Until the test closes the other end.
            return Fact.found(read(ends[0], &byte, 1))
        }
        #expect(found.reason == "it took longer than 20 ms to find out")
        close(ends[1])
    }
}
