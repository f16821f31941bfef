import Glibc
import MynahCore
import MynahSupport

/// An open file descriptor on which H4 packets are exchanged with one peer.
final class PacketLine: Sendable {
    /// The kind of file.
    enum Kind: Sendable {
        case socket
        /// A terminal, which reports an error when the peer has closed it.
        case terminal
        /// An adapter of the kernel, which accepts no packets while it is down.
        case adapter
    }

    /// The limits for a line, so that a peer cannot use much memory or time.
    struct Limits: Sendable {
        /// The largest number of bytes that wait for a peer that does not read.
        var unsent = PacketLine.limit
        /// The largest number of bytes of one read.
        var reading = 1 << 17
        /// The rules for a peer that is a host, or `nil` for a peer without rules.
        var rules: HostRules?
        /// The time limit from the first to the last byte of a packet, or `nil` for no limit.
        var patience: Duration?
        /// The clock of `patience`.
        var clock = RunClock.real

        /// The limits for a host on a socket.
        static func host(_ clock: RunClock) -> Limits {
            Limits(
                unsent: 1 << 18, reading: 1 << 12, rules: HostRules(), patience: .seconds(10), clock: clock)
        }
    }

    private struct State {
        var descriptor: Int32
        var watch: EventLoop.Watch?
        var decoder = H4Decoder()
        /// The packets that could not be sent yet.
        ///
        /// Each packet is sent with one write, as the kernel's user channel requires.
        var waiting: [[UInt8]] = []
        /// The number of bytes of the first packet that were already sent.
        var gone = 0
        var size = 0
        var rules: HostRules?
        /// The number of incomplete packets so far, which tells the timer whether the last one is still
        /// incomplete.
        var part = 0
        /// `true` while the timer for incomplete packets is running.
        var isTimed = false
    }

    private let state: Lock<State>
    private let kind: Kind
    private let limits: Limits
    private let other: String
    private let receiver: PacketReceiver

    /// The most bytes that may be queued for a peer that does not read.
    static let limit = 1 << 20

    /// Makes a line that does not read yet; `other` is the peer's name for messages.
    init(
        _ descriptor: Int32, _ kind: Kind, other: String, limits: Limits = Limits(),
        _ receiver: PacketReceiver
    ) {
        state = Lock(State(descriptor: descriptor, rules: limits.rules))
        self.limits = limits
        self.kind = kind
        self.other = other
        self.receiver = receiver
    }

    deinit { close() }

    /// Begins to read.
    func start() {
        state.withLock { state in
            guard state.descriptor >= 0, state.watch == nil else { return }
            state.watch = EventLoop.shared.watch(state.descriptor, .reading) { [weak self] ready in
                if ready.contains(.writing) { self?.goOn() }
                if ready.contains(.reading) { self?.read() }
            }
        }
    }

    /// Closes the line; the receiver is not called any more.
    func close() {
        state.withLock { Self.shut(&$0) }
        receiver.close()
    }

    private static func shut(_ state: inout State) {
        guard state.descriptor >= 0 else { return }
        if let watch = state.watch { EventLoop.shared.remove(watch) }
        systemClose(state.descriptor)
        state.descriptor = -1
        state.watch = nil
        state.waiting = []
        state.size = 0
    }

    // MARK: - Reading

    private func read() {
        var buffer = [UInt8](repeating: 0, count: limits.reading)
        let (packets, error) = state.withLock { state -> ([H4Packet], RadioError?) in
            guard state.descriptor >= 0 else { return ([], nil) }
            switch receive(state.descriptor, &buffer) {
            case .blocked: return ([], nil)
            case .moved(let count):
                do throws(H4Decoder.Lost) {
                    let packets = try state.decoder.decode(buffer[..<count])
                    if let breach = state.rules?.check(packets, isLast: count < buffer.count) {
                        Self.shut(&state)
                        return (
                            [],
                            RadioError(
                                .protocolViolation, "\(other) \(breach.text)", reason: breach.reason.code)
                        )
                    }
                    time(&state, isNew: !packets.isEmpty)
                    return (packets, nil)
                } catch {
                    Self.shut(&state)
                    return (
                        [],
                        RadioError(
                            .protocolViolation,
                            """
                            \(other) sent 0x\(Hex.encode([error.byte])) at the beginning of a packet: it \
                            does not speak H4, or a byte was lost
                            """
                        )
                    )
                }
            case .ended:
                let isAmid = state.decoder.pending > 0
                Self.shut(&state)
                return (
                    [],
                    RadioError(
                        .lost, "\(other) closed the connection\(isAmid ? " in the middle of a packet" : "")")
                )
            case .failed(let number):
                Self.shut(&state)
                return ([], gone(number))
            }
        }
        for packet in packets { receiver.tell(packet) }
        if let error { receiver.end(error) }
    }

    /// Begins to time an incomplete packet; `isNew` is `true` if the packet before it was just completed.
    ///
    /// There is only one timer. When it fires and another packet has begun in the meantime, it is set again
    /// for that packet.
    private func time(_ state: inout State, isNew: Bool) {
        guard let patience = limits.patience, state.decoder.pending > 0 else { return }
        if isNew || !state.isTimed { state.part += 1 }
        guard !state.isTimed else { return }
        state.isTimed = true
        let part = state.part
        limits.clock.after(patience) { [weak self] in self?.timePassed(part) }
    }

    private func timePassed(_ part: Int) {
        let isOverdue = state.withLock { state in
            state.isTimed = false
            guard state.descriptor >= 0, state.decoder.pending > 0 else { return false }
            guard state.part != part else { return true }
            time(&state, isNew: false)
            return false
        }
        guard isOverdue, let patience = limits.patience else { return }
        let seconds = patience.components.seconds
        giveUp(
            RadioError(
                .timedOut, "\(other) sent no more than a part of a packet for \(seconds) s",
                reason: HCIStatus.connectionTimeout.code))
    }

    private func receive(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Descriptor.Outcome {
        let outcome = Descriptor.outcome(systemRead(descriptor, &buffer), endsAtZero: true)
        // The other side of a pseudo-terminal was closed.
        if kind == .terminal, outcome == .failed(EIO) { return .ended }
        return outcome
    }

    // MARK: - Writing

    private enum Written {
        /// This number of bytes was written; if some are left, the descriptor cannot accept them yet.
        case bytes(Int)
        case trouble(RadioError)
    }

    /// Sends a packet, or queues it until the descriptor accepts it.
    func send(_ packet: H4Packet) {
        let bytes = packet.bytes
        let trouble = state.withLock { state -> RadioError? in
            guard state.descriptor >= 0 else { return nil }
            state.rules?.note(packet)
            guard state.waiting.isEmpty else {
                guard state.size + bytes.count <= limits.unsent else {
                    return RadioError(
                        .lost, "\(other) does not read its packets",
                        reason: HCIStatus.memoryCapacityExceeded.code)
                }
                state.waiting.append(bytes)
                state.size += bytes.count
                return nil
            }
            switch write(bytes, to: state.descriptor) {
            case .bytes(bytes.count): return nil
            case .bytes(let count):
                state.waiting.append(bytes)
                state.gone = count
                state.size = bytes.count
                if let watch = state.watch { EventLoop.shared.change(watch, [.reading, .writing]) }
                return nil
            case .trouble(let error): return error
            }
        }
        guard let trouble else { return }
        // Not in this call, because the sender may be inside a call of the receiver.
        EventLoop.shared.perform { [weak self] in self?.giveUp(trouble) }
    }

    private func gone(_ number: Int32) -> RadioError {
        RadioError(.lost, "\(other) is gone: \(SystemError(number))")
    }

    /// Reads the bytes that came before an error, because they may explain the error, and closes the line.
    ///
    /// The kernel reports an error only once, perhaps to a write, and a later read would wait forever.
    private func giveUp(_ error: RadioError) {
        read()
        let wasOpen = state.withLock { state in
            defer { Self.shut(&state) }
            return state.descriptor >= 0
        }
        if wasOpen { receiver.end(error) }
    }

    private func goOn() {
        let trouble = state.withLock { state -> RadioError? in
            var done = 0
            defer {
                state.waiting.removeFirst(done)
                if state.waiting.isEmpty, let watch = state.watch {
                    EventLoop.shared.change(watch, .reading)
                }
            }
            while done < state.waiting.count, state.descriptor >= 0 {
                let rest = state.gone == 0 ? state.waiting[done] : Array(state.waiting[done][state.gone...])
                switch write(rest, to: state.descriptor) {
                case .bytes(rest.count):
                    state.size -= state.waiting[done].count
                    state.gone = 0
                    done += 1
                case .bytes(let count):
                    state.gone += count
                    return nil
                case .trouble(let error): return error
                }
            }
            return nil
        }
        if let trouble { giveUp(trouble) }
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Written {
        let outcome =
            kind == .socket
            ? Descriptor.send(descriptor, bytes)
            : Descriptor.outcome(systemWrite(descriptor, bytes), endsAtZero: false)
        return switch outcome {
        case .moved(let count): .bytes(count)
        case .blocked: .bytes(0)
        case .ended: .trouble(RadioError(.lost, "\(other) closed the connection"))
        // The packet is for nobody: the host has switched its adapter off.
        case .failed(ENXIO) where kind == .adapter: .bytes(bytes.count)
        case .failed(let number): .trouble(gone(number))
        }
    }
}
