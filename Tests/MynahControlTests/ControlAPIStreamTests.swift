import MynahEmulator
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl

/// A run without devices.
struct NoDevices: ControlledRun {
    let radios: [String] = []
    let devices: [ControlledDevice] = []
    let requestNumbers: RequestNumbers? = nil
    let phones: [any ControlledPhone] = []

    func addPhone(_ settings: PhoneSettings) async throws(ControlProblem) -> any ControlledPhone {
        throw ControlProblem(409, "this run has no phones")
    }

    func removePhone(_ phone: any ControlledPhone) async {}

    func add(_ profile: ProfileSource, seed: UInt64?) async throws(ControlProblem) -> String {
        throw ControlProblem(409, "this run has no devices")
    }

    func remove(_ device: ControlledDevice) async throws(ControlProblem) {}

    func beginAnew(seed: UInt64?) async throws(ControlProblem) {}

    func clockMoved() {}

    func awaitEvents() async {}
}

/// Streams of events of a run without devices.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIStreamTests {
    @Test func `a stream without events gets a comment every 15 s, and after a mark or a reset`() async throws
    {
        let journal = Journal(epoch: "e")
        let clock = ManualClock()
        let api = ControlAPI(NoDevices(), journal, version: "1", clock: RunClock(clock))
        let response = await api.answer(HTTPRequest(method: "GET", path: ["v1", "events"]))
        guard case .stream(let body) = response.body else {
            Issue.record("the response is not a stream")
            return
        }
        let written = Mailbox<String>("pieces of the stream")
        let task = Task {
            await body(
                HTTPStreamWriter { bytes in
                    written.put(String(decoding: bytes, as: UTF8.self))
                    return true
                })
        }
        #expect(try await written.take() == [":\n\n"])
        for _ in 0..<2 {
            try await until("the stream waits") { journal.waiterCount == 1 && clock.sleeperCount == 1 }
            clock.advance(by: .seconds(15))
            #expect(try await written.take() == [":\n\n"])
        }
        for change in [{ _ = journal.mark("a") }, { journal.clear() }] {
            try await until("the stream waits again") { journal.waiterCount == 1 }
            change()
            #expect(try await written.take() == [": changed\n\n"])
        }
        try await until("the stream waits again") { journal.waiterCount == 1 }
        journal.append(Events.numbered(1))
        #expect(try await written.take().first?.hasPrefix("id: e-1\n") == true)
        journal.end()
        await task.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a comment that cannot be written ends a stream`() async throws {
        let journal = Journal()
        let clock = ManualClock()
        let api = ControlAPI(NoDevices(), journal, version: "1", clock: RunClock(clock))
        let response = await api.answer(HTTPRequest(method: "GET", path: ["v1", "events"]))
        guard case .stream(let body) = response.body else {
            Issue.record("the response is not a stream")
            return
        }
        let count = Lock(0)
        let task = Task {
            await body(
                HTTPStreamWriter { _ in
                    count.withLock { count in
                        count += 1
                        return count == 1
                    }
                })
        }
        try await until("the stream waits") { journal.waiterCount == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(15))
        await task.value
        #expect(count.withLock { $0 } == 2)
        #expect(journal.waiterCount == 0)
    }
}
