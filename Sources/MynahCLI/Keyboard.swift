// A source can be made and ended on any thread; only its type does not declare that.
@preconcurrency import Dispatch
import MynahConsole
import MynahSupport

import Glibc

/// The keyboard of the terminal at standard input, even if standard output is not a terminal.
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
        /// Another job has the terminal, so that reading would stop the process.
        case paused
        case ended
    }

    private let state = Lock(State())
    private let keys: any DispatchSourceRead
    private let saved: termios
    private let use: Use
    private let reading = Lock(Reading.notYet)

    /// Makes a reader of keys, or returns `nil` if standard input is not a terminal, or if another job has
    /// it.
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

    /// The digits of a passkey that were typed so far.
    var digits: String { state.withLock { $0.typed.digits } }

    /// Adds a device to whose passkey requests the user can type the answer.
    ///
    /// While `isAsked` returns `true`, typed digits form the passkey, and `entered` is called with it.
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

    /// Sets a handler for keys that act on apps, including digits unless a device asks for a passkey.
    func onAppKey(_ handler: @escaping @Sendable (AppKey) -> Void) {
        state.withLock { $0.onAppKey = handler }
    }

    /// Sets a handler that is called for each typed key.
    func onKey(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onKey = handler }
    }

    /// Sets a handler for all typed bytes, which are then not handled as keys.
    ///
    /// `onEnd` is called when nothing more can be typed.
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

    /// Sets the terminal so that each key is received at once and not echoed; Ctrl-C still sends a signal.
    private func takeKeys() {
        guard use != .plainLines else { return }
        var settings = saved
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(0, TCSANOW, &settings)
    }

    /// Prepares the terminal for typed keys again, after the process was stopped and continued.
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
            // Dispatch does not release a source that was never activated, or that is suspended.
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
    /// Does nothing in the background, because a job there has already restored them.
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

    /// Returns the typed keys without escape sequences.
    ///
    /// The sequences of arrow and function keys contain letters and digits.
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
