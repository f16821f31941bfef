import Mynah
package import MynahControl
package import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport

/// The result of a run.
package struct RunEnd: Sendable {
    /// The error that ended the run, or `nil` if no error did.
    package var failure: RadioError?
    /// The reason that the run did not reach its goal, or `nil` if it did or had none; names in it may
    /// contain any characters.
    package var complaint: String?
    /// The error that ended the run's capture early, or `nil` if the capture is complete or there is none.
    package var captureFailure: RadioError?
    /// The report about the run's scenario, in JUnit's XML, or `nil` if it had none.
    package var report: String?
}

/// A run, from the choice of its radio until it is interrupted; devices are started, added, removed and
/// stopped.
package final class RunSession: Sendable {
    /// The devices that share one radio.
    struct Run: Sendable {
        var devices: [EmulatedDevice]
        /// The services that the apps' phone itself provides, or `nil` if it provides none.
        var phone: EmulatedDevice?
        var profiles: [Profile]
        /// The seed for identifiers of peripherals, or `nil` for random ones.
        var seed: UInt64?
        var observer: (@Sendable (DeviceEvent) -> Void)?

        /// The names in events of the apps.
        var apps: [String] { devices.filter { $0.app != nil }.map(\.label) }

        /// Removes a device that is no longer played.
        mutating func forget(_ label: String) {
            guard let index = devices.firstIndex(where: { $0.label == label }) else { return }
            devices.remove(at: index)
            profiles.remove(at: index)
        }

        /// Whether apps play the devices.
        var isPhone: Bool { devices.contains { $0.app != nil } }

        /// Whether this is the phone of a profile's app.
        func isPhone(of profile: Profile) -> Bool {
            profiles.first.map { RunGroups.areOnOnePhone($0, profile) } ?? false
        }
    }

    let plan: RunPlan
    private let radioPlan: RadioPlan
    let outputs: RunOutputs
    let time: RunTime
    let clock: RunClock
    let interruption: Interruption
    let watch: RunWatch
    let control: ControlSession?
    let events: RunEvents
    let cast: Lock<Cast>
    let radioMaker = Lock<RadioMaker?>(nil)
    /// Lets one call at a time add an app to a phone, or remove one.
    let phoneTurns = TurnQueue()
    /// Lets one call at a time stop devices; the end of the run waits for devices that a request is stopping.
    let stopTurns = TurnQueue()
    /// The devices that are being played, by radio.
    let playedRadios = PlayedRadios()

    /// The initial devices of the run, and the maker of those that are added later.
    struct Cast: Sendable {
        let maker: RunMaker
        let runs: [Run]

        init(_ plan: RunPlan, _ events: RunEvents, _ clock: RunClock) {
            let maker = RunMaker(plan, events, clock: clock)
            self.maker = maker
            runs = zip(plan.groups.groups, plan.groups.labels).map { maker.run($0, labels: $1) }
        }
    }

    /// The devices of one radio, which have begun to start.
    struct Playing: Sendable {
        /// The number of the radio.
        let index: Int
        var run: Run
        let emulator: Emulator
        /// `true` while the device is being removed: if it is starting, the start fails, and the run
        /// continues.
        let isLeaving = Lock(false)

        init(
            _ index: Int, _ run: Run, on radios: RadioMaker, _ stateDirectory: StateDirectory?,
            _ clock: RunClock
        ) throws(RadioError) {
            self.index = index
            self.run = run
            let radio = try radios.peripheralRadio(
                index, run.devices.map(\.label), isPhone: run.isPhone, stateDirectory)
            emulator = Emulator(
                run.devices, phone: run.phone, on: radio, clock: clock,
                stateDirectory: run.isPhone ? stateDirectory : nil, seed: run.seed, observer: run.observer)
        }
    }

    /// Makes a run for a plan, which ends when it is interrupted.
    package init(
        _ plan: RunPlan, radios: RadioPlan, outputs: RunOutputs, time: RunTime = .real,
        until interruption: Interruption
    ) {
        let clock = time.clock
        self.plan = plan
        radioPlan = radios
        self.outputs = outputs
        self.time = time
        self.clock = clock
        self.interruption = interruption
        watch = RunWatch(plan, interruption, clock: clock)
        control = plan.control.map {
            ControlSession($0, version: plan.version, clock: clock)
        }
        events = RunEvents(outputs, watch, control?.journal, clock: clock)
        cast = Lock(Cast(plan, events, clock))
    }

    /// Chooses the radio, starts the devices one after the other, and waits for the interruption; the first
    /// failure ends the run.
    ///
    /// The control API is served after the radio was chosen, before the first device starts.
    package func play() async -> RunEnd {
        // Virtual time moves when no work is left: the first deadline must not be set before there is any.
        await withTaskExecutorPreference(clock.taskExecutor) { await playOnExecutor() }
    }

    private func playOnExecutor() async -> RunEnd {
        let note = plan.leaveNote?()
        defer { note?.remove() }
        watch.start()
        let failure = await RadioWork.play(
            until: interruption, clock: clock, interrupted: { [time] in time.release() },
            stop: { [self] in await stop(forgetting: interruption.cause == .quit) }
        ) { [self] () throws(RadioError) in
            // On `manual` it is the first request: others wait until every device is ready.
            if let failure = await clock.carryOut({ [self] in await open() }) { throw failure }
        }
        let radios = radioMaker.withLock { $0 }
        radios?.end()
        // No other session has this time, and the server waits for the requests that are carried out.
        clock.manual?.end()
        await control?.end()
        events.end()
        return RunEnd(
            failure: failure, complaint: watch.complaint ?? watch.problem,
            captureFailure: radios?.captureFailure,
            report: watch.report(failure?.description))
    }

    /// Chooses the radio, serves the control API and starts the devices; returns the first failure.
    private func open() async -> RadioError? {
        do throws(RadioError) {
            let radios = try await chooseRadios()
            radioMaker.withLock { $0 = radios }
            plan.stateDirectory?.takeWarning().map(events.warn)
            try radios.check()
            if let address = try await control?.serve(self) {
                events.served(at: address, isServer: plan.isServer)
            }
        } catch {
            return error
        }
        defer { events.clockMoved() }
        // An interruption cancels the choice of a radio alone: what has begun is withdrawn by `stop`.
        let failure = await Task(executorPreference: clock.taskExecutor) { [self] in await start() }.value
        // The devices of the run have files too.
        return failure ?? control?.lackOfFiles
    }

    /// The control API for requests from this process, or `nil` if there is none.
    package var api: ControlAPI? { control?.api(of: self) }

    private func chooseRadios() async throws(RadioError) -> RadioMaker {
        let chooser = RadioChooser(
            choice: radioPlan.choice, adapters: radioPlan.adapters, playsCentrals: plan.playsCentrals,
            notice: { [events] in events.warn($0) })
        let chosen = try await chooser.forDevice()
        if chosen != .bluez, let option = radioPlan.optionsForBlueZ.first {
            events.warn(
                RadioWarning("optionIgnored", "\(option) is for BlueZ and has no effect on this radio"))
        }
        let capture = radioPlan.capture.map {
            Capture(
                $0, namesDevices: plan.namesDevices, version: plan.version, clock: clock,
                reports: .init(warn: { [events] in events.warn($0) }, fail: { [events] in events.fail($0) }))
        }
        var options = RadioMaker.Options(chosen, of: radioPlan, for: plan, capture: capture) { [events] in
            events.warn($0)
        }
        options.time = time
        return RadioMaker(options)
    }

    /// Starts the devices one after the other; returns the first failure.
    func start() async -> RadioError? {
        guard let radios = radioMaker.withLock({ $0 }) else { return nil }
        do throws(RadioError) {
            if plan.planned.contains(where: \.action.isRange) { try radios.checkHasRange() }
            for index in runs.indices {
                try await play(runs[index], index, on: radios)
            }
        } catch {
            return error
        }
        await begin()
        return nil
    }

    private func stop(forgetting: Bool) async {
        let begun = playedRadios.close()
        await playedRadios.endPhones()
        await stop(begun, forgetting: forgetting)
    }

    func stop(_ begun: [Playing], forgetting: Bool) async {
        await stopTurns.wait()
        defer { stopTurns.end() }
        // Before any link ends: a scenario that waits for that has not passed.
        for each in begun where each.run.profiles.contains(where: { !$0.scenarios.isEmpty }) {
            await each.emulator.endScenarios("the run ended first")
        }
        let emulators = begun.map(\.emulator)
        // A phone loses what it has of another that goes before it.
        for emulator in emulators.filter(\.playsApps) { await emulator.keepState() }
        // The phones first: an accessory that goes before it would be one that their apps have lost.
        for emulator in emulators.filter(\.playsApps) + emulators.reversed().filter({ !$0.playsApps }) {
            await emulator.stop(forgetting: forgetting)
        }
    }

    private func play(_ run: Run, _ index: Int, on radios: RadioMaker) async throws(RadioError) {
        let new = try Playing(index, run, on: radios, try maker.stateDirectory(of: run.profiles[0]), clock)
        guard playedRadios.add(new) else {
            throw RadioError(.invalidState, "it was stopped while it started")
        }
        do throws(RadioError) {
            try await start(new, RadioCheck(print: outputs.print))
        } catch {
            guard new.isLeaving.withLock({ $0 }) else { throw error }
            outputs.keys?.detach(new.emulator)
        }
    }

    func start(_ playing: Playing, _ check: RadioCheck) async throws(RadioError) {
        let emulator = playing.emulator
        // Before `ready` is reported: after it, a script may press a key.
        let keys = outputs.keys?.attach(emulator, apps: playing.run.apps)
        if let scenario = watch.scenario?.choice,
            playing.run.devices.contains(where: { $0.label == scenario.device })
        {
            await emulator.playWhenReady(scenario.name, of: scenario.device)
        }
        try await emulator.start { capabilities throws(RadioError) in
            try check.check(playing.run.profiles, capabilities, emulator.faultSupport)
        }
        if let keys {
            Task(executorPreference: clock.taskExecutor) { [clock, events] in
                for await each in keys {
                    await clock.carryOut {
                        switch each {
                        case .action(let action, let target): await emulator.carryOut(action, on: target)
                        case .passkey(let number): _ = await emulator.enter(passkey: number)
                        }
                        events.clockMoved()
                    }
                }
            }
        }
    }

    // MARK: The devices that play

    /// Makes devices that are added later.
    var maker: RunMaker { cast.withLock { $0.maker } }

    var runs: [Run] { cast.withLock { $0.runs } }

    /// The name of the radio, or `nil` before it is chosen.
    var radioName: String? { radioMaker.withLock { $0 }?.name }

    /// Adds devices on a new radio, like `PlayedRadios`; returns `nil` before the radio is chosen.
    func append(
        _ body: (_ index: Int, _ labels: [String], RadioMaker) throws(RadioError) -> Playing
    ) throws(RadioError) -> Playing? {
        guard let radios = radioMaker.withLock({ $0 }) else { return nil }
        return try playedRadios.append(after: runs.count) { index, labels throws(RadioError) in
            try body(index, labels, radios)
        }
    }

    /// Removes the devices of a radio, if another one does not use its number already.
    func drop(_ gone: Playing) {
        outputs.keys?.detach(gone.emulator)
        playedRadios.remove(gone)
    }

    /// Begins the time of the run, because every device is ready.
    private func begin() async {
        watch.devicesReady()
        for emulator in playedRadios.all.map(\.emulator) {
            for planned in plan.planned {
                guard case .action(let action) = planned.action.effect,
                    planned.action.isFor(phone: emulator.playsApps, ofRunWithPhone: plan.hasPhone)
                else { continue }
                await emulator.plan(action, on: planned.target, after: planned.action.delay)
            }
        }
        for planned in plan.planned {
            guard case .range(let change) = planned.action.effect else { continue }
            if case .peripheral(let name, let label) = planned.target {
                await move(name, of: label, change, after: planned.action.delay)
                continue
            }
            clock.after(planned.action.delay) { [self] in
                guard let radios = radioMaker.withLock({ $0 }) else { return }
                for index in indices(of: planned.target) { radios.move(index, change) }
            }
        }
    }

    /// Changes the distance between the phone of an app and the device of a peripheral in the app's profile.
    private func move(
        _ peripheral: String, of label: String, _ change: RangeChange, after delay: Duration
    ) async {
        guard let index = runs.firstIndex(where: { $0.apps.contains(label) }),
            let emulator = playedRadios.all.first(where: { $0.index == index })?.emulator
        else { return }
        await emulator.find(peripheral, of: label, after: delay) { [weak self] address in
            self?.radioMaker.withLock { $0 }?.move(index, change, from: address)
        }
    }

    /// The numbers of the radios that a change of distance is for.
    private func indices(of target: AppTarget) -> [Int] {
        runs.indices.filter { index in
            switch target {
            case .named(let label), .phone(of: let label):
                runs[index].devices.contains { $0.label == label }
            case .peripheral: false
            case .every, .lastInFront: !runs[index].isPhone
            }
        }
    }
}
