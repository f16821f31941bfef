import MynahEmulator
import Testing

@testable import MynahRun

/// The order in which `connect` reports what comes over the air.
@Suite struct ReportOrderTests {
    private static func time(_ number: Int64) -> WallTime { WallTime(microseconds: number) }

    private static func words(_ reports: [ReportOrder.Report]) -> [String] {
        reports.map { report in
            guard case .mtu(let number) = report.report else { return "?" }
            return "\(number) at \(report.time.microseconds)"
        }
    }

    @Test func `events after an answer are reported after what the command reports`() {
        var order = ReportOrder()
        #expect(order.begin().isEmpty)
        #expect(Self.words(order.reports(.mtu(1), at: Self.time(1))) == ["1 at 1"])
        #expect(order.answered(at: Self.time(2)).isEmpty)
        #expect(order.reports(.mtu(3), at: Self.time(3)).isEmpty)
        #expect(Self.words(order.commandReports(.mtu(2), at: Self.time(9))) == ["2 at 2", "3 at 3"])
        #expect(Self.words(order.reports(.mtu(4), at: Self.time(10))) == ["4 at 10"])
    }

    @Test func `events between two answers are reported before the second`() {
        var order = ReportOrder()
        _ = (order.begin(), order.answered(at: Self.time(1)), order.reports(.mtu(1), at: Self.time(2)))
        #expect(Self.words(order.answered(at: Self.time(3))) == ["1 at 2"])
        #expect(order.reports(.mtu(2), at: Self.time(4)).isEmpty)
        // Another request is sent.
        #expect(Self.words(order.release()) == ["2 at 4"])
        #expect(Self.words(order.reports(.mtu(3), at: Self.time(5))) == ["3 at 5"])
    }

    @Test func `nothing waits for an answer that no command asked for`() {
        var order = ReportOrder()
        _ = order.answered(at: Self.time(1))
        #expect(Self.words(order.reports(.mtu(1), at: Self.time(2))) == ["1 at 2"])
        _ = (order.begin(), order.answered(at: Self.time(3)), order.reports(.mtu(2), at: Self.time(4)))
        #expect(Self.words(order.end()) == ["2 at 4"])
    }
}
