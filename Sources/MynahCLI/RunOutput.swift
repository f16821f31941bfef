import MynahConsole
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahRun
import MynahSupport

/// The output of a run's events: a screen, lines of text, JSON objects, or nothing.
final class RunOutput: RunObserver, RunKeys {
    private enum Kind: Sendable {
        case screen(LiveScreen<ScreenModel>)
        case text(EventOutput)
        case json(EventOutput)
        case off
    }

    /// The function to call when the last reader has closed the output.
    private struct Closing: Sendable {
        var call: @Sendable () -> Void
    }

    /// The apps on which keys act, and the emulators that carry out the keys' actions.
    private struct Keys {
        var apps: AppKeys
        /// The stream that passes keys' actions and passkeys to each emulator.
        var asked: [ObjectIdentifier: AsyncStream<KeyedAction>.Continuation] = [:]
    }

    private let kind: Kind
    private let namesDevices: Bool
    /// The keyboard for keys and passkeys, or `nil` if there is no terminal.
    private let keyboard: Keyboard?
    private let keys: Lock<Keys>
    /// The clock of the current run.
    private let clock = Lock(RunClock.real)
    private let closed: Lock<Closing>
    private let surroundings: Surroundings

    /// Makes an output; if `isPatient` is `true`, a slow reader delays the run, and no event is dropped.
    ///
    /// `signals` are the signals of the command's own process, or `nil` if the command has none.
    init(
        format: EventFormat, for plan: RunPlan, in surroundings: Surroundings, hasScreen: Bool = true,
        isPatient: Bool = false, signals: Signals?
    ) {
        namesDevices = plan.namesDevices
        self.surroundings = surroundings
        keys = Lock(Keys(apps: AppKeys(apps: plan.apps)))
        let closed = Lock(Closing {})
        self.closed = closed
        let keyboard = signals == nil ? nil : Keyboard()
        self.keyboard = keyboard
        let output = {
            let new = surroundings.eventOutput { closed.withLock { $0 }.call() }
            if isPatient { new.waitForReader { surroundings.interruption.isInterrupted } }
            return new
        }
        switch format {
        case .off:
            kind = .off
        case .json:
            kind = .json(output())
        case .text:
            if hasScreen, Descriptor.isScreen, let keyboard {
                let profiles = plan.profiles
                let screen = LiveScreen(
                    ScreenModel(
                        titles: profiles.map(\.name), hasApps: profiles.contains { $0.app != nil },
                        known: profiles.flatMap { $0.advertising?.advertisement.serviceUUIDs ?? [] }),
                    keyboard: keyboard)
                signals?.looksAfter(screen.use)
                kind = .screen(screen)
            } else {
                kind = .text(output())
            }
        }
        if case .screen = kind { return }
        if let keyboard {
            signals?.looksAfter(
                .init(giveBack: { keyboard.giveBack() }, takeAgain: { _ = keyboard.takeAgain() }))
        }
    }

    var takesEvents: Bool { if case .off = kind { false } else { true } }

    func onClose(_ closed: @escaping @Sendable () -> Void) {
        self.closed.withLock { $0.call = closed }
    }

    func observe(_ event: DeviceEvent, of device: String?) {
        let name = namesDevices ? device : nil
        switch kind {
        case .off: break
        case .json(let output):
            Self.tellDropped(output, event.time) { Array(($0.json.text + "\n").utf8) }
            var bytes: [UInt8] = []
            event.named(name).json.write(to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
            output.write(bytes)
        case .text(let output):
            Self.tellDropped(output, event.time) { Array((EventText.line(of: $0) + "\n").utf8) }
            let line = name.map { EventText.line(of: event, device: $0) } ?? EventText.line(of: event)
            output.write(Array((line + "\n").utf8))
        case .screen(let screen): screen.change { $0.note(event.named(name)) }
        }
    }

    func beginAnew() {
        if case .screen(let screen) = kind { screen.change { $0.beginAnew() } }
    }

    func timeMoved(to time: WallTime) {
        guard case .screen(let screen) = kind else { return }
        let name = clock.withLock { $0.name }
        screen.change { $0.setTime(time, of: name) }
    }

    private static func tellDropped(
        _ output: EventOutput, _ time: WallTime, _ bytes: (DeviceEvent) -> [UInt8]
    ) {
        let dropped = output.takeDropped()
        guard dropped > 0 else { return }
        output.write(
            bytes(
                DeviceEvent(
                    time: time, .warning,
                    .notice(
                        .init(
                            code: "eventsDropped",
                            dropped.counting("event was", "events were")
                                + " dropped because standard output was not read")))))
    }

    func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<KeyedAction>? {
        guard let keyboard else { return nil }
        let id = ObjectIdentifier(emulator)
        let (stream, asked) = AsyncStream.makeStream(of: KeyedAction.self)
        keys.withLock { $0.asked[id] = asked }
        keyboard.onPasskey(of: id) {
            emulator.asksForPasskey
        } entered: {
            asked.yield(.passkey($0))
        }
        if emulator.playsApps {
            change(emulator, apps: apps)
            keyboard.onAppKey { [weak self] in self?.press($0) }
        }
        return stream
    }

    func change(_ emulator: Emulator, apps: [String]) {
        keys.withLock { $0.apps.set(apps, of: ObjectIdentifier(emulator)) }
    }

    private func press(_ key: AppKey) {
        let (outcome, asked, chosen) = keys.withLock { keys in
            let outcome = keys.apps.press(key)
            let phone: ObjectIdentifier? = if case .action(_, _, let phone) = outcome { phone } else { nil }
            return (outcome, phone.flatMap { keys.asked[$0] }, keys.apps.canChoose ? keys.apps.chosen : nil)
        }
        switch outcome {
        case .nothing: break
        case .action(let action, let target, _): asked?.yield(.action(action, target))
        case .ambiguous(let phones):
            surroundings.say(
                "this run has \(phones) phones: press the number of an app first, and then a key for it")
        }
        if case .screen(let screen) = kind, let chosen { screen.change { $0.choose(chosen) } }
    }

    func detach(_ emulator: Emulator) {
        let id = ObjectIdentifier(emulator)
        keyboard?.forgetPasskey(of: id)
        let asked = keys.withLock { keys in
            keys.apps.remove(id)
            return keys.asked.removeValue(forKey: id)
        }
        asked?.finish()
    }

    /// Plays a run whose events this output prints, and returns the result.
    func play(_ plan: RunPlan, _ radios: RadioPlan, _ time: RunTime = .real) async -> RunEnd {
        clock.withLock { $0 = time.clock }
        // With a fast clock, the time does not wait for keys.
        let keys = time.clock.virtual?.pace == .fast ? nil : self
        let outputs = RunOutputs([self], keys: keys) { [surroundings] in surroundings.say($0) }
        return await RunSession(
            plan, radios: radios, outputs: outputs, time: time, until: surroundings.interruption
        ).play()
    }

    /// The error that ended the output, or `nil` if there is none.
    ///
    /// If the reader has closed the output, this is no error.
    var problem: String? {
        switch kind {
        case .text(let output), .json(let output): output.problem
        case .screen, .off: nil
        }
    }

    /// Restores the terminal, or waits until all output is written.
    func end() {
        switch kind {
        case .screen(let screen): screen.end()
        case .text(let output), .json(let output): output.flush()
        case .off: break
        }
        keyboard?.end()
    }
}
