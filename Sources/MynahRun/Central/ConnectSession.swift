package import Mynah
package import MynahCore
import MynahEmulator
import MynahHost
package import MynahSupport

/// The device to connect to, and the options of the session.
package struct ConnectPlan: Sendable {
    /// The device's address or name, or a prefix of either.
    package var device: String
    /// The time limit for finding the device, for connecting, and for each answer until the services are
    /// discovered.
    ///
    /// With `nil`, finding the device is limited to 10 s and each answer to 30 s, and connecting has no
    /// limit.
    package var timeout: Duration?
    /// The types of the primary services to discover; empty for all services.
    package var services: [BluetoothUUID] = []
    /// Whether the services are reported after their discovery.
    package var reportsServices = true
    /// The passkey that the device displays during pairing, or `nil` to ask the user.
    package var passkey: UInt32?

    /// Makes a plan for a device, whose services are all discovered.
    package init(device: String, timeout: Duration?) {
        self.device = device
        self.timeout = timeout
    }
}

/// The commands of a user, which are carried out one after the other.
package protocol ConnectLines: Sendable {
    /// Whether the session continues after a failed command.
    var continuesAfterFailure: Bool { get }

    /// Called when the device with this name is connected; `services` returns the services discovered so far.
    func begin(_ device: String, services: @escaping @Sendable () -> [DiscoveredService])

    /// The next line, or `nil` at the end of the input.
    func next() async throws(ConnectRequest.Problem) -> String?

    /// Called when no more lines are needed.
    func end()
}

/// A session of `mynah connect`: finds a device, connects to it, and carries out commands until it is
/// interrupted.
package struct ConnectSession: Sendable {
    /// The result of the session.
    package struct End: Sendable {
        /// The error that ended the session, or `nil` if no error did.
        package var failure: RadioError?
        /// Whether the session ended because a command failed.
        package var isFailed: Bool
    }

    let plan: ConnectPlan
    let radios: RadioMaker
    let lines: any ConnectLines
    let questions: (any QuestionAsker)?
    let observer: any ConnectObserver
    let clock: RunClock
    let interruption: Interruption

    /// Makes a session for a plan; `questions` asks the user during pairing.
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

    /// Finds the device, connects to it and carries out the lines.
    package func play() async -> End {
        let sink = ConnectSink(questions: questions, passkey: plan.passkey, clock: clock)
        sink.tells(observer)
        let isFailed = Lock(false)
        var failure: RadioError?
        do throws(RadioError) {
            let radio = try radios.host()
            // The message comes before the radio starts, because it may take a while until a device is
            // received.
            observer.say(
                "looking for \"\(PrintableText.of(plan.device))\" for up to \(patience.text) (\(radio.name))")
            let phone = CentralPhone(
                radio, as: .phone(asks: questions != nil, plan.passkey), sink, clock: clock,
                options: .init(
                    entersPasskey: questions != nil || plan.passkey != nil,
                    isEnding: { [interruption] in interruption.isInterrupted }))
            failure = await RadioWork.play(
                until: interruption, clock: clock,
                interrupted: {
                    sink.tells(nil)
                    lines.end()
                }, stop: { await phone.stop() },
                { () throws(RadioError) in
                    try await phone.start()
                    guard let device = try await find(phone) else { return }
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

    private func find(_ phone: CentralPhone) async throws(RadioError) -> ConnectedDevice? {
        let peripheral = try await phone.find(
            DeviceSearch(plan.device), timeout: patience,
            hint: { [radios] in radios.hintsAboutPrivateRuns.first })
        return peripheral.map {
            ConnectedDevice($0, of: phone, plan: plan, interruption: interruption)
        }
    }

    /// Connects to the device and carries out the lines; returns `false` if connecting or a command failed.
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
    /// The identity of a phone in the central role.
    ///
    /// With `asks`, the user can compare and enter passkeys. Otherwise, the phone can only enter `passkey`,
    /// or has neither input nor output if that is `nil`.
    static func phone(asks: Bool, _ passkey: UInt32?) -> DeviceIdentity {
        DeviceIdentity(
            name: "Mynah",
            ioCapability: asks ? .keyboardDisplay : passkey != nil ? .keyboardOnly : .noInputNoOutput)
    }
}
