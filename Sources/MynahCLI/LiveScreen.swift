// A source is made and ended from any thread; only its type does not say so.
@preconcurrency import Dispatch
import MynahEmulator
import MynahProfiles
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The screen of a run on a terminal: drawn anew a moment after something happened, and not at all while nothing does.
final class LiveScreen: Sendable {
    private struct State {
        var model: ScreenModel
        var isDrawPlanned = false
        var isEnded = false
        var digits = ""
        var onPasskey: (@Sendable (UInt32) -> Void)?
        var onTransition: (@Sendable (AppTransition) -> Void)?
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "mynah.screen")
    private let keys: any DispatchSourceRead
    private let resizes: any DispatchSourceSignal
    private let saved: termios

    init(profiles: [Profile]) {
        state = Lock(
            State(
                model: ScreenModel(
                    title: profiles.map(\.name).joined(separator: ", "),
                    hasApps: profiles.contains { $0.app != nil })))
        var settings = termios()
        tcgetattr(0, &settings)
        saved = settings
        // Keys come one by one and unseen; Ctrl-C stays a signal.
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(0, TCSANOW, &settings)
        keys = DispatchSource.makeReadSource(fileDescriptor: 0, queue: queue)
        resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: queue)
        Descriptor.write(Array("\u{1B}[?1049h\u{1B}[?25l".utf8), to: 1)
        keys.setEventHandler { [weak self] in self?.readKeys() }
        resizes.setEventHandler { [weak self] in self?.draw() }
        keys.activate()
        resizes.activate()
        planDraw(after: .milliseconds(0))
    }

    func take(_ event: DeviceEvent) {
        let isNew: Bool = state.withLock { state in
            state.model.take(event)
            guard !state.isDrawPlanned, !state.isEnded else { return false }
            state.isDrawPlanned = true
            return true
        }
        if isNew { planDraw(after: .milliseconds(80)) }
    }

    func onPasskey(_ handler: @escaping @Sendable (UInt32) -> Void) {
        state.withLock { $0.onPasskey = handler }
    }

    func onTransition(_ handler: @escaping @Sendable (AppTransition) -> Void) {
        state.withLock { $0.onTransition = handler }
    }

    /// Gives the terminal back and leaves the last lines on it.
    func end() {
        keys.cancel()
        resizes.cancel()
        let last: [String] = state.withLock { state in
            state.isEnded = true
            return state.model.summary
        }
        queue.sync {}
        giveTerminalBack()
        Descriptor.write(Array((last.joined(separator: "\n") + "\n").utf8), to: 1)
    }

    /// Puts the terminal back as it was found.
    func giveTerminalBack() {
        Descriptor.write(Array("\u{1B}[?25h\u{1B}[?1049l".utf8), to: 1)
        var settings = saved
        tcsetattr(0, TCSANOW, &settings)
    }

    private func planDraw(after delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.draw() }
    }

    private func draw() {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        let (width, height) = isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
        let drawing: (lines: [String], again: Bool)? = state.withLock { state in
            state.isDrawPlanned = false
            guard !state.isEnded else { return nil }
            let lines = state.model.lines(width: width, height: height, now: .now(), digits: state.digits)
            // A rate goes down without an event.
            let isMoving = state.model.isMoving(now: .now())
            if isMoving { state.isDrawPlanned = true }
            return (lines, isMoving)
        }
        guard let drawing else { return }
        var text = "\u{1B}[H"
        for (index, line) in drawing.lines.prefix(height).enumerated() {
            text += line + "\u{1B}[K" + (index + 1 < height ? "\r\n" : "")
        }
        text += "\u{1B}[J"
        Descriptor.write(Array(text.utf8), to: 1)
        if drawing.again { planDraw(after: .milliseconds(500)) }
    }

    private func readKeys() {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(0, &buffer, buffer.count)
        guard count > 0 else { return keys.cancel() }
        for key in Self.plainKeys(buffer[..<count]) {
            let action: (@Sendable () -> Void)? = state.withLock { state in
                switch key {
                case UInt8(ascii: "0")...UInt8(ascii: "9") where state.digits.count < 6:
                    state.digits.append(Character(Unicode.Scalar(key)))
                case 0x7F, 0x08:
                    _ = state.digits.popLast()
                case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                    defer { state.digits = "" }
                    guard let number = UInt32(state.digits), let handler = state.onPasskey else { return nil }
                    return { handler(number) }
                default:
                    guard let transition = Self.transition(of: key), let handler = state.onTransition else {
                        return nil
                    }
                    return { handler(transition) }
                }
                return nil
            }
            action?()
        }
        draw()
    }

    /// Without arrows, function keys and what Alt is held to, whose sequences have letters and digits in them.
    private static func plainKeys(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var rest = bytes
        var keys: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == 0x1B else {
                keys.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "["):
                while let next = rest.popFirst(), !(0x40...0x7E).contains(next) {}
            case UInt8(ascii: "O"):
                _ = rest.popFirst()
            default:
                break
            }
        }
        return keys
    }

    private static func transition(of key: UInt8) -> AppTransition? {
        switch key {
        case UInt8(ascii: "f"): .foreground
        case UInt8(ascii: "b"): .background
        case UInt8(ascii: "s"): .suspended
        case UInt8(ascii: "t"): .terminated
        case UInt8(ascii: "q"): .quit
        default: nil
        }
    }
}
