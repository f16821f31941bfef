import Dispatch
import MynahConsole
import MynahCore
import MynahEmulator
import MynahProfiles
import Mynah
import MynahSupport

import Glibc

/// Plays the devices of a run, from their start to their end.
final class RunPlayer: Sendable {
    /// The devices that share one radio.
    struct Run: Sendable {
        var devices: [EmulatedDevice]
        var profiles: [Profile]
        var stateDirectory: StateDirectory?
        /// For the identifiers of peripherals; `nil` if they are random.
        var seed: UInt64?
        var observer: (@Sendable (DeviceEvent) -> Void)?

        /// The names of its apps, as in events.
        var apps: [String] { devices.filter { $0.app != nil }.map(\.label) }

        /// Whether apps play it.
        var isPhone: Bool { devices.contains { $0.app != nil } }
    }

    /// An action, and the apps that it is for.
    typealias Planned = (action: PlannedAction, target: AppTarget)

    private let runs: [Run]
    private let chooser: RadioChooser
    private let makeRadios: @Sendable (ChosenRadio) -> RadioMaker
    private let planned: [Planned]
    private let output: RunOutput
    private let watch: RunWatch
    private let radios = Lock<RadioMaker?>(nil)
    /// Those that have begun to start; `nil` if it is over, and no other begins.
    private let emulators = Lock<[Emulator<ContinuousClock>]?>([])

    /// Plays them on the radio that the chooser settles on.
    init(
        _ runs: [Run], _ chooser: RadioChooser, _ planned: [Planned], _ output: RunOutput,
        _ watch: RunWatch, makeRadios: @escaping @Sendable (ChosenRadio) -> RadioMaker
    ) {
        self.runs = runs
        self.chooser = chooser
        self.makeRadios = makeRadios
        self.planned = planned
        self.output = output
        self.watch = watch
    }

    /// Chooses the radio, starts one after the other and waits to be interrupted; the first failure ends it.
    func play(until interruption: Interruption) async -> RadioError? {
        let failure = await RadioWork.play(
            until: interruption,
            stop: { [self] in await stop(forgetting: interruption.cause == SIGINT) }
        ) { [self] () throws(RadioError) in
            let chosen = try await chooser.forDevice()
            // An interruption cancels the choice of a radio alone: what has begun is withdrawn by `stop`.
            let starting = Task { await start(on: makeRadios(chosen)) }
            if let failure = await starting.value { throw failure }
        }
        radios.withLock { $0 }?.end()
        return failure
    }

    /// Starts one after the other; returns the first failure.
    private func start(on radios: RadioMaker) async -> RadioError? {
        self.radios.withLock { $0 = radios }
        do throws(RadioError) {
            if planned.contains(where: \.action.isRange) { try radios.checkHasRange() }
            for index in runs.indices {
                let run = runs[index]
                let label = run.devices[0].label
                try await play(run, on: try radios.peripheralRadio(index, label, isPhone: run.isPhone))
            }
        } catch {
            return error
        }
        await begin()
        return nil
    }

    private func stop(forgetting: Bool) async {
        let begun = emulators.withLock { emulators in
            defer { emulators = nil }
            return emulators ?? []
        }
        // The phone first: an accessory that goes before it would be one that its apps have lost.
        for emulator in begun.filter(\.playsApps) + begun.reversed().filter({ !$0.playsApps }) {
            await emulator.stop(forgetting: forgetting)
        }
    }

    private func play(_ run: Run, on radio: any PeripheralRadio) async throws(RadioError) {
        let emulator = Emulator(
            run.devices, on: radio, clock: ContinuousClock(), stateDirectory: run.stateDirectory,
            seed: run.seed,
            observer: run.observer)
        let isOver = emulators.withLock { emulators in
            emulators?.append(emulator)
            return emulators == nil
        }
        if isOver { throw RadioError(.invalidState, "it was stopped while it started") }
        // Before `ready` is reported: after it, a script may press a key.
        let keys = output.attach(emulator, apps: run.apps)
        try await emulator.start { capabilities throws(RadioError) in
            try Self.check(run.profiles, capabilities)
        }
        if let keys {
            Task { for await each in keys { await emulator.carryOut(each.action, on: each.target) } }
        }
    }

    /// Every device is ready: the run's time begins.
    private func begin() async {
        watch.begin()
        for emulator in emulators.withLock({ $0 }) ?? [] {
            for case (let planned, let target) in planned {
                guard case .action(let action) = planned.effect,
                    planned.isFor(phone: emulator.playsApps, ofRunWithPhone: runs.contains(where: \.isPhone))
                else { continue }
                await emulator.plan(action, on: target, after: planned.delay)
            }
        }
        for case (let planned, let target) in planned {
            guard case .range(let change) = planned.effect else { continue }
            if case .peripheral(let name, let label) = target {
                await move(name, of: label, change, after: planned.delay)
                continue
            }
            let (seconds, attoseconds) = planned.delay.components
            let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [self] in
                guard let radios = radios.withLock({ $0 }) else { return }
                for index in indices(of: target) { radios.move(index, change) }
            }
        }
    }

    /// Moves the phone of an app and the device of a peripheral that its profile names away from each other.
    private func move(
        _ peripheral: String, of label: String, _ change: RangeChange, after delay: Duration
    ) async {
        guard let index = runs.firstIndex(where: { $0.apps.contains(label) }),
            let emulator = emulators.withLock({ $0 })?[index]
        else { return }
        await emulator.find(peripheral, of: label, after: delay) { [weak self] address in
            self?.radios.withLock { $0 }?.move(index, change, from: address)
        }
    }

    /// The radios of the devices that a change of range is for.
    private func indices(of target: AppTarget) -> [Int] {
        runs.indices.filter { index in
            switch target {
            case .named(let label): runs[index].devices.contains { $0.label == label }
            case .peripheral: false
            case .every, .lastInFront: !runs[index].isPhone
            }
        }
    }

    /// Reports what this radio would play differently, before anything is registered.
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
