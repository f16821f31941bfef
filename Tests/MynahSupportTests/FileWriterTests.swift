import Dispatch
import MynahTestSupport
import Testing

@testable import MynahSupport

/// A disk that writes when it is let.
final class SlowDisk: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let begun = DispatchSemaphore(value: 0)
    private let log = Lock<[String]>([])
    private let problem = Lock<String?>(nil)

    func writer() -> FileWriter {
        FileWriter { file, bytes throws(KeptFile.Problem) in
            self.begun.signal()
            self.gate.wait()
            let problem = self.problem.withLock { $0 }
            self.log.withLock {
                $0.append("\(file.path) \(bytes.map { String(decoding: $0, as: UTF8.self) } ?? "removed")")
            }
            if let problem { throw KeptFile.Problem(description: problem) }
        }
    }

    /// Lets so many writes go on.
    func write(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }
    /// Returns when another write has begun.
    func waitForBegin() { begun.wait() }
    func fail(_ problem: String?) { self.problem.withLock { $0 = problem } }
    var written: [String] { log.withLock { $0 } }
}

extension FileWriter {
    func replace(
        _ path: String, _ text: String, failed: @escaping @Sendable (KeptFile.Problem) -> Void = { _ in }
    ) {
        replace(KeptFile(path: path), with: { Array(text.utf8) }, failed: failed)
    }
}

@Suite(.timeLimit(.minutes(15))) struct FileWriterTests {
    let disk = SlowDisk()

    @Test func `a file that changes while another is written is written once, as it was last`() async {
        let writer = disk.writer()
        writer.replace("a", "1")
        disk.waitForBegin()
        // Nobody waits for the disk.
        for text in ["2", "3"] { writer.replace("a", text) }
        writer.replace("b", "4")
        writer.remove(KeptFile(path: "c"))
        writer.replace("a", "5")
        #expect(writer.latest == 6 && !writer.isSettled(1))
        disk.write(4)
        await writer.settle()
        #expect(disk.written == ["a 1", "a 5", "b 4", "c removed"])
        #expect(writer.isSettled(6) && !writer.whenSettled(6) { Issue.record("it was settled already") })
    }

    @Test func `a change that failed is tried again with the next, and its reason said once`() async {
        let writer = disk.writer()
        let said = Lock<[String]>([])
        let failed: @Sendable (KeptFile.Problem) -> Void = { problem in
            said.withLock { $0.append(problem.description) }
        }
        disk.write(100)
        disk.fail("the disk is full")
        for text in ["1", "2"] {
            writer.replace("a", text, failed: failed)
            await writer.settle()
        }
        disk.fail(nil)
        writer.replace("b", "3", failed: failed)
        await writer.settle()
        #expect(disk.written == ["a 1", "a 2", "a 2", "b 3"])
        disk.fail("the disk is full")
        writer.replace("a", "4", failed: failed)
        await writer.settle()
        #expect(said.withLock { $0 } == ["the disk is full", "the disk is full"])
    }

    @Test func `contents that could not be written are written later, without another change`() async {
        let writer = disk.writer()
        disk.write(100)
        writer.retry()
        disk.fail("the disk is full")
        writer.replace("a", "1")
        writer.replace("b", "2")
        await writer.settle()
        // "a" is tried a second time if it had failed before "b" changed.
        let tried = disk.written
        #expect(tried == ["a 1", "b 2"] || tried == ["a 1", "a 1", "b 2"])
        disk.fail(nil)
        writer.retry()
        writer.replace("b", "3")
        await writer.settle()
        #expect(Set(disk.written.dropFirst(tried.count)).isSuperset(of: ["a 1", "b 3"]))
        #expect(disk.written.last == "b 3")
        writer.retry()
        await writer.settle()
        #expect(disk.written.last == "b 3")
    }

    @Test func `settle returns after what else waits for the same change`() async {
        let writer = disk.writer()
        let order = Lock<[String]>([])
        writer.replace("a", "1")
        disk.waitForBegin()
        #expect(writer.whenSettled(1, isLast: true) { order.withLock { $0.append("last") } })
        #expect(writer.whenSettled(1) { order.withLock { $0.append("first") } })
        disk.write()
        await writer.settle()
        #expect(order.withLock { $0 } == ["first", "last"])
    }

    @Test func `real files are in place when their change is settled`() async throws {
        let temporary = try TemporaryDirectory()
        let writer = FileWriter()
        for number in 1...50 { writer.replace(temporary.path + "/kept", "\(number)") }
        await writer.settle()
        #expect(try temporary.read("kept") == "50")
        #expect(temporary.files == ["kept"])
        writer.remove(KeptFile(path: temporary.path + "/kept"))
        await writer.settle()
        #expect(temporary.files == [])
    }

    @Test func `a writer is settled after what waited for its changes has ended`() async throws {
        let writer = disk.writer()
        let (hasBegun, hasEnded) = (Lock(false), Lock(false))
        writer.replace("a", "1")
        disk.waitForBegin()
        let isWaiting = writer.whenSettled(1) {
            hasBegun.withLock { $0 = true }
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(50))
            hasEnded.withLock { $0 = true }
        }
        #expect(isWaiting)
        disk.write()
        try await until("it is called") { hasBegun.withLock { $0 } }
        await writer.settle()
        #expect(hasEnded.withLock { $0 })
    }
}

@Suite(.timeLimit(.minutes(15))) struct HeldReportsTests {
    let disk = SlowDisk()
    let passed = Lock<[String]>([])
    let timers = Lock<[@Sendable () -> Void]>([])

    func reports(for writer: FileWriter) -> HeldReports<String> {
        let (passed, timers) = (passed, timers)
        return HeldReports(for: writer) { report in
            passed.withLock { $0.append(report) }
        } late: {
            "late"
        } later: { body in
            timers.withLock { $0.append(body) }
        }
    }

    /// Lets the last timer end.
    func fire() {
        let timer = timers.withLock { $0.last }
        timer?()
    }

    @Test func `a report waits for the changes before it, and those after it do not overtake`() async {
        let writer = disk.writer()
        let reports = reports(for: writer)
        reports.report("nothing changed")
        #expect(passed.withLock { $0 } == ["nothing changed"])
        writer.replace("a", "1")
        reports.report("paired")
        disk.waitForBegin()
        reports.report("read")
        writer.replace("a", "2")
        reports.report("subscribed")
        reports.report("read again")
        #expect(passed.withLock { $0.count } == 1)
        disk.write()
        // The second change is under way: what waited for the first alone was passed on.
        disk.waitForBegin()
        #expect(passed.withLock { $0 } == ["nothing changed", "paired", "read"])
        disk.write()
        await writer.settle()
        #expect(passed.withLock { Array($0.dropFirst(3)) } == ["subscribed", "read again"])
        reports.report("at once")
        #expect(passed.withLock { $0.last } == "at once")
    }

    @Test func `a report whose file cannot be written is passed on`() async {
        let writer = disk.writer()
        let reports = reports(for: writer)
        disk.fail("the disk is full")
        writer.replace("a", "1") { [reports] _ in reports.report("a warning") }
        reports.report("paired")
        disk.write()
        await writer.settle()
        #expect(passed.withLock { $0 } == ["paired", "a warning"])
    }

    @Test func `a disk that takes too long is said once, and holds nothing until it has caught up`()
        async throws
    {
        let writer = disk.writer()
        let reports = reports(for: writer)
        writer.replace("a", "1")
        disk.waitForBegin()
        reports.report("paired")
        reports.report("read")
        fire()
        #expect(passed.withLock { $0 } == ["late", "paired", "read"])
        writer.replace("a", "2")
        reports.report("subscribed")
        #expect(passed.withLock { $0.last } == "subscribed")
        disk.write(2)
        await writer.settle()
        #expect(passed.withLock { $0.count } == 4 && timers.withLock { $0.count } == 1)
        // It has caught up: reports wait again.
        writer.replace("a", "3")
        reports.report("held")
        #expect(passed.withLock { $0.last } == "subscribed")
        disk.write()
        await writer.settle()
        #expect(passed.withLock { $0.last } == "held")
    }

    @Test func `a timer whose change is settled waits for the next, or ends`() async {
        let writer = disk.writer()
        let reports = reports(for: writer)
        writer.replace("a", "1")
        reports.report("first")
        disk.waitForBegin()
        writer.replace("a", "2")
        reports.report("second")
        disk.write()
        disk.waitForBegin()
        fire()
        #expect(passed.withLock { $0 } == ["first"] && timers.withLock { $0.count } == 2)
        disk.write()
        await writer.settle()
        fire()
        #expect(passed.withLock { $0 } == ["first", "second"] && timers.withLock { $0.count } == 2)
    }

    @Test func `a timer that ends while reports are passed on is set again for those that wait`() async {
        let writer = disk.writer()
        let (passed, timers) = (passed, timers)
        let reports = HeldReports<String>(for: writer) { report in
            passed.withLock { $0.append(report) }
            // The first timer ends now.
            if report == "first" { timers.withLock { $0.first }?() }
        } late: {
            "late"
        } later: { body in
            timers.withLock { $0.append(body) }
        }
        writer.replace("a", "1")
        reports.report("first")
        disk.waitForBegin()
        writer.replace("a", "2")
        reports.report("second")
        disk.write()
        disk.waitForBegin()
        #expect(passed.withLock { $0 } == ["first"] && timers.withLock { $0.count } == 2)
        fire()
        #expect(passed.withLock { $0 } == ["first", "late", "second"])
        disk.write()
        await writer.settle()
    }

    @Test func `reports keep their order, and none comes before its change, however fast both are`() async {
        let settled = Lock<[String: Int]>([:])
        let writer = FileWriter { file, bytes throws(KeptFile.Problem) in
            settled.withLock { $0[file.path] = Int(String(decoding: bytes ?? [], as: UTF8.self)) }
        }
        let (early, order) = (Lock(0), Lock<[Int]>([]))
        let reports = HeldReports<Int>(for: writer) { number in
            if settled.withLock({ $0["a"] ?? 0 }) < number { early.withLock { $0 += 1 } }
            order.withLock { $0.append(number) }
        } late: {
            nil
        } later: { _ in
        }
        for number in 1...5000 {
            if number % 3 != 0 { writer.replace("a", "\(number)") }
            if number % 2 == 0 { reports.report(number - (number % 3 == 0 ? 1 : 0)) }
        }
        await writer.settle()
        #expect(early.withLock { $0 } == 0)
        #expect(
            order.withLock { $0 } == order.withLock { $0 }.sorted() && order.withLock { $0.count } == 2500)
    }
}
