import MynahConsole
import MynahControl
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport

import Glibc

/// The output of a run's events: a screen, lines, objects or none.
final class RunOutput: Sendable {
    private enum Kind: Sendable {
        case screen(LiveScreen<ScreenModel>)
        case text(EventOutput)
        case json(EventOutput)
        case off
    }

    private let kind: Kind
    /// The keys for apps, and numbers for pairing; `nil` if there is no terminal to type them on.
    private let keyboard: Keyboard?
    /// The end of what the keys ask of the phone that has them, or `nil` if no phone has.
    private let keyed = Lock<(phone: ObjectIdentifier, end: @Sendable () -> Void)?>(nil)
    /// The events that the run waits for.
    private let watch: RunWatch
    /// Takes all events if there is a control API.
    private let journal: Journal?
    /// The address of the control API, once it is served.
    private let control = Lock<String?>(nil)

    init(
        format: EventFormat, profiles: [Profile], watch: RunWatch, journal: Journal? = nil,
        hasScreen: Bool = true, interruption: Interruption
    ) {
        self.watch = watch
        self.journal = journal
        let keyboard = Keyboard()
        self.keyboard = keyboard
        switch format {
        case .off:
            kind = .off
        case .json:
            kind = .json(EventOutput { watch.outputClosed() })
        case .text:
            if hasScreen, Descriptor.isScreen, let keyboard {
                let screen = LiveScreen(
                    ScreenModel(
                        titles: profiles.map(\.name), hasApps: profiles.contains { $0.app != nil },
                        known: profiles.flatMap { $0.advertising?.advertisement.serviceUUIDs ?? [] }),
                    keyboard: keyboard)
                interruption.looksAfter(screen.use)
                kind = .screen(screen)
            } else {
                kind = .text(EventOutput { watch.outputClosed() })
            }
        }
        if case .screen = kind { return }
        if let keyboard {
            interruption.looksAfter(
                .init(giveBack: { keyboard.giveBack() }, takeAgain: { _ = keyboard.takeAgain() }))
        }
    }

    /// Takes a device's events, or `nil` if they are not wanted.
    ///
    /// With several devices each event says whose it is.
    ///
    /// An event waits until the files that its effect is kept in are in place, and those after it wait too.
    func observer(
        of device: String, isAlone: Bool, _ writer: FileWriter
    ) -> (@Sendable (DeviceEvent) -> Void)? {
        let shown = observer(of: isAlone ? nil : device)
        guard shown != nil || watch.awaitsEvents || journal != nil else { return nil }
        let held = HeldReports<DeviceEvent>(for: writer) {
            Self.event(.warning, $0.code, $0.message)
        } pass: { [watch, journal, control] event in
            var event = event
            if event.name == .ready, let address = control.withLock({ $0 }) {
                event.fields.append(.init("control", .string(address)))
            }
            shown?(event)
            if watch.awaitsEvents { watch.take(event.named(device)) }
            journal?.append(event, of: device)
        }
        return { held.report($0) }
    }

    private func observer(of name: String?) -> (@Sendable (DeviceEvent) -> Void)? {
        switch kind {
        case .off:
            return nil
        case .json(let output):
            return { event in
                Self.tellDropped(output, event.time) { Array(($0.json.text + "\n").utf8) }
                var bytes: [UInt8] = []
                event.named(name).json.write(to: &bytes)
                bytes.append(UInt8(ascii: "\n"))
                output.write(bytes)
            }
        case .text(let output):
            return { event in
                Self.tellDropped(output, event.time) { Array((EventText.line(of: $0) + "\n").utf8) }
                let line = name.map { EventText.line(of: event, device: $0) } ?? EventText.line(of: event)
                output.write(Array((line + "\n").utf8))
            }
        case .screen(let screen):
            return { event in screen.take { $0.take(event.named(name)) } }
        }
    }

    /// Reports an event of the run itself: no device has caused it.
    func tell(_ event: DeviceEvent) {
        observer(of: nil)?(event)
        watch.take(event)
        journal?.append(event)
    }

    /// The control API is served from now on.
    ///
    /// `isServer` is `true` for `mynah serve`.
    func served(at address: String, isServer: Bool) {
        control.withLock { $0 = address }
        guard isServer else { return }
        if case .off = kind { return }
        tell(DeviceEvent(time: .now(), name: .ready, fields: [.init("control", .string(address))]))
    }

    /// Reports a warning of the run itself; with `--events off` it goes to standard error.
    func warn(_ warning: RadioWarning) {
        tell(.warning, warning.code, warning.message)
    }

    /// Reports an error of the run itself that does not end it; with `--events off` it goes to standard
    /// error.
    func fail(_ error: RadioError) {
        tell(.error, error.code.rawValue, error.description)
    }

    private func tell(_ name: DeviceEvent.Name, _ code: String, _ message: String) {
        if case .off = kind { StandardError.print("\(name.rawValue): \(message)") }
        tell(Self.event(name, code, message))
    }

    private static func event(_ name: DeviceEvent.Name, _ code: String, _ message: String) -> DeviceEvent {
        DeviceEvent(
            time: .now(), name: name,
            fields: [.init("code", .string(code)), .init("message", .string(message))])
    }

    private static func tellDropped(
        _ output: EventOutput, _ time: WallTime, _ bytes: (DeviceEvent) -> [UInt8]
    ) {
        let dropped = output.takeDropped()
        guard dropped > 0 else { return }
        output.write(
            bytes(
                DeviceEvent(
                    time: time, name: .warning,
                    fields: [
                        .init("code", .string("eventsDropped")),
                        .init(
                            "message",
                            .string("\(dropped) events were dropped because standard output was not read")),
                    ])))
    }

    /// The action of a key, and the apps that it is for.
    typealias Keyed = (action: UserAction, target: AppTarget)

    /// Lets numbers typed on the terminal go to the device from now on, and returns what the keys ask of its
    /// apps.
    ///
    /// That waits, in order, until it is taken. Returns `nil` if it has no app, or there is no terminal.
    func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<Keyed>? {
        guard let keyboard else { return nil }
        let id = ObjectIdentifier(emulator)
        keyboard.onPasskey(of: id) {
            emulator.asksForPasskey
        } entered: { number in
            Task { _ = await emulator.enter(passkey: number) }
        }
        guard emulator.playsApps else { return nil }
        let (stream, asked) = AsyncStream.makeStream(of: Keyed.self)
        keyed.withLock { $0 = (id, { asked.finish() }) }
        let keys = Lock(AppKeys(apps: apps))
        keyboard.onAppKey { [kind] key in
            if let keyed = keys.withLock({ $0.take(key) }) { asked.yield(keyed) }
            guard case .screen(let screen) = kind, apps.count > 1 else { return }
            let chosen = keys.withLock { $0.chosen }
            screen.take { $0.choose(chosen) }
        }
        return stream
    }

    /// Gives keys and numbers no more to devices that have been removed.
    func detach(_ emulator: Emulator) {
        let id = ObjectIdentifier(emulator)
        keyboard?.forgetPasskey(of: id)
        let end = keyed.withLock { keyed -> (@Sendable () -> Void)? in
            guard let phone = keyed, phone.phone == id else { return nil }
            keyed = nil
            return phone.end
        }
        guard let end else { return }
        keyboard?.onAppKey(nil)
        end()
    }

    /// The error that ended the output, or `nil` if there is none or the reader has left.
    var problem: String? {
        switch kind {
        case .text(let output), .json(let output): output.problem
        case .screen, .off: nil
        }
    }

    /// Leaves the terminal as it was, or returns when everything is written.
    func end() {
        switch kind {
        case .screen(let screen): screen.end()
        case .text(let output), .json(let output): output.flush()
        case .off: break
        }
        keyboard?.end()
    }
}
