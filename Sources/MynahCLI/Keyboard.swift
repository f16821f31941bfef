// A source is made and ended from any thread; only its type does not say so.
@preconcurrency import Dispatch
import MynahEmulator
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The keys of the terminal that a run was started on, wherever its output goes.
final class Keyboard: Sendable {
    private struct State {
        var digits = ""
        var onPasskey: [@Sendable (UInt32) -> Void] = []
        var onTransition: (@Sendable (AppTransition) -> Void)?
        var onKey: (@Sendable () -> Void)?
        var onInput: (@Sendable ([UInt8]) -> Void)?
    }

    private let state = Lock(State())
    private let keys: any DispatchSourceRead
    private let saved: termios
    private let isEnded = Lock(false)

    /// Nil: standard input is no terminal, or one that another job has now.
    ///
    /// `isForLines`: nothing is read before `onInput` is called, so that nothing which was typed early is lost.
    init?(queue: DispatchQueue = DispatchQueue(label: "mynah.keys"), isForLines: Bool = false) {
        guard isatty(0) == 1 else { return nil }
        guard Self.isInForeground else { return nil }
        var settings = termios()
        guard tcgetattr(0, &settings) == 0 else { return nil }
        saved = settings
        Self.takeKeys(settings)
        keys = DispatchSource.makeReadSource(fileDescriptor: 0, queue: queue)
        keys.setEventHandler { [weak self] in self?.read() }
        if !isForLines { keys.activate() }
    }

    /// The digits that were typed and not yet entered.
    var digits: String { state.withLock { $0.digits } }

    /// Hears a number that was typed and entered, as others do: only who has asked for one takes it.
    func onPasskey(_ handler: @escaping @Sendable (UInt32) -> Void) {
        state.withLock { $0.onPasskey.append(handler) }
    }

    /// Hears the keys of an app's life.
    func onTransition(_ handler: @escaping @Sendable (AppTransition) -> Void) {
        state.withLock { $0.onTransition = handler }
    }

    /// Hears that something was typed.
    func onKey(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onKey = handler }
    }

    /// Hears everything that is typed, as it is, instead of keys.
    func onInput(_ handler: @escaping @Sendable ([UInt8]) -> Void) {
        state.withLock { $0.onInput = handler }
        keys.activate()
    }

    // A job in the background would be stopped for touching the terminal.
    private static var isInForeground: Bool {
        let owner = tcgetpgrp(0)
        return owner == -1 || owner == getpgrp()
    }

    /// Keys come one by one and unseen; Ctrl-C stays a signal.
    private static func takeKeys(_ settings: termios) {
        var settings = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(0, TCSANOW, &settings)
    }

    /// After the process was stopped: has the keys again; false: another job has the terminal, or nobody wants keys any more.
    func takeAgain() -> Bool {
        isEnded.withLock { isEnded in
            guard !isEnded, Self.isInForeground else { return false }
            Self.takeKeys(saved)
            return true
        }
    }

    /// Reads no more, and gives the terminal its settings back.
    func end() {
        isEnded.withLock { $0 = true }
        keys.cancel()
        giveBack()
    }

    /// Gives the terminal its settings back; from any thread.
    func giveBack() {
        var settings = saved
        tcsetattr(0, TCSANOW, &settings)
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(0, &buffer, buffer.count)
        guard count > 0 else { return keys.cancel() }
        if let onInput = state.withLock({ $0.onInput }) { return onInput(Array(buffer[..<count])) }
        for key in Self.plainKeys(buffer[..<count]) { take(key)?() }
        state.withLock { $0.onKey }?()
    }

    private func take(_ key: UInt8) -> (@Sendable () -> Void)? {
        state.withLock { state in
            switch key {
            case UInt8(ascii: "0")...UInt8(ascii: "9") where state.digits.count < 6:
                state.digits.append(Character(Unicode.Scalar(key)))
            case 0x7F, 0x08:
                _ = state.digits.popLast()
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                defer { state.digits = "" }
                guard let number = UInt32(state.digits) else { return nil }
                return { [handlers = state.onPasskey] in for handler in handlers { handler(number) } }
            default:
                guard let transition = Self.transition(of: key), let handler = state.onTransition else {
                    return nil
                }
                return { handler(transition) }
            }
            return nil
        }
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
