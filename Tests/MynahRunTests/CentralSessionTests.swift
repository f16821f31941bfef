import Mynah
import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Sessions in which the run is a phone: scan, connect and record, beside a run that plays a device.
@Suite(.timeLimit(.minutes(15))) struct CentralSessionTests {
    /// Lines as a pipe or a user would give them.
    private final class Lines: ConnectLines {
        private let rest: Lock<[String]>
        private let names = Lock<[String]>([])
        let continuesAfterFailure: Bool

        init(_ lines: [String], continuesAfterFailure: Bool = false) {
            rest = Lock(lines.reversed())
            self.continuesAfterFailure = continuesAfterFailure
        }

        /// The names of the devices that were connected.
        var begun: [String] { names.withLock { $0 } }

        func begin(_ device: String, services: @escaping @Sendable () -> [DiscoveredService]) {
            names.withLock { $0.append(device) }
        }

        func next() async throws(ConnectRequest.Problem) -> String? { rest.withLock { $0.popLast() } }

        func end() { rest.withLock { $0 = [] } }
    }

    /// Keeps what a session reports, a word for each report.
    private final class Reports: ConnectObserver {
        private let words = Lock<[String]>([])
        let messages = Lock<[String]>([])

        var all: [String] { words.withLock { $0 } }

        func observe(_ report: ConnectReport, at time: WallTime) {
            let word: String? =
                switch report {
                case .connected: "connected"
                case .services(let services): "services \(services.count)"
                case .read(_, let value): "read \(Hex.encode(value))"
                case .written(_, let value, _): "written \(Hex.encode(value))"
                case .subscription(let isOn, _): isOn ? "subscribed" : "unsubscribed"
                case .sent(_, _, let value): "sent \(Hex.encode(value))"
                case .failed(.refused(let error), _): "refused \(error.code)"
                case .failed(.failed, _): "failed"
                case .problem(let message): message
                default: nil
                }
            if let word { words.withLock { $0.append(word) } }
        }

        func warn(_ warning: RadioWarning) {}

        func say(_ text: String) { messages.withLock { $0.append(text) } }
    }

    private static func radios(on air: LiveAir, clock: RunClock = .real) -> RadioMaker {
        var options = RadioMaker.Options(choice: .virtual) { _ in }
        options.air = air
        options.time = RunTime(clock)
        return RadioMaker(options)
    }

    private static func begun(_ text: String = RunRig.lock) async throws -> (RunRig, address: String) {
        let rig = RunRig(try RunRig.plan([text]))
        try await rig.begun()
        return (rig, try #require(rig.log.address(of: "Lock")))
    }

    // MARK: Connect

    private static func session(
        _ lines: Lines, _ reports: Reports, device: String, on air: LiveAir, clock: RunClock = .real,
        _ interruption: Interruption = Interruption()
    ) -> ConnectSession {
        ConnectSession(
            ConnectPlan(device: device, timeout: .seconds(10)), radios: radios(on: air, clock: clock),
            lines: lines, questions: nil, observer: reports, clock: clock, until: interruption)
    }

    @Test func `the commands are carried out in order, and the session ends with the last`() async throws {
        let (rig, address) = try await Self.begun()
        let (reports, lines) = (
            Reports(), Lines(["read 2A38", "# a comment", "write 2A39 07", "quit", "read 2A38"])
        )
        let end = await Self.session(lines, reports, device: address, on: rig.air).play()
        #expect(end.failure == nil && !end.isFailed)
        #expect(reports.all == ["connected", "services 3", "read 01", "written 07"])
        #expect(lines.begun.count == 1)
        #expect(reports.messages.withLock { $0.first }?.hasPrefix("looking for \"\(address)\"") == true)
        #expect(rig.log.names.contains(.write))
        await rig.end()
    }

    @Test(arguments: [(false, ["write 2A38 01"]), (true, ["write 2A38 01", "read 2A38"])])
    func `a command that fails ends the session, unless its user sees that`(
        continues: Bool, lines: [String]
    ) async throws {
        let (rig, address) = try await Self.begun()
        let reports = Reports()
        let input = Lines(["write 2A38 01", "read 2A38"], continuesAfterFailure: continues)
        let end = await Self.session(input, reports, device: address, on: rig.air).play()
        #expect(end.isFailed == !continues && end.failure == nil)
        #expect(
            Array(reports.all.dropFirst(2)) == ["refused 3"] + (continues ? ["read 01"] : []),
            "\(reports.all)")
        await rig.end()
    }

    @Test func `a device that is not there is looked for until the time is up`() async throws {
        let (time, reports) = (RunTime(.fast, seed: 1), Reports())
        defer { time.end() }
        var options = RadioMaker.Options(choice: .virtual) { _ in }
        options.time = time
        let session = ConnectSession(
            ConnectPlan(device: "Nobody", timeout: .seconds(10)), radios: RadioMaker(options),
            lines: Lines(["read 2A38"]), questions: nil, observer: reports, clock: time.clock,
            until: Interruption())
        let end = await withTaskExecutorPreference(time.clock.taskExecutor) { await session.play() }
        #expect(end.failure?.description.contains("Nobody") == true, "\(String(describing: end.failure))")
        #expect(reports.all == [])
    }

    @Test func `an interruption ends the search, and is no failure`() async throws {
        let (interruption, reports) = (Interruption(), Reports())
        let session = Self.session(
            Lines([]), reports, device: "Nobody", on: LiveAir(seed: 1), interruption)
        async let end = session.play()
        try await until("the search is announced") { reports.messages.withLock { !$0.isEmpty } }
        interruption.interrupt(by: .quit)
        let ended = await end
        #expect(ended.failure == nil && !ended.isFailed)
    }

    @Test func `a device that answers nothing is given the time of the plan, and no longer`() async throws {
        let silent = RunRig.lock + "\nfaults:\n  - {name: silent, on: discover, do: noAnswer}\n"
        let (rig, address) = try await Self.begun(silent)
        let (clock, reports) = (ManualClock(), Reports())
        let session = Self.session(
            Lines(["read 2A38"]), reports, device: address, on: rig.air, clock: RunClock(clock))
        let result = Lock<ConnectSession.End?>(nil)
        let playing = Task { await result.set(session.play()) }
        try await rig.log.wait(for: .faultApplied)
        // Less than an ATT transaction has.
        clock.advance(by: .seconds(10))
        try await until("the session is over") { result.withLock { $0 != nil } }
        await playing.value
        #expect(result.withLock { $0 }?.isFailed == true)
        #expect(reports.all == ["connected", "failed"])
        await rig.end()
    }

    // MARK: Scan

    /// Keeps the addresses that were heard.
    private final class Heard: CentralManagerSink {
        let addresses = Mailbox<String>("devices that are heard")

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            if case .discovered(let discovery) = event {
                addresses.put(discovery.peripheral.address.description)
            }
            return .none
        }
    }

    @Test func `a scan hears a device, and ends when its time is up`() async throws {
        let (rig, address) = try await Self.begun()
        let (clock, heard) = (ManualClock(), Heard())
        var plan = ScanPlan()
        plan.services = ["180D"]
        plan.timeout = .seconds(60)
        let session = try ScanSession(
            plan, radios: Self.radios(on: rig.air, clock: RunClock(clock)), clock: RunClock(clock),
            until: Interruption())
        let playing = Task { await session.play(heard) }
        #expect(try await heard.addresses.take() == [address])
        // The device may be heard before the scan's own time begins.
        try await until("the time of the scan runs") { clock.pauses.contains(.seconds(60)) }
        clock.advance(by: .seconds(60) - .nanoseconds(1))
        try await until("the time of the scan has not run out") { clock.pauses.contains(.nanoseconds(1)) }
        clock.advance(by: .nanoseconds(1))
        let end = await playing.value
        #expect(end.failure == nil && end.hasListened)
        await rig.end()
    }

    // MARK: Record

    @Test func `a recording asks for everything, and then listens until it is interrupted`() async throws {
        let fast = RunRig.lock.replacing(
            "{serviceUUIDs: [180D]}", with: "{interval: 20 ms, serviceUUIDs: [180D]}")
        let (rig, address) = try await Self.begun(fast)
        let (interruption, reports) = (Interruption(), Reports())
        let session = RecordSession(
            RecordPlan(device: address, timeout: nil, passkey: nil), radios: Self.radios(on: rig.air),
            questions: nil, observer: reports, until: interruption)
        async let end = session.play()
        try await until("it listens") {
            reports.messages.withLock { $0.last } == "recording the values that it sends until Ctrl-C"
        }
        interruption.interrupt(by: .quit)
        let ended = await end
        #expect(ended.failure == nil)
        #expect(ended.device?.address.description == address)
        #expect(ended.device?.progress == .listening)
        let messages = reports.messages.withLock { $0 }
        #expect(messages.contains { $0.hasPrefix("reading ") }, "\(messages)")
        await rig.end()
    }
}

extension Lock {
    fileprivate func set<Wrapped: Sendable>(_ value: Wrapped) where Value == Wrapped? {
        withLock { $0 = value }
    }
}
