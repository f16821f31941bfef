import Mynah
package import MynahControl
package import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport

/// The result of a run.
package struct RunEnd: Sendable {
    /// The error that ended the run, or `nil` if there was none.
    package var failure: RadioError?
    /// The reason why the expected events or the scenario did not succeed, or `nil` if nothing failed.
    ///
    /// Names in the text may contain any characters, also control characters.
    package var complaint: String?
    /// The error that ended the capture early, or `nil` if there was none.
    package var captureFailure: RadioError?
    /// The JUnit report of the run's scenario, or `nil` if there was no scenario.
    package var report: String?
}

/// A run, from the choice of its radio to its interruption.
///
/// Devices can be added and removed during the run.
package final class RunSession: Sendable {
    /// The devices that share one radio, and their profiles in the same order.
    struct Run: Sendable {
        var devices: [EmulatedDevice]
        /// The services of the phone itself, as a device, or `nil` if it has none.
        var phone: EmulatedDevice?
        var profiles: [Profile]
        /// The seed for peripherals' identifiers, or `nil` for random ones.
        var seed: UInt64?
        var observer: (@Sendable (DeviceEvent) -> Void)?

        /// The names of the apps in events.
        var apps: [String] { devices.filter { $0.app != nil }.map(\.label) }

        /// Removes a device from the list after it was stopped.
        mutating func forget(_ label: String) {
            guard let index = devices.firstIndex(where: { $0.label == label }) else { return }
            devices.remove(at: index)
            profiles.remove(at: index)
        }

        /// Whether the devices are apps of a phone.
        var isPhone: Bool { devices.contains { $0.app != nil } }

        /// Whether a profile's app belongs on this phone.
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
    /// Ensures that apps are added to and removed from phones one at a time.
    let phoneTurns = TurnQueue()
    /// Ensures that devices are stopped by one call at a time.
    ///
    /// The end of the run waits until a request has stopped its devices.
    let stopTurns = TurnQueue()
    /// The devices that are being started or played, by radio.
    let playedRadios = PlayedRadios()

    /// The initial devices of the run, and the maker of devices.
    struct Cast: Sendable {
        let maker: RunMaker
        let runs: [Run]

        init(_ plan: RunPlan, _ events: RunEvents, _ clock: RunClock) {
            let maker = RunMaker(plan, events, clock: clock)
            self.maker = maker
            runs = zip(plan.groups.groups, plan.groups.labels).map { maker.run($0, labels: $1) }
        }
    }

    /// The devices of one radio that are being started or played.
    struct Playing: Sendable {
        /// The number of the radio.
        let index: Int
        var run: Run
        let emulator: Emulator
        /// Whether the devices are being removed.
        ///
        /// If they are still starting, their start fails, and the run continues.
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

    /// Makes a run for a plan; it ends when `interruption` happens.
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

    /// Chooses the radio, starts the devices one after the other, and waits for the interruption.
    ///
    /// The first failure ends the run. The control API is served before the first device starts.
    package func play() async -> RunEnd {
        // Virtual time advances when no work is left, so work must be queued before the first deadline is
        // set.
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
            // With a `manual` clock, opening is the first request: other requests wait until all devices are
            // ready.
            if let failure = await clock.carryOut({ [self] in await open() }) { throw failure }
        }
        let radios = radioMaker.withLock { $0 }
        radios?.end()
        // No other session uses this clock, and the server waits for the requests in progress.
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
        // An interruption cancels only the choice of a radio: everything that was started is stopped by
        // `stop`.
        let failure = await Task(executorPreference: clock.taskExecutor) { [self] in await start() }.value
        // The devices of the run have opened files too.
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

    /// Starts the devices one after the other; returns the first failure, or `nil`.
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
        // This comes before any link ends, because a scenario that waits for that must not pass.
        for each in begun where each.run.profiles.contains(where: { !$0.scenarios.isEmpty }) {
            await each.emulator.endScenarios("the run ended first")
        }
        let emulators = begun.map(\.emulator)
        // A phone loses its state about another phone that stops first.
        for emulator in emulators.filter(\.playsApps) { await emulator.keepState() }
        // Phones stop first: if an accessory stopped first, their apps would report a lost connection.
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
        // This comes before `ready` is reported, because a script may press a key after it.
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

    // MARK: The devices

    /// The maker of devices, which also makes those added later.
    var maker: RunMaker { cast.withLock { $0.maker } }

    var runs: [Run] { cast.withLock { $0.runs } }

    /// The name of the radio, or `nil` before it is chosen.
    var radioName: String? { radioMaker.withLock { $0 }?.name }

    /// Adds a radio as `PlayedRadios.append` does; also returns `nil` before the run has chosen its kind of
    /// radio.
    func append(
        _ body: (_ index: Int, _ labels: [String], RadioMaker) throws(RadioError) -> Playing
    ) throws(RadioError) -> Playing? {
        guard let radios = radioMaker.withLock({ $0 }) else { return nil }
        return try playedRadios.append(after: runs.count) { index, labels throws(RadioError) in
            try body(index, labels, radios)
        }
    }

    /// Removes the devices of a radio, but not those of a later radio with the same number.
    func drop(_ gone: Playing) {
        outputs.keys?.detach(gone.emulator)
        playedRadios.remove(gone)
    }

    /// Starts the time limit and the planned actions; called when all devices are ready.
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

    /// Changes the distance between an app's phone and one peripheral in the app's profile.
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

    /// The numbers of the radios to which a change of distance applies.
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
