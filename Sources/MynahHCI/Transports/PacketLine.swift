#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MynahCore
import MynahSupport

/// An open descriptor through which packets go as H4 has them, to and from one other side.
final class PacketLine: Sendable {
    /// What is behind the descriptor.
    enum Kind: Sendable {
        case socket
        /// A terminal: the end of the other side is an error there.
        case terminal
    }

    private struct State {
        var descriptor: Int32
        var watch: EventLoop.Watch?
        var decoder = H4Decoder()
        /// What the other side had no room for; each is written whole, as the kernel's user channel wants it.
        var waiting: [[UInt8]] = []
        /// How much of the first has gone.
        var gone = 0
        var size = 0
    }

    private let state: Lock<State>
    private let kind: Kind
    private let other: String
    private let receiver: PacketReceiver

    /// As much as waits for a side that does not read.
    static let limit = 1 << 20
    /// The longest packet, and a bit.
    private static let room = 1 << 17

    /// A line that does not read yet; `other` is what the other side is called.
    init(_ descriptor: Int32, _ kind: Kind, other: String, _ receiver: PacketReceiver) {
        state = Lock(State(descriptor: descriptor))
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

    /// Ends it; nothing is told any more.
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
        var buffer = [UInt8](repeating: 0, count: Self.room)
        let (packets, error) = state.withLock { state -> ([H4Packet], RadioError?) in
            guard state.descriptor >= 0 else { return ([], nil) }
            switch receive(state.descriptor, &buffer) {
            case .blocked: return ([], nil)
            case .moved(let count):
                do throws(H4Decoder.Lost) {
                    return (try state.decoder.take(buffer[..<count]), nil)
                } catch {
                    Self.shut(&state)
                    return (
                        [],
                        RadioError(
                            .protocolViolation,
                            "\(other) sent 0x\(Hex.encode([error.byte])) where a packet begins: it speaks no H4, or lost a byte"
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
                return ([], RadioError(.lost, "\(other) is gone: \(SystemError(number))"))
            }
        }
        for packet in packets { receiver.tell(packet) }
        if let error { receiver.end(error) }
    }

    private func receive(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Descriptor.Outcome {
        let outcome = Descriptor.outcome(systemRead(descriptor, &buffer), endsAtZero: true)
        // The other end of a pseudo-terminal was closed.
        if kind == .terminal, outcome == .failed(EIO) { return .ended }
        return outcome
    }

    // MARK: - Writing

    /// Sends a packet, or keeps it until there is room.
    func send(_ packet: H4Packet) {
        let bytes = packet.bytes
        let isTooMuch = state.withLock { state -> Bool in
            guard state.descriptor >= 0 else { return false }
            guard state.waiting.isEmpty else {
                guard state.size + bytes.count <= Self.limit else { return true }
                state.waiting.append(bytes)
                state.size += bytes.count
                return false
            }
            let count = write(bytes, to: state.descriptor)
            guard count < bytes.count else { return false }
            state.waiting.append(bytes)
            state.gone = count
            state.size = bytes.count
            if let watch = state.watch { EventLoop.shared.change(watch, [.reading, .writing]) }
            return false
        }
        guard isTooMuch else { return }
        // Not in this call: who sends may be being told something.
        EventLoop.shared.perform { [weak self] in self?.giveUp() }
    }

    private func giveUp() {
        let wasOpen = state.withLock { state in
            defer { Self.shut(&state) }
            return state.descriptor >= 0
        }
        guard wasOpen else { return }
        receiver.end(RadioError(.lost, "\(other) does not take what is sent to it"))
    }

    private func goOn() {
        state.withLock { state in
            var done = 0
            while done < state.waiting.count, state.descriptor >= 0 {
                let rest = state.gone == 0 ? state.waiting[done] : Array(state.waiting[done][state.gone...])
                let count = write(rest, to: state.descriptor)
                guard count == rest.count else {
                    state.gone += count
                    break
                }
                state.size -= state.waiting[done].count
                state.gone = 0
                done += 1
            }
            state.waiting.removeFirst(done)
            if state.waiting.isEmpty, let watch = state.watch { EventLoop.shared.change(watch, .reading) }
        }
    }

    /// How many bytes went; what is wrong with a line is found by reading.
    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
        let outcome =
            kind == .socket
            ? Descriptor.send(descriptor, bytes)
            : Descriptor.outcome(systemWrite(descriptor, bytes), endsAtZero: false)
        if case .moved(let count) = outcome { return count }
        return outcome == .blocked ? 0 : bytes.count
    }
}
