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

        /// Without a device, which is not played any more.
        mutating func forget(_ label: String) {
            guard let index = devices.firstIndex(where: { $0.label == label }) else { return }
            devices.remove(at: index)
            profiles.remove(at: index)
        }

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
    private let radioMaker = Lock<RadioMaker?>(nil)
    /// Apps are added to a phone that plays, and removed from it, one after the other.
    let phoneTurns = TurnQueue()
    /// Makes what is added later.
    let maker: RunMaker
    /// Those that have begun to start; `nil` if it is over, and no other begins.
    private let playing = Lock<[Playing]?>([])
    /// How many of the runs have begun to start.
    private let begun = Lock(0)

    /// The devices of one radio that have begun to start.
    struct Playing: Sendable {
        /// The number of their radio.
        let index: Int
        var run: Run
        let emulator: Emulator
        /// Whether it is being removed: if it is starting, that fails and is no failure of the run.
        let isLeaving = Lock(false)

        init(_ index: Int, _ run: Run, on radio: any PeripheralRadio) {
            self.index = index
            self.run = run
            emulator = Emulator(
                run.devices, on: radio, clock: ContinuousClock(), stateDirectory: run.stateDirectory,
                seed: run.seed, observer: run.observer)
        }
    }

    /// Plays them on the radio that the chooser settles on.
    init(
        _ runs: [Run], _ maker: RunMaker, _ chooser: RadioChooser, _ planned: [Planned], _ output: RunOutput,
        _ watch: RunWatch, makeRadios: @escaping @Sendable (ChosenRadio) -> RadioMaker
    ) {
        self.runs = runs
        self.maker = maker
        self.chooser = chooser
        self.makeRadios = makeRadios
        self.planned = planned
        self.output = output
        self.watch = watch
    }

    /// Chooses the radio, starts one after the other and waits to be interrupted; the first failure ends it.
    ///
    /// `serve` is called when the radio is chosen, before a device starts.
    func play(
        until interruption: Interruption,
        serve: @escaping @Sendable () async throws(RadioError) -> Void = { () throws(RadioError) in }
    ) async -> RadioError? {
        let failure = await RadioWork.play(
            until: interruption,
            stop: { [self] in await stop(forgetting: interruption.cause == SIGINT) }
        ) { [self] () throws(RadioError) in
            let chosen = try await chooser.forDevice()
            // An interruption cancels the choice of a radio alone: what has begun is withdrawn by `stop`.
            let radios = makeRadios(chosen)
            radioMaker.withLock { $0 = radios }
            try radios.begin()
            try await serve()
            let starting = Task { await start() }
            if let failure = await starting.value { throw failure }
        }
        radioMaker.withLock { $0 }?.end()
        return failure
    }

    /// Starts one after the other; returns the first failure.
    private func start() async -> RadioError? {
        guard let radios = radioMaker.withLock({ $0 }) else { return nil }
        do throws(RadioError) {
            if planned.contains(where: \.action.isRange) { try radios.checkHasRange() }
            for index in runs.indices {
                let run = runs[index]
                let labels = run.devices.map(\.label)
                try await play(
                    run, index, on: try radios.peripheralRadio(index, labels, isPhone: run.isPhone))
            }
        } catch {
            return error
        }
        await begin()
        return nil
    }

    private func stop(forgetting: Bool) async {
        let begun = playing.withLock { playing in
            defer { playing = nil }
            return playing ?? []
        }
        // Before any link ends: a scenario that waits for that has not passed.
        for each in begun where each.run.profiles.contains(where: { !$0.scenarios.isEmpty }) {
            await each.emulator.endScenarios("the run ended first")
        }
        let emulators = begun.map(\.emulator)
        // The phone first: an accessory that goes before it would be one that its apps have lost.
        for emulator in emulators.filter(\.playsApps) + emulators.reversed().filter({ !$0.playsApps }) {
            await emulator.stop(forgetting: forgetting)
        }
    }

    private func play(_ run: Run, _ index: Int, on radio: any PeripheralRadio) async throws(RadioError) {
        let new = Playing(index, run, on: radio)
        let isOver = playing.withLock { playing in
            playing?.append(new)
            begun.withLock { $0 += 1 }
            return playing == nil
        }
        if isOver { throw RadioError(.invalidState, "it was stopped while it started") }
        do throws(RadioError) {
            try await start(new)
        } catch {
            guard new.isLeaving.withLock({ $0 }) else { throw error }
            output.detach(new.emulator)
        }
    }

    func start(_ playing: Playing, _ check: RadioCheck = RadioCheck()) async throws(RadioError) {
        let emulator = playing.emulator
        // Before `ready` is reported: after it, a script may press a key.
        let keys = output.attach(emulator, apps: playing.run.apps)
        if let scenario = watch.scenario?.choice,
            playing.run.devices.contains(where: { $0.label == scenario.device })
        {
            await emulator.playWhenReady(scenario.name, of: scenario.device)
        }
        try await emulator.start { capabilities throws(RadioError) in
            try check.check(playing.run.profiles, capabilities)
        }
        if let keys {
            Task { for await each in keys { await emulator.carryOut(each.action, on: each.target) } }
        }
    }

    // MARK: The devices that play

    /// The radios whose devices play now.
    var played: [Playing] { playing.withLock { $0 } ?? [] }

    /// The name of the radio, or `nil` before it is chosen.
    var radioName: String? { radioMaker.withLock { $0 }?.name }

    /// Adds what plays on a radio of its own: `body` makes it from the number of the radio and the labels of
    /// the devices that play.
    ///
    /// Returns `nil` if the run is over, or while devices of the command line wait for their radios and
    /// names.
    func append(
        _ body: (_ index: Int, _ labels: [String], RadioMaker) throws(RadioError) -> Playing
    ) throws(RadioError) -> Playing? {
        guard let radios = radioMaker.withLock({ $0 }) else { return nil }
        return try playing.withLock { playing throws(RadioError) in
            guard let others = playing, begun.withLock({ $0 }) == runs.count else { return nil }
            let used = Set(others.map(\.index))
            let index = (0...).first { !used.contains($0) } ?? 0
            let new = try body(index, others.flatMap { $0.run.devices.map(\.label) }, radios)
            playing?.append(new)
            return new
        }
    }

    /// Changes what plays on a radio; returns `nil` if that does not play.
    func change<Value>(
        _ index: Int, _ body: (inout Run, _ labels: [String]) -> sending Value
    ) -> sending Value? {
        playing.withLock { playing in
            guard var all = playing, let place = all.firstIndex(where: { $0.index == index }) else {
                return nil
            }
            let labels = all.flatMap { $0.run.devices.map(\.label) }
            let value = body(&all[place].run, labels)
            playing = all
            return value
        }
    }

    /// Forgets what plays on a radio; others may use a radio of its number by now.
    func drop(_ gone: Playing) {
        output.detach(gone.emulator)
        playing.withLock { $0?.removeAll { $0.emulator === gone.emulator } }
    }

    /// Every device is ready: the run's time begins.
    private func begin() async {
        watch.begin()
        for emulator in (playing.withLock { $0 } ?? []).map(\.emulator) {
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
                guard let radios = radioMaker.withLock({ $0 }) else { return }
                for index in indices(of: target) { radios.move(index, change) }
            }
        }
    }

    /// Moves the phone of an app and the device of a peripheral that its profile names away from each other.
    private func move(
        _ peripheral: String, of label: String, _ change: RangeChange, after delay: Duration
    ) async {
        guard let index = runs.firstIndex(where: { $0.apps.contains(label) }),
            let emulator = playing.withLock({ $0 })?.first(where: { $0.index == index })?.emulator
        else { return }
        await emulator.find(peripheral, of: label, after: delay) { [weak self] address in
            self?.radioMaker.withLock { $0 }?.move(index, change, from: address)
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
}
