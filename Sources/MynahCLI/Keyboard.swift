// A source is made and ended from any thread; only its type does not say so.
@preconcurrency import Dispatch
import MynahConsole
import MynahSupport

import Glibc

/// The keyboard of the terminal on which a run was started, independent of the run's output.
final class Keyboard: Sendable {
    private struct State {
        var typed = TypedKeys()
        var passkeys = PasskeyDevices()
        var onAppKey: (@Sendable (AppKey) -> Void)?
        var onKey: (@Sendable () -> Void)?
        var onInput: (@Sendable ([UInt8]) -> Void)?
        var onEnd: (@Sendable () -> Void)?
    }

    /// The use of the keyboard.
    enum Use {
        /// Each key has an effect at once.
        case keys
        /// The program edits lines, key by key.
        case editedLines
        /// The terminal edits lines itself.
        case plainLines
    }

    private enum Reading {
        case notYet
        case on
        /// Another job has the terminal, and reading would stop the process.
        case paused
        case ended
    }

    private let state = Lock(State())
    private let keys: any DispatchSourceRead
    private let saved: termios
    private let use: Use
    private let reading = Lock(Reading.notYet)

    /// Makes a reader of keys; `nil` if standard input is not a terminal, or if another job has the terminal.
    ///
    /// For lines, nothing is read before `onInput` is called, so that early input is not lost.
    init?(for use: Use = .keys) {
        guard isatty(0) == 1 else { return nil }
        guard Self.isInForeground else { return nil }
        var settings = termios()
        guard tcgetattr(0, &settings) == 0 else { return nil }
        saved = settings
        self.use = use
        keys = DispatchSource.makeReadSource(fileDescriptor: 0, queue: DispatchQueue(label: "mynah.keys"))
        takeKeys()
        keys.setEventHandler { [weak self] in self?.read() }
        if use == .keys { begin() }
    }

    private func begin() {
        reading.withLock { reading in
            guard reading == .notYet else { return }
            reading = .on
            keys.activate()
        }
    }

    /// The digits of a passkey that was not entered yet.
    var digits: String { state.withLock { $0.typed.digits } }

    /// Adds a device that may ask for a passkey: while it does, digits belong to the passkey, and `entered`
    /// is called with it.
    func onPasskey(
        of device: ObjectIdentifier, isAsked: @escaping @Sendable () -> Bool,
        entered: @escaping @Sendable (UInt32) -> Void
    ) {
        state.withLock { $0.passkeys.add(device, isAsked: isAsked, entered: entered) }
    }

    /// Removes a device that no longer asks for passkeys.
    func forgetPasskey(of device: ObjectIdentifier) {
        state.withLock { $0.passkeys.remove(device) }
    }

    /// Sets a handler for keys about apps, including digits unless a passkey is asked for.
    func onAppKey(_ handler: @escaping @Sendable (AppKey) -> Void) {
        state.withLock { $0.onAppKey = handler }
    }

    /// Sets a handler that is called for each typed key.
    func onKey(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onKey = handler }
    }

    /// Sets a handler for all typed bytes instead of keys; `onEnd` is called when nothing more can be typed.
    func onInput(_ handler: @escaping @Sendable ([UInt8]) -> Void, onEnd: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.onInput = handler
            state.onEnd = onEnd
        }
        begin()
    }

    // The kernel stops a job in the background that reads from the terminal or changes its settings.
    static var isInForeground: Bool {
        let owner = tcgetpgrp(0)
        return owner == -1 || owner == getpgrp()
    }

    /// Sets the terminal so that each key is received at once and not shown; Ctrl-C stays a signal.
    private func takeKeys() {
        guard use != .plainLines else { return }
        var settings = saved
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(0, TCSANOW, &settings)
    }

    /// Sets the terminal again after the process was stopped; returns whether the process has the terminal.
    ///
    /// Returns `false` if another job has the terminal, or after `end`.
    func takeAgain() -> Bool {
        reading.withLock { reading in
            guard reading != .ended, Self.isInForeground else { return false }
            takeKeys()
            if reading == .paused {
                reading = .on
                keys.resume()
            }
            return true
        }
    }

    /// Stops reading, and restores the settings of the terminal.
    func end() {
        endReading()
        giveBack()
    }

    private func endReading() {
        reading.withLock { reading in
            guard reading != .ended else { return }
            keys.cancel()
            // A source is not let go before it was begun, nor while it is suspended.
            switch reading {
            case .notYet: keys.activate()
            case .paused: keys.resume()
            case .on, .ended: break
            }
            reading = .ended
        }
    }

    /// Restores the settings of the terminal, on any thread.
    ///
    /// A job in the background has restored them already.
    func giveBack() {
        guard use != .plainLines, Self.isInForeground else { return }
        var settings = saved
        tcsetattr(0, TCSANOW, &settings)
    }

    private func read() {
        let isOurs = reading.withLock { reading in
            if reading == .on, !Self.isInForeground {
                reading = .paused
                keys.suspend()
            }
            return reading == .on
        }
        guard isOurs else { return }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(0, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        guard count > 0 else {
            endReading()
            state.withLock { $0.onEnd }?()
            return
        }
        if let onInput = state.withLock({ $0.onInput }) { return onInput(Array(buffer[..<count])) }
        for key in Self.plainKeys(buffer[..<count]) { press(key)?() }
        state.withLock { $0.onKey }?()
    }

    private func press(_ key: UInt8) -> (@Sendable () -> Void)? {
        let isNumberAsked = state.withLock { $0.passkeys }.isNumberAsked
        return state.withLock { state in
            switch state.typed.type(key, isNumberAsked: isNumberAsked) {
            case .number(let number):
                return { [passkeys = state.passkeys] in passkeys.enter(number) }
            case .app(let key):
                guard let handler = state.onAppKey else { return nil }
                return { handler(key) }
            case nil: return nil
            }
        }
    }

    /// The typed keys without escape sequences, such as those of arrow and function keys, which contain
    /// letters and digits.
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
}
