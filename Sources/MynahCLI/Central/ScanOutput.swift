import Mynah
import MynahConsole
import MynahCore
import MynahEmulator
import MynahRun
import MynahSupport

import Glibc

/// The format of a scan's or a connection's results.
enum ScanFormat: String, CaseIterable {
    case text
    case json
}

/// The output of a scan: a table, lines of text, or JSON objects.
final class ScanOutput: CentralManagerSink {
    private enum Kind: Sendable {
        case screen(LiveScreen<ScanModel>)
        case lines(EventOutput, Lock<ScanModel>)
        case objects(EventOutput, Lock<ScanModel>)
    }

    private let kind: Kind
    private let tellsAll: Bool
    private let surroundings: Surroundings
    private let clock: RunClock
    private let heardAny = Lock(false)

    /// Makes an output; if `tellsAll` is `true`, it reports every advertising event, and not only changes.
    ///
    /// `signals` are the signals of the command's own process, or `nil` if the command has none.
    init(
        format: ScanFormat, model: ScanModel, tellsAll: Bool, in surroundings: Surroundings,
        _ clock: RunClock, signals: Signals?
    ) {
        self.tellsAll = tellsAll
        self.surroundings = surroundings
        self.clock = clock
        if format == .json {
            kind = .objects(surroundings.eventOutput(), Lock(model))
        } else if let signals, Descriptor.isScreen, !tellsAll, let keyboard = Keyboard() {
            let screen = LiveScreen(model, keyboard: keyboard)
            signals.looksAfter(screen.use)
            kind = .screen(screen)
        } else {
            kind = .lines(surroundings.eventOutput(), Lock(model))
        }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        switch event {
        case .discovered(let discovery):
            heardAny.withLock { $0 = true }
            show(discovery)
        case .lost(let error):
            surroundings.say("warning: \(error); Mynah waits for it to come back")
        case .stateChanged(.poweredOn):
            if case .screen(let screen) = kind { screen.change { $0.waiting = nil } }
        case .warning(let warning): warn(warning)
        default: break
        }
        return .none
    }

    /// Shows a warning.
    ///
    /// If the radio only waits, for example for a controller, a live screen shows the warning in its title.
    /// All other warnings go to standard error.
    func warn(_ warning: RadioWarning) {
        if warning.isWait, case .screen(let screen) = kind {
            screen.change { $0.waiting = warning.message }
        } else {
            surroundings.say(warning)
        }
    }

    private func show(_ discovery: Discovery) {
        let time = WallTime.now(clock)
        switch kind {
        case .screen(let screen):
            screen.change { model in
                _ = model.note(Sighting(discovery), at: time)
            }
        case .lines(let output, let model):
            guard let text = heard(discovery, time, model, { $0.text(of: $1) }) else { return }
            output.write(Array((text + "\n").utf8))
        case .objects(let output, let model):
            let members = heard(discovery, time, model) { $1.members }
            guard let members else { return }
            let object = JSON.object([.init("time", .string(time.rfc3339))] + members)
            output.write(Array((object.text + "\n").utf8))
        }
    }

    private func heard<Told: Sendable>(
        _ discovery: Discovery, _ time: WallTime, _ model: Lock<ScanModel>,
        _ tell: (ScanModel, HeardDevice) -> Told
    ) -> Told? {
        model.withLock { model in
            let news = model.note(Sighting(discovery), at: time)
            guard let device = tellsAll ? model.devices[ScanModel.Row(discovery.report)] : news,
                model.isWanted(device)
            else { return nil }
            return tell(model, device)
        }
    }

    /// Whether no device was received, not even one that the filter hides.
    var hasHeardNothing: Bool { heardAny.withLock { !$0 } }

    /// The error that ended the output, or `nil` if there is none.
    ///
    /// If the reader has closed the output, this is no error.
    var problem: String? {
        switch kind {
        case .lines(let output, _), .objects(let output, _): output.problem
        case .screen: nil
        }
    }

    /// Restores the terminal, or waits until all output is written.
    func end() {
        switch kind {
        case .screen(let screen): screen.end()
        case .lines(let output, _), .objects(let output, _): output.flush()
        }
    }
}
