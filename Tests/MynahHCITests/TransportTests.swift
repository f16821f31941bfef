import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// The packets that a transport delivered, and the other side of it.
private final class Told: Sendable {
    struct State {
        var packets: [H4Packet] = []
        var ends: [RadioError?] = []
    }
    let state = Lock(State())

    var packets: [H4Packet] { state.withLock { $0.packets } }
    var ends: [RadioError?] { state.withLock { $0.ends } }

    func open(_ transport: any HCITransport) async throws {
        try await transport.open(
            receive: { packet in self.state.withLock { $0.packets.append(packet) } },
            ended: { error in self.state.withLock { $0.ends.append(error) } })
    }

    func end() async throws -> RadioError? {
        try await until("the transport ends") { !ends.isEmpty }
        #expect(ends.count == 1)
        return ends[0]
    }
}

/// The other side of a line: a descriptor, written and read as it comes.
private final class Other: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { systemClose(descriptor) }

    func write(_ hex: String) throws {
        let bytes = try #require(Hex.decode(hex))
        #expect(systemWrite(descriptor, bytes) == bytes.count)
    }

    func read(_ count: Int) async throws -> String {
        var bytes: [UInt8] = []
        try await until("\(count) bytes come") {
            var buffer = [UInt8](repeating: 0, count: count - bytes.count)
            let got = systemRead(descriptor, &buffer)
            if got > 0 { bytes += buffer[..<got] }
            return bytes.count == count
        }
        return Hex.encode(bytes)
    }
}

@Suite(.timeLimit(.minutes(15))) struct TransportTests {
    private let told = Told()

    /// A transport that has connected to a socket of the test, and that socket.
    private func connected() async throws -> (SocketTransport, Other) {
        let listener = try await ListeningSocket.listening(host: "127.0.0.1", port: 0)
        defer { listener.close() }
        let transport = SocketTransport(.tcpClient(host: "localhost", port: try #require(listener.port)))
        try await told.open(transport)
        return (transport, Other(try #require(listener.accept())))
    }

    @Test func `packets come whole, however they are torn, and go as they are`() async throws {
        let (transport, other) = try await connected()
        for byte in ["04", "0E", "04", "01", "03", "0C", "00", "02", "40", "20", "01", "00", "FF04", "1001"] {
            try other.write(byte)
            await Task.yield()
        }
        try other.write("42")
        try await until("three packets come") { told.packets.count == 3 }
        #expect(told.packets.map { Hex.encode($0.bytes) } == ["040E0401030C00", "0240200100FF", "04100142"])
        transport.send(HCICommand(.reset).packet)
        transport.send(H4Packet(.aclData, [0x40, 0, 1, 0, 7]))
        #expect(try await other.read(10) == "01030C00" + "024000010007")
        transport.close()
        #expect(told.ends.isEmpty)
    }

    @Test(arguments: [
        ("", "closed the connection"), ("040E04", "closed the connection in the middle of a packet"),
    ]) func `a controller that goes is told, and can be reached again`(hex: String, message: String)
        async throws
    {
        let (transport, other) = try await connected()
        if !hex.isEmpty { try other.write(hex) }
        shutdown(other.descriptor, Int32(SHUT_RDWR))
        let error = try await told.end()
        #expect(error?.code == .lost && error?.message.hasSuffix(message) == true)
        transport.send(HCICommand(.reset).packet)
        guard case .tcpClient(_, let port) = transport.address else { return }
        await #expect { try await told.open(transport) } throws: { error in
            (error as? RadioError)?.code == .unreachable
                && (error as? RadioError)?.remedy == "start the controller first"
        }
        let again = try await ListeningSocket.listening(host: "127.0.0.1", port: port)
        defer { again.close() }
        try await told.open(transport)
        let accepted = Other(try #require(again.accept()))
        transport.send(HCICommand(.reset).packet)
        #expect(try await accepted.read(4) == "01030C00")
        await #expect(throws: RadioError.self) { try await told.open(transport) }
        transport.close()
    }

    @Test func `a server says where a controller may connect, with the port that was free`() async throws {
        let places = Lock<[String]>([])
        let address = try HCITransportAddress(parsing: "tcp-server:0")
        let transport = SocketTransport(address) { place in places.withLock { $0.append(place) } }
        let opening = Task { try await told.open(transport) }
        try await until("the transport says where it waits") { places.withLock { !$0.isEmpty } }
        let port = try #require(transport.port)
        #expect(port > 0)
        #expect(places.withLock { $0 } == ["127.0.0.1:\(port)"])
        let client = SocketTransport(.tcpClient(host: "127.0.0.1", port: port)) { place in
            places.withLock { $0.append(place) }
        }
        try await Told().open(client)
        try await opening.value
        // A client listens nowhere.
        #expect(places.withLock { $0.count } == 1)
        client.close()
        transport.close()
    }

    @Test func `a byte that does not begin an H4 packet ends the transport, and is reported`() async throws {
        let (transport, other) = try await connected()
        try other.write("040E0401030C00" + "47455420")
        let error = try await told.end()
        transport.close()
        #expect(error?.code == .protocolViolation && error?.message.contains("sent 0x47") == true)
    }

    @Test func `a controller that does not read holds nobody up, and is given up`() async throws {
        let (transport, other) = try await connected()
        let packet = H4Packet(.aclData, [0x40, 0, 0, 0x40] + [UInt8](repeating: 0, count: 0x4000))
        var count = 0
        while told.ends.isEmpty, count < 20000 {
            transport.send(packet)
            count += 1
            await Task.yield()
        }
        let error = try await told.end()
        #expect(error?.code == .lost && error?.message.hasSuffix("does not read its packets") == true)
        #expect(other.descriptor >= 0)
    }

    @Test func `an end that only writing meets is told`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Descriptor.stream, 0, &ends) == 0)
        let other = Other(ends[1])
        Descriptor.prepare(ends[0])
        let receiver = PacketReceiver(
            receive: { _ in }, ended: { [told] error in told.state.withLock { $0.ends.append(error) } })
        let line = PacketLine(ends[0], .socket, other: "the controller", receiver)
        line.start()
        // It will not read any more, and says nothing.
        #expect(shutdown(other.descriptor, Int32(SHUT_RD)) == 0)
        line.send(H4Packet(.command, [0x03, 0x0C, 0x00]))
        #expect(try await told.end() == RadioError(.lost, "the controller closed the connection"))
        line.close()
    }

    @Test func `a server waits for its controller, takes one, and can wait again`() async throws {
        let transport = SocketTransport(.tcpServer(host: "127.0.0.1", port: 0))
        for round in 1...2 {
            let opened = Task { try await told.open(transport) }
            try await until("the transport listens on a port") { transport.port != nil }
            let client = SocketTransport(.tcpClient(host: "127.0.0.1", port: transport.port ?? 0))
            let heard = Told()
            try await heard.open(client)
            try await opened.value
            // It has its controller, and listens for no other.
            #expect(transport.port == nil)
            client.send(H4Packet(.event, [0x10, 1, 5]))
            try await until("\(round) packets have come") { told.packets.count == round }
            transport.send(HCICommand(.reset).packet)
            try await until("the other side has the reset") { heard.packets == [HCICommand(.reset).packet] }
            client.close()
            try await until("\(round) connections have ended") { told.ends.count == round }
        }
        #expect(told.packets == Array(repeating: H4Packet(.event, [0x10, 1, 5]), count: 2))
        #expect(told.ends.map { $0?.code } == [.lost, .lost])
    }

    @Test func `waiting for a controller can be cancelled`() async throws {
        let transport = SocketTransport(.tcpServer(host: "127.0.0.1", port: 0))
        let opened = Task { try await told.open(transport) }
        try await until("the transport listens on a port") { transport.port != nil }
        await #expect { try await Told().open(transport) } throws: {
            ($0 as? RadioError)?.code == .invalidState
        }
        transport.close()
        await #expect { try await opened.value } throws: { ($0 as? RadioError)?.code == .lost }
        let task = Task { try await told.open(transport) }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? RadioError)?.code == .lost }
        #expect(told.ends.isEmpty)
    }

    @Test func `a port or a path in use is said to be`() async throws {
        let first = try await ListeningSocket.listening(host: "127.0.0.1", port: 0)
        defer { first.close() }
        let port = try #require(first.port)
        await #expect {
            try await told.open(SocketTransport(.tcpServer(host: "127.0.0.1", port: port)))
        } throws: {
            ($0 as? RadioError)?.message == "the port \(port) is in use"
        }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/hci"
        let dead = try await ListeningSocket.listening(path: path)
        systemClose(dead.descriptor)
        // A child that another test starts just now has it open too, until it runs its program.
        var taken: ListeningSocket?
        try await until("the path is free for another listener") {
            taken = try? await ListeningSocket.listening(path: path)
            return taken != nil
        }
        let second = try #require(taken)
        await #expect { try await told.open(SocketTransport(.unixServer(path: path))) } throws: {
            ($0 as? RadioError)?.message == "\(path) is in use"
        }
        second.close()
        await #expect { try await told.open(SocketTransport(.unixClient(path: path))) } throws: {
            ($0 as? RadioError)?.code == .unreachable
        }
        await #expect(throws: RadioError.self) {
            try await told.open(SocketTransport(.tcpClient(host: "no.such.host.invalid", port: 1)))
        }
    }

    @Test func `a terminal passes every byte, and its other end's end is told`() async throws {
        let other = Other(systemOpen("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC))
        // <asm/ioctls.h>, whose macros Swift does not import: unlock it, and get its number.
        let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var no: Int32 = 0
        var number: Int32 = -1
        #expect(ioctl(other.descriptor, unlock, &no) == 0 && ioctl(other.descriptor, getNumber, &number) == 0)
        let name = "/dev/pts/\(number)"
        let transport = SocketTransport(.serial(path: name, baud: nil))
        try await told.open(transport)
        // Line ends, interrupts, flow control, deletion: a terminal that is not raw would do something.
        try other.write("04 FF 0A 0A0D03111304 7F1A1C00")
        try await until("one packet comes") { told.packets.count == 1 }
        #expect(told.packets.map { Hex.encode($0.body) } == ["FF0A0A0D031113047F1A1C00"])
        transport.send(H4Packet(.command, [0x0A, 0x0D, 3, 0x03, 0x11, 0x0A]))
        #expect(try await other.read(7) == "010A0D0303110A")
        transport.close()
        let again = Told()
        try await again.open(transport)
        shut(other)
        #expect(try await again.end()?.code == .lost)
    }

    private func shut(_ other: Other) {
        let null = systemOpen("/dev/null", O_RDONLY)
        dup2(null, other.descriptor)
        systemClose(null)
    }

    @Test func `a file that is not a serial line is refused`() async {
        for (path, part) in [
            ("/dev/null", "is not a serial device or terminal"), ("/nonexistent/tty", "cannot be opened"),
        ] {
            await #expect {
                try await told.open(SocketTransport(.serial(path: path, baud: 115200)))
            } throws: {
                ($0 as? RadioError)?.message.contains(part) == true
            }
        }
    }

    @Test(arguments: [
        (EBUSY, RadioError.Code.unreachable, "in use"), (EPERM, .notPermitted, "root"),
        (ENODEV, .noAdapter, "no adapter hci7"), (EAFNOSUPPORT, .noAdapter, "no Bluetooth"),
        (ERFKILL, .blocked, "blocked"), (EIO, .unreachable, "cannot be opened"),
    ]) func `the reason why a user channel cannot be opened is reported in words`(
        number: Int32, code: RadioError.Code, part: String
    ) {
        let error = UserChannel.trouble(SystemError(number), 7)
        #expect(error.code == code && error.message.contains(part))
    }

    @Test func `an adapter that is not there is not taken`() async {
        await #expect(throws: RadioError.self) { try await told.open(SocketTransport(.userChannel(0xFFF0))) }
    }
}
