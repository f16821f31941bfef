import Mynah
package import MynahCore
import MynahEmulator
import MynahHost
import MynahLifecycle
package import MynahSupport

/// The device to record, and the options of the session.
package struct RecordPlan: Sendable {
    /// The device's address or name, or a prefix of either.
    package var device: String
    /// The time for which to record the values that the device sends, or `nil` to record until the session is
    /// interrupted.
    package var timeout: Duration?
    /// The passkey that the device displays during pairing, or `nil` to ask the user.
    package var passkey: UInt32?

    /// Makes a plan for a device.
    package init(device: String, timeout: Duration?, passkey: UInt32?) {
        self.device = device
        self.timeout = timeout
        self.passkey = passkey
    }
}

/// A session of `mynah record`: finds a device and reads everything that a profile needs.
///
/// The values are not stored here: the HCI packets of the transport are captured, and the profile is made
/// from the capture.
package struct RecordSession: Sendable {
    /// The result of the session.
    package struct End: Sendable {
        /// The error that ended the session, or `nil` if no error did.
        package var failure: RadioError?
        /// The device and the progress of its recording, or `nil` if the device was not found.
        package var device: (address: DeviceAddress, progress: DeviceRecorder.Progress)?
    }

    /// The number of advertising reports to collect for calculating the advertising interval.
    private static let reports = 40

    let plan: RecordPlan
    let radios: RadioMaker
    let questions: (any QuestionAsker)?
    let observer: any ConnectObserver
    let clock: RunClock
    let interruption: Interruption

    /// Makes a session for a plan; `questions` asks the user during pairing.
    package init(
        _ plan: RecordPlan, radios: RadioMaker, questions: (any QuestionAsker)?,
        observer: any ConnectObserver, clock: RunClock = .real, until interruption: Interruption
    ) {
        self.plan = plan
        self.radios = radios
        self.questions = questions
        self.observer = observer
        self.clock = clock
        self.interruption = interruption
    }

    /// Finds the device, makes all requests to it, and records the values that it sends.
    package func play() async -> End {
        let sink = ConnectSink(questions: questions, passkey: plan.passkey, clock: clock)
        let found = Lock<DeviceRecorder?>(nil)
        var failure: RadioError?
        do throws(RadioError) {
            let radio = try radios.host()
            observer.say("looking for \"\(PrintableText.of(plan.device))\" (\(radio.name))")
            var options = CentralManager.Options()
            options.pairsWhenAsked = false
            let manager = CentralManager(
                radio: radio, identity: .phone(asks: questions != nil, plan.passkey), options: options,
                sink: sink)
            failure = await RadioWork.play(
                until: interruption, clock: clock, stop: { await manager.stop() }
            ) { () throws(RadioError) in
                try await manager.start()
                let finder = DeviceFinder(
                    search: DeviceSearch(plan.device), timeout: DeviceFinder.patience, clock: clock,
                    reports: Self.reports,
                    hint: { [radios] in radios.hintsAboutPrivateRuns.first })
                guard let peripheral = try await finder.find(manager, { sink.onDiscovery($0) }) else {
                    return
                }
                let reader = DeviceRecorder(manager: manager, peripheral: peripheral) { observer.say($0) }
                found.withLock { $0 = reader }
                try await record(reader, sink)
                interruption.interrupt()
            }
        } catch {
            failure = error
        }
        radios.end()
        return End(
            failure: failure,
            device: found.withLock { $0 }.map { ($0.peripheral.address, $0.progress) })
    }

    /// Makes all requests, and records until the time limit or the end of the link.
    private func record(_ reader: DeviceRecorder, _ sink: ConnectSink) async throws(RadioError) {
        let (ends, continuation) = AsyncStream<Never>.makeStream()
        sink.onEvent { [observer, clock] event in
            switch event {
            case .disconnected: continuation.finish()
            case .lost(let error):
                observer.say("error: \(error)")
                continuation.finish()
            case .warning(let warning): observer.warn(warning)
            case .pairing(_, .display(let number)):
                observer.observe(.passkey(.display, number), at: .now(clock))
            case .pairing(_, .compare(let number)):
                observer.observe(.passkey(.compare, number), at: .now(clock))
            default: break
            }
        }
        defer { sink.onEvent(nil) }
        do throws(RequestError) {
            try await reader.ask()
        } catch {
            throw error.asRadioError
        }
        guard !Task.isCancelled, await reader.peripheral.isConnected else { return await warnOfEnd(reader) }
        let length = plan.timeout.map { "for \($0.text)" } ?? "until Ctrl-C"
        observer.say("recording the values that it sends \(length)")
        let overdue = plan.timeout.map { clock.timer($0) { continuation.finish() } }
        defer { overdue?.cancel() }
        for await _ in ends {}
        await warnOfEnd(reader)
    }

    private func warnOfEnd(_ reader: DeviceRecorder) async {
        if !Task.isCancelled, await !reader.peripheral.isConnected {
            observer.say("warning: the device has ended the connection")
        }
    }
}

extension RequestError {
    /// The error as a `RadioError`, for the end of a session.
    fileprivate var asRadioError: RadioError {
        switch self {
        case .failed(let error): error
        case .refused: RadioError(.protocolViolation, description)
        }
    }
}
