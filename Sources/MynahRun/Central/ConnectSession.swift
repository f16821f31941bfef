package import Mynah
package import MynahCore
import MynahHost
package import MynahSupport

/// The device that a phone connects to, and the way it does.
package struct ConnectPlan: Sendable {
    /// The device's address or name, or a prefix of either.
    package var device: String
    /// Time limit for finding the device, for connecting, and for each answer until its services are known;
    /// `nil` for no limit to connecting, and for 30 s for an answer.
    package var timeout: Duration?
    /// The types of the primary services to discover; empty for everything.
    package var services: [BluetoothUUID] = []
    /// Whether they are reported once they are discovered.
    package var reportsServices = true
    /// The passkey that the device displays during pairing; `nil` if the user is asked for it.
    package var passkey: UInt32?

    /// A device, with everything that it has.
    package init(device: String, timeout: Duration?) {
        self.device = device
        self.timeout = timeout
    }
}

/// The commands of a user, one after the other.
package protocol ConnectLines: Sendable {
    /// Whether a command that fails leaves the device connected, for others.
    var continuesAfterFailure: Bool { get }

    /// The device of this name is connected; `services` returns those that are discovered.
    func begin(_ device: String, services: @escaping @Sendable () -> [DiscoveredService])

    /// The next line; `nil` at the end.
    func next() async throws(ConnectRequest.Problem) -> String?

    /// No more lines are wanted.
    func end()
}

/// A phone that connects to a device and carries out commands, from the search until it is interrupted.
package struct ConnectSession: Sendable {
    /// The end of the session.
    package struct End: Sendable {
        /// The error that ended it, or `nil`.
        package var failure: RadioError?
        /// Whether a command failed and ended it.
        package var isFailed: Bool
    }

    let plan: ConnectPlan
    let radios: RadioMaker
    let lines: any ConnectLines
    let questions: (any QuestionAsker)?
    let observer: any ConnectObserver
    let clock: RunClock
    let interruption: Interruption

    /// A session as it is planned; `questions` asks the user those of a pairing.
    package init(
        _ plan: ConnectPlan, radios: RadioMaker, lines: any ConnectLines, questions: (any QuestionAsker)?,
        observer: any ConnectObserver, clock: RunClock = .real, until interruption: Interruption
    ) {
        self.plan = plan
        self.radios = radios
        self.lines = lines
        self.questions = questions
        self.observer = observer
        self.clock = clock
        self.interruption = interruption
    }

    /// Looks for the device, connects and carries out the lines.
    package func play() async -> End {
        let sink = ConnectSink(questions: questions, passkey: plan.passkey, clock: clock)
        sink.tells(observer)
        let isFailed = Lock(false)
        var failure: RadioError?
        do throws(RadioError) {
            let radio = try radios.host()
            // Before the radio starts, because it may take a while until a device is heard.
            observer.say(
                "looking for \"\(PrintableText.of(plan.device))\" for up to \(patience.text) (\(radio.name))")
            let manager = CentralManager(
                radio: radio, identity: .phone(asks: questions != nil, plan.passkey), sink: sink)
            failure = await RadioWork.play(
                until: interruption, clock: clock,
                interrupted: {
                    sink.tells(nil)
                    lines.end()
                }, stop: { await manager.stop() },
                { () throws(RadioError) in
                    try await manager.start()
                    guard let device = try await find(manager, radio, sink) else { return }
                    let isGood = await talk(with: device)
                    await device.settle()
                    isFailed.withLock { $0 = !isGood && !interruption.isInterrupted }
                    interruption.interrupt()
                })
        } catch {
            failure = error
        }
        radios.end()
        return End(failure: failure, isFailed: isFailed.withLock { $0 })
    }

    private var patience: Duration { plan.timeout ?? DeviceFinder.patience }

    private func find(
        _ manager: CentralManager, _ radio: HostRadio, _ sink: ConnectSink
    ) async throws(RadioError) -> ConnectedDevice? {
        let finder = DeviceFinder(
            device: plan.device, timeout: patience, clock: clock,
            hint: { [radios] in radios.hintsAboutPrivateRuns.first })
        guard let peripheral = try await finder.find(manager, { sink.onDiscovery($0) }) else { return nil }
        return ConnectedDevice(
            manager: manager, radio: radio, peripheral: peripheral, sink: sink, plan: plan, clock: clock,
            entersPasskey: questions != nil || plan.passkey != nil, interruption: interruption)
    }

    /// Connects and carries out the lines; `false` if a failure ended it.
    private func talk(with device: ConnectedDevice) async -> Bool {
        do throws(RequestError) {
            try await device.open()
        } catch {
            if !device.isEnding { device.tell(.failed(error)) }
            return false
        }
        let name = await device.peripheral.name ?? device.peripheral.address.description
        lines.begin(name) { [sink = device.sink] in sink.services }
        do throws(ConnectRequest.Problem) {
            while let line = try await lines.next(), !device.isEnding {
                switch await device.perform(line) {
                case .done: continue
                case .failed:
                    guard lines.continuesAfterFailure else { return false }
                    questions?.withdrawQuestion()
                case .quit: return true
                }
            }
            return true
        } catch {
            device.tell(.problem(error.message))
            return false
        }
    }
}

extension DeviceIdentity {
    /// The identity of a phone, whose user sees numbers and types them if it asks.
    static func phone(asks: Bool, _ passkey: UInt32?) -> DeviceIdentity {
        DeviceIdentity(
            name: "Mynah",
            ioCapability: asks ? .keyboardDisplay : passkey != nil ? .keyboardOnly : .noInputNoOutput)
    }
}
