import Glibc
import MynahCore
import MynahHost
import MynahSupport
import MynahTestSupport

@testable import MynahHCI

/// A controller on a socket or a terminal that can be told to misbehave with each connection.
final class IllController: Sendable {
    enum Conduct: Sendable {
        /// A virtual controller on the air.
        case good
        /// Answers nothing.
        case silent
        /// Answers when it is told to, with everything that it owes.
        case late
        /// Answers what is no H4.
        case nonsense
        /// Answers events that make no sense, and none that was asked for.
        case foreignEvents
        /// Answers each command with success, and no return parameters.
        case empty
        /// Closes the connection as soon as it is asked something.
        case closing
        /// Closes it in the middle of its first answer.
        case closingAmid
        /// Knows no command of LE.
        case withoutLE
        /// Refuses every command.
        case refusing
        /// A good one, whose link to a central begins just before it answers the first command that ends
        /// advertising.
        case connectingAmid
    }

    private struct Guest {
        var conduct: Conduct
        /// To write what no packet is.
        var descriptor: Int32
        /// The host's end of a terminal.
        var held: Int32?
        var line: PacketLine
        var controller: VirtualTransport
        var owed: [H4Packet] = []
    }

    private struct State {
        var conducts: [Conduct]
        var guests: [Int: Guest] = [:]
        var last = 0
        var listener: ListeningSocket?
        var watch: EventLoop.Watch?
        var whenAsked: (@Sendable () -> Void)?
        var commands = 0
        var reports = 0
        var advertisingCommands: [HCICommand] = []
        var hasConnected = false
    }

    private let air: LiveAir
    private let address: DeviceAddress
    private let state: Lock<State>

    /// With its first connection it is as the first of these, and so on; with more, as the last.
    init(_ conducts: [Conduct], air: LiveAir = LiveAir(), number: UInt8 = 1) {
        self.air = air
        address =
            DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .public)
            ?? DeviceAddress(value: 0, kind: .public)
        state = Lock(State(conducts: conducts))
    }

    deinit { close() }

    /// Listens on a port that is free, and returns what `--radio` is to say.
    func listen() async throws -> String {
        let listener = try await ListeningSocket.listening(host: "127.0.0.1", port: 0)
        watch(listener)
        return "hci:tcp-client:127.0.0.1:\(listener.port ?? 0)"
    }

    /// Listens on a path.
    func listen(path: String) async throws -> String {
        watch(try await ListeningSocket.listening(path: path))
        return "hci:unix:\(path)"
    }

    private func watch(_ listener: ListeningSocket) {
        state.withLock { state in
            state.listener = listener
            state.watch = EventLoop.shared.watch(listener.descriptor, .reading) { [weak self] _ in
                while let descriptor = self?.state.withLock({ $0.listener?.accept() }) {
                    self?.serve(descriptor, .socket)
                }
            }
        }
    }

    /// Connects to a path where a host waits for a controller.
    ///
    /// Returns `false` if none does yet.
    func connect(path: String) -> Bool {
        guard case .success(let descriptor) = Descriptor.socket(AF_UNIX, Descriptor.stream) else {
            return false
        }
        guard SocketAddress(path: path)?.with({ systemConnect(descriptor, $0, $1) }) == 0 else {
            Glibc.close(descriptor)
            return false
        }
        serve(descriptor, .socket)
        return true
    }

    /// Connects to a port of this machine where a host waits for a controller; false if none does.
    func connect(port: UInt16) async throws -> Bool {
        for address in try await SocketAddress.resolve("127.0.0.1", port) {
            let descriptor = Glibc.socket(address.family, Descriptor.stream, 0)
            guard address.with({ systemConnect(descriptor, $0, $1) }) == 0 else {
                Glibc.close(descriptor)
                continue
            }
            Descriptor.prepare(descriptor)
            serve(descriptor, .socket)
            return true
        }
        return false
    }

    /// Opens a new terminal for it, and returns its path.
    func openTerminal() -> String? {
        let master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // <asm/ioctls.h>, whose macros Swift does not import: unlock it, and get its number.
        let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var no: Int32 = 0
        var number: Int32 = -1
        guard ioctl(master, unlock, &no) == 0, ioctl(master, getNumber, &number) == 0 else { return nil }
        let path = "/dev/pts/\(number)"
        // Raw from the beginning, and held so that the master's first read is no end.
        guard case .success(let held) = Result(catching: { try SerialLine.open(path, baud: nil) }) else {
            return nil
        }
        Descriptor.prepare(master)
        serve(master, .terminal, held: held)
        return path
    }

    private func serve(_ descriptor: Int32, _ kind: PacketLine.Kind, held: Int32? = nil) {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let controller = air.transport(
            ControllerConfiguration(address: address, cipher: ControllerConfiguration.aes))
        let receiver = PacketReceiver(
            receive: { [weak self] in self?.take($0, number) },
            ended: { [weak self] _ in self?.end(number) })
        let line = PacketLine(fcntl(descriptor, F_DUPFD_CLOEXEC, 3), kind, other: "host", receiver)
        state.withLock { state in
            let conduct = state.conducts.count > 1 ? state.conducts.removeFirst() : state.conducts[0]
            state.guests[number] = Guest(
                conduct: conduct, descriptor: descriptor, held: held, line: line, controller: controller)
        }
        _ = controller.switchOn(
            receive: { [weak self] packet in self?.tell(packet, number) }, ended: { _ in })
        line.start()
    }

    // MARK: - What it does

    private func take(_ packet: H4Packet, _ number: Int) {
        let (guest, asked) = state.withLock { state in
            state.commands += 1
            defer { state.whenAsked = nil }
            return (state.guests[number], state.whenAsked)
        }
        asked?()
        guard let guest else { return }
        let opcode = packet.type == .command ? Array(packet.body.prefix(2)) : [0, 0]
        func answer(_ values: [UInt8]) {
            guest.line.send(HCIEvent(HCIEvent.commandComplete, [1] + opcode + values).packet)
        }
        switch guest.conduct {
        case .good, .late: guest.controller.send(packet)
        case .silent: break
        case .nonsense: write([0x77, 1, 2, 3], to: guest)
        case .foreignEvents:
            for body in [
                "0E0101", "0E0401FFFC00", "EE020102", "3E020199", "3E0102", "130101", "0F0400010000",
            ] {
                guest.line.send(H4Packet(.event, Hex.decode(body) ?? []))
            }
        case .empty: answer([0])
        case .closing: end(number)
        case .closingAmid:
            write([0x04, 0x0E, 0x04, 0x01], to: guest)
            end(number)
        case .withoutLE:
            if opcode[1] >> 2 == 0x08 { answer([0x01]) } else { guest.controller.send(packet) }
        case .refusing: answer([0x0C])
        case .connectingAmid:
            if endsAdvertisingFirst(packet) { guest.line.send(Self.connection) }
            guest.controller.send(packet)
        }
    }

    /// LE Connection Complete: a link 0x0040 of a peripheral to F0:F1:F2:F3:F4:F5, every 30 ms.
    private static let connection = HCIEvent(
        HCIEvent.leMeta,
        [0x01, 0x00, 0x40, 0x00, 0x01, 0x00, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x18, 0, 0, 0, 0x48, 0, 0]
    ).packet

    /// Notes a command about advertising; returns whether it is the first that ends it.
    private func endsAdvertisingFirst(_ packet: H4Packet) -> Bool {
        let own: Set<HCIOpcode> = [
            .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetAdvertisingEnable,
        ]
        guard packet.type == .command, let command = HCICommand(packet.body), own.contains(command.opcode)
        else { return false }
        return state.withLock { state in
            state.advertisingCommands.append(command)
            guard command.opcode == .leSetAdvertisingEnable, command.parameters == [0], !state.hasConnected
            else { return false }
            state.hasConnected = true
            return true
        }
    }

    private func tell(_ packet: H4Packet, _ number: Int) {
        let line = state.withLock { state -> PacketLine? in
            // An LE Meta event with advertising reports, legacy or extended.
            if packet.type == .event, packet.body.first == 0x3E, packet.body.count > 2,
                [0x02, 0x0D].contains(packet.body[2])
            {
                state.reports += 1
            }
            if state.guests[number]?.conduct == .late {
                state.guests[number]?.owed.append(packet)
                return nil
            }
            return state.guests[number]?.line
        }
        line?.send(packet)
    }

    private func write(_ bytes: [UInt8], to guest: Guest) {
        _ = Glibc.write(guest.descriptor, bytes, bytes.count)
    }

    private func end(_ number: Int) {
        guard let guest = state.withLock({ $0.guests.removeValue(forKey: number) }) else { return }
        guest.controller.close()
        guest.line.close()
        Glibc.close(guest.descriptor)
        if let held = guest.held { Glibc.close(held) }
    }

    // MARK: - In a test's hands

    /// The commands about advertising that a controller with `connectingAmid` has taken, in order.
    var advertisingCommands: [HCICommand] { state.withLock { $0.advertisingCommands } }

    /// How many events with advertising reports were sent.
    var reports: Int { state.withLock { $0.reports } }

    /// How many connections there are.
    var count: Int { state.withLock { $0.guests.count } }

    /// Runs `body` once when it is asked something, on the thread that reads the question.
    ///
    /// A host gives up after seconds. On a busy machine a test may need longer to have its turn.
    func whenAsked(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.commands == 0 { state.whenAsked = body }
            return state.commands > 0
        }
        if isOver { body() }
    }

    /// Gives what it owes to those that it answers late.
    func payDebts() {
        let all = state.withLock { state in
            defer { for number in state.guests.keys { state.guests[number]?.owed = [] } }
            return state.guests.values.map { $0 }
        }
        for guest in all { for packet in guest.owed { guest.line.send(packet) } }
    }

    /// From now on it is so with connections that there are.
    func become(_ conduct: Conduct) {
        state.withLock { state in for number in state.guests.keys { state.guests[number]?.conduct = conduct }
        }
    }

    /// Says this to all, as it is.
    func say(_ bytes: [UInt8]) {
        for guest in state.withLock({ Array($0.guests.values) }) { write(bytes, to: guest) }
    }

    /// Ends every connection.
    func hangUp() {
        for number in state.withLock({ Array($0.guests.keys) }) { end(number) }
    }

    /// Ends everything.
    func close() {
        let listener = state.withLock { state in
            if let watch = state.watch { EventLoop.shared.remove(watch) }
            defer {
                state.listener = nil
                state.watch = nil
            }
            return state.listener
        }
        listener?.close()
        hangUp()
    }
}
