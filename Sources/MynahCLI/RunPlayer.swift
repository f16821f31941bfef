import MynahCore
import MynahEmulator
import MynahProfiles
import Mynah
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Plays the devices of a run, from their start to their end.
final class RunPlayer: Sendable {
    /// What is played on one radio.
    struct Run: Sendable {
        var devices: [EmulatedDevice]
        var profiles: [Profile]
        var stateDirectory: StateDirectory?
        var observer: (@Sendable (DeviceEvent) -> Void)?

        /// Whether apps play it.
        var isPhone: Bool { devices.contains { $0.app != nil } }
    }

    private let runs: [Run]
    private let radios: RadioMaker
    private let planned: [PlannedTransition]
    private let output: RunOutput
    /// Those that have begun to start; nil: it is over, and no other begins.
    private let emulators = Lock<[Emulator<ContinuousClock>]?>([])

    init(_ runs: [Run], on radios: RadioMaker, _ planned: [PlannedTransition], _ output: RunOutput) {
        self.runs = runs
        self.radios = radios
        self.planned = planned
        self.output = output
    }

    /// Starts one after the other and waits to be interrupted; the first failure ends it.
    func play(until interruption: Interruption) async -> RadioError? {
        // Interrupted while it starts: what has begun is withdrawn, which makes the start fail.
        let starting = Task<RadioError?, Never> {
            do throws(RadioError) {
                var radios = radios
                for index in runs.indices {
                    radios = try await start(index, on: radios)
                }
                return nil
            } catch {
                return error
            }
        }
        let stopping = Task {
            await interruption.wait()
            await stop(forgetting: interruption.cause == SIGINT)
        }
        let failure = await starting.value
        let wasInterrupted = interruption.isInterrupted
        if failure != nil { interruption.interrupt() }
        await stopping.value
        return wasInterrupted ? nil : failure
    }

    private func stop(forgetting: Bool) async {
        let begun = emulators.withLock { emulators in
            defer { emulators = nil }
            return emulators ?? []
        }
        for emulator in begun.reversed() { await emulator.stop(forgetting: forgetting) }
    }

    /// Starts one, and says which radios the others get.
    private func start(_ index: Int, on radios: RadioMaker) async throws(RadioError) -> RadioMaker {
        let run = runs[index]
        do throws(RadioError) {
            try await play(run, on: try radios.peripheralRadio(index, isPhone: run.isPhone))
            return radios
        } catch {
            guard index == 0, let reason = radios.reasonForVirtual(error) else { throw error }
            let message = "\(reason): it plays on the virtual radio, where `mynah scan` sees it"
            run.observer?(
                DeviceEvent(
                    time: .now(), name: .warning,
                    fields: [.init("code", .string("virtualRadio")), .init("message", .string(message))]))
            let virtual = radios.onVirtualRadio
            try await play(run, on: try virtual.peripheralRadio(index, isPhone: run.isPhone))
            return virtual
        }
    }

    private func play(_ run: Run, on radio: any PeripheralRadio) async throws(RadioError) {
        let emulator = Emulator(
            run.devices, on: radio, clock: ContinuousClock(), stateDirectory: run.stateDirectory,
            observer: run.observer)
        let isOver = emulators.withLock { emulators in
            emulators?.append(emulator)
            return emulators == nil
        }
        if isOver { throw RadioError(.invalidState, "it was stopped while it started") }
        // Before `ready` is told, which a script takes as leave to press a key.
        let keys = output.attach(emulator)
        let captureProblem = radios.captureProblem(of: radio)
        try await emulator.start { capabilities throws(RadioError) in
            if let captureProblem { throw captureProblem }
            try Self.check(run.profiles, capabilities)
        }
        if let keys { Task { for await transition in keys { await emulator.carryOut(transition) } } }
        guard emulator.playsApps else { return }
        for each in planned { await emulator.plan(each.transition, after: each.delay) }
    }

    /// Before anything is registered: what this radio would play otherwise than it is written.
    private static func check(_ profiles: [Profile], _ capabilities: RadioCapabilities) throws(RadioError) {
        for profile in profiles {
            let issues = profile.issues(with: capabilities, isChosen: true)
            for issue in issues { StandardError.print(issue.description) }
            guard !issues.contains(where: { $0.severity == .error }) else {
                throw RadioError(.unsupported, "\(capabilities.name) cannot play \(profile.file) as it is")
            }
        }
    }
}
