import Glibc
public import MynahCore
package import MynahSupport

/// A pcapng file or pipe to which a capture is written, on a separate thread.
///
/// Adding a packet never waits. If a pipe is not read, packets are dropped and counted. If the reader closes
/// the pipe, the capture ends. If writing fails, the capture ends with an error. Each write consists of
/// whole blocks, so a file can be read at any time.
public final class CaptureFile: Sendable {
    /// The handlers of warnings and errors, which are called on the capture's thread or in `end`.
    public struct Reports: Sendable {
        package var warn: @Sendable (RadioWarning) -> Void
        package var fail: @Sendable (RadioError) -> Void

        /// Makes the handlers of warnings, and of the error that ends the capture.
        public init(
            warn: @escaping @Sendable (RadioWarning) -> Void, fail: @escaping @Sendable (RadioError) -> Void
        ) {
            self.warn = warn
            self.fail = fail
        }
    }

    struct Interface: Sendable {
        fileprivate var number: UInt32
        /// The number of the section that contains the interface.
        fileprivate var section: Int
    }

    private struct State {
        var queue: CaptureQueue
        /// `true` while the thread sleeps until it is woken.
        var isIdle = false
        var isEnding = false
        /// `true` if the file accepts no further packets.
        var isOver = false
        /// The number of batches that were written.
        var written = 0
    }

    /// The code of the warning that the reader has closed the pipe.
    package static let endedCode = "captureEnded"

    private let name: String
    private let output: CaptureOutput
    private let reports: Reports
    private let state: Lock<State>
    private let time: Time

    /// The source of the times in a file; the times never decrease.
    struct Time: Sendable {
        /// The calendar time at which `now` was 0, in microseconds since 1970.
        var epoch: Int64
        /// Returns the time of a monotonic clock, in microseconds.
        var now: @Sendable () -> Int64

        /// The most bytes that may be queued.
        ///
        /// With virtual time, the packets of an hour may come within seconds.
        var limit = 8 << 20

        /// Makes times from a monotonic clock; the calendar time is read only once.
        init(now: @escaping @Sendable () -> Int64 = { EventLoop.now }) {
            self.now = now
            epoch = RunClock.real.wallMicroseconds - now()
        }

        /// Makes times from a run's clock.
        init(_ clock: RunClock) {
            self.init()
            guard clock.virtual != nil else { return }
            now = { clock.wallMicroseconds }
            epoch = 0
            limit = 256 << 20
        }
    }

    /// Creates the file at `path`, or truncates an existing one.
    ///
    /// Only its owner can read a new file, because a capture contains keys. Throws `captureFailed` if the
    /// file cannot be opened.
    public convenience init(
        path: String, application: String, reports: Reports
    ) throws(RadioError) {
        self.init(try CaptureOutput(path: path), named: path, application: application, reports)
    }

    /// Creates a file at `path`, with the times of a test's clock in microseconds.
    package convenience init(
        path: String, application: String, reports: Reports, now: @escaping @Sendable () -> Int64
    ) throws(RadioError) {
        self.init(
            try CaptureOutput(path: path), named: path, application: application, reports,
            time: Time(now: now))
    }

    /// Creates a file at `path`, whose packets have the times of a run's clock.
    package convenience init(
        path: String, application: String, reports: Reports, clock: RunClock
    ) throws(RadioError) {
        self.init(
            try CaptureOutput(path: path), named: path, application: application, reports, time: Time(clock))
    }

    /// Makes a capture that is written to a descriptor, which stays open; the times are those of a run's
    /// clock.
    ///
    /// Throws `captureFailed` if the process has no file descriptor left.
    package convenience init(
        descriptor: Int32, named name: String, application: String, reports: Reports, clock: RunClock = .real
    ) throws(RadioError) {
        self.init(
            try CaptureOutput(borrowing: descriptor), named: name, application: application, reports,
            time: Time(clock))
    }

    init(
        _ output: CaptureOutput, named name: String, application: String, _ reports: Reports,
        limit: Int? = nil, time: Time = Time()
    ) {
        self.time = time
        self.output = output
        self.name = name
        self.reports = reports
        var queue = CaptureQueue(limit: limit ?? time.limit)
        queue.startSection(application: application)
        state = Lock(State(queue: queue))
        if !SystemThread.attempt({ self.run() }) {
            finish()
            output.close()
            reports.fail(RadioError(.captureFailed, "\(name): no thread could be started to write it"))
        }
    }

    // MARK: - What is captured

    /// Returns a transport that also records the packets of `inner` in both directions.
    ///
    /// `name` is the name of the interface in the file.
    public func transport(_ inner: any HCITransport, named name: String) -> any HCITransport {
        TappedTransport(inner, tap: tap(named: name))
    }

    /// A function that records the packets that it is called with, on an interface with this name.
    package func tap(named name: String) -> TappedTransport.Tap {
        // LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR.
        let interface = addInterface(201, name)
        return { packet, isFromController in
            // The direction in four bytes, most significant first, followed by the packet as on a UART.
            self.add(
                [0, 0, 0, isFromController ? 1 : 0, packet.type.rawValue] + packet.body, to: interface)
        }
    }

    /// Records the PDUs on `air`: those of the stations in this process, and those from other processes.
    ///
    /// `name` is the name of the interface in the file.
    public func record(_ air: LiveAir, named name: String) {
        let interface = addInterface(LinkLayerPacket.linkType, name)
        let encoder = Lock(LinkLayerEncoder())
        air.capture { [weak self] frame in
            for packet in encoder.withLock({ $0.packets(of: frame) }) {
                self?.add(packet.bytes, to: interface)
            }
        }
    }

    /// Begins another section of the file.
    ///
    /// Packets of earlier interfaces are no longer recorded.
    package func beginSection(application: String) {
        change { $0.queue.startSection(application: application) }
    }

    func addInterface(_ linkType: UInt16, _ name: String) -> Interface {
        change { state in
            Interface(number: state.queue.addInterface(linkType, name), section: state.queue.section)
        } ?? Interface(number: 0, section: 0)
    }

    func add(_ data: [UInt8], to interface: Interface) {
        change { state in
            guard interface.section == state.queue.section else { return }
            state.queue.addPacket(
                interface.number, microseconds: UInt64(max(0, time.epoch + time.now())), data)
        }
    }

    @discardableResult private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result? {
        let (result, wasIdle): (Result?, Bool) = state.withLock { state in
            guard !state.isOver else { return (nil, false) }
            defer { state.isIdle = false }
            return (body(&state), state.isIdle)
        }
        if wasIdle { output.wake() }
        return result
    }

    // MARK: - Writing

    /// Writes the queued packets and closes the file; gives up if the reader does not read for a second.
    public func end() {
        change { $0.isEnding = true }
        // A write that is waiting for the reader then checks whether the capture must end.
        output.wake()
        var before = -1
        while !output.waitForEnd(milliseconds: 2000) {
            let written = state.withLock { $0.written }
            guard written != before else { return }
            before = written
        }
    }

    private func run() {
        SystemThread.blockSignals()
        defer { output.close() }
        while true {
            let (batch, missing, isEnding) = state.withLock { state in
                let batch = state.queue.removeBlocks(atMost: output.batchSize)
                state.isIdle = batch.bytes.isEmpty && !state.isEnding
                return (batch, state.queue.takeMissing(), state.isEnding)
            }
            if missing > 0 { warnMissing(missing) }
            let outcome: CaptureOutput.Outcome
            if !batch.bytes.isEmpty {
                outcome = output.write(batch.bytes) { self.state.withLock { $0.isEnding } }
            } else if isEnding {
                finish()
                return
            } else {
                outcome = output.sleep()
            }
            switch outcome {
            case .done: state.withLock { $0.written += 1 }
            case .unread: return warnMissing(finish() + batch.packets)
            case .closed:
                finish()
                return reports.warn(
                    RadioWarning(
                        Self.endedCode, "the capture has ended: the reader of \(name) has closed it"))
            case .failed(let reason):
                finish()
                return reports.fail(
                    RadioError(
                        .captureFailed, "the capture has ended: \(name) cannot be written: \(reason)"))
            }
        }
    }

    private func warnMissing(_ count: Int) {
        guard count > 0 else { return }
        reports.warn(
            RadioWarning(
                "packetsMissing",
                count.counting("packet is", "packets are")
                    + " missing from the capture, because \(name) was not read in time"))
    }

    /// Stops accepting packets, and returns the number of dropped packets.
    @discardableResult private func finish() -> Int {
        state.withLock { state in
            state.isOver = true
            return state.queue.end()
        }
    }
}
