import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Facts about controllers, adapters and the air, without opening them.
@Suite(.timeLimit(.minutes(15))) struct OutlookTests {
    // MARK: - The kernel's management channel

    /// The event Command Complete of Read Controller Information, with these settings.
    private func answer(
        event: UInt16 = ManagementChannel.commandComplete, index: UInt16 = 0, status: UInt8 = 0,
        supported: UInt32, current: UInt32
    ) -> [UInt8] {
        func little(_ number: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        return little(UInt32(event), 2) + little(UInt32(index), 2) + little(283, 2) + little(4, 2) + [status]
            + [1, 2, 3, 4, 5, 6, 9] + little(2, 2) + little(supported, 4) + little(current, 4)
            + [UInt8](repeating: 0, count: 263)
    }

    private let lowEnergy: UInt32 = 1 << 9

    @Test func `an adapter's settings are the bits of the kernel's answer`() throws {
        let on = try ManagementChannel.settings(
            in: answer(supported: lowEnergy | 1, current: lowEnergy | 1)[...], of: 0)
        #expect(on == .init(isPowered: true, supportsLE: true, isLEOn: true))
        let classic = try ManagementChannel.settings(in: answer(supported: 0xFF, current: 0x80)[...], of: 0)
        #expect(classic == .init(isPowered: false, supportsLE: false, isLEOn: false))
        let off = try ManagementChannel.settings(in: answer(supported: lowEnergy, current: 1)[...], of: 0)
        #expect(off == .init(isPowered: true, supportsLE: true, isLEOn: false))
    }

    @Test func `events of others are passed over`() throws {
        let other = answer(index: 1, supported: 0, current: 0)
        #expect(try ManagementChannel.settings(in: other[...], of: 0) == nil)
        #expect(
            try ManagementChannel.settings(in: answer(event: 6, supported: 0, current: 0)[...], of: 0) == nil)
        for count in 0..<9 {
            #expect(
                try ManagementChannel.settings(in: answer(supported: 0, current: 0)[..<count], of: 0) == nil)
        }
    }

    @Test func `an answer that refuses, or is too short, is a problem`() throws {
        #expect(throws: ManagementChannel.Problem.self) {
            try ManagementChannel.settings(in: answer(status: 0x11, supported: 0, current: 0)[...], of: 0)
        }
        for count in 9..<26 {
            #expect(throws: ManagementChannel.Problem.self) {
                try ManagementChannel.settings(in: answer(supported: 0, current: 0)[..<count], of: 0)
            }
        }
    }

    @Test func `the command is in little-endian order`() {
        #expect(
            ManagementChannel.command(ManagementChannel.readControllerInformation, of: 0x0102)
                == [4, 0, 2, 1, 0, 0])
    }

    // MARK: - Controllers

    private func outlook(_ text: String) throws -> ControllerOutlook {
        ControllerOutlook(try HCITransportAddress(parsing: text), mayTakeAdapters: false)
    }

    /// The error that keeps a controller from being opened.
    private func error(_ text: String) throws -> RadioError {
        let outlook = try outlook(text)
        guard case .failed(let error) = outlook else {
            throw RadioError(.invalidState, "\(text) is \(outlook)")
        }
        return error
    }

    @Test func `a socket is a controller while a process has it, which does not notice the question`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/hci"
        #expect(try error("unix:\(path)").message.contains("No such file"))
        try directory.write("", to: "file")
        for other in [directory.path, directory.path + "/file"] {
            #expect(try error("unix:\(other)").message == "\(other) is not a socket")
        }
        let listener = try await ListeningSocket.listening(path: path)
        #expect(try outlook("unix:\(path)") == .open)
        #expect(listener.accept() == nil)
        // A process that the system starts just now for another test would have it open too.
        #expect(shutdown(listener.descriptor, Int32(SHUT_RDWR)) == 0)
        listener.close()
        #expect(try error("unix:\(path)").remedy == "start the controller first")
        let long = directory.path + "/" + String(repeating: "x", count: 108)
        #expect(try error("unix:\(long)").message.contains("too long"))
    }

    @Test(arguments: [Descriptor.datagrams, Descriptor.sequencedPackets])
    func `a socket of another type is no controller, and does not notice the question`(type: Int32) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/other"
        let other = try Descriptor.socket(AF_UNIX, type).get()
        defer { systemClose(other) }
        #expect(SocketAddress(path: path)?.with { systemBind(other, $0, $1) } == 0)
        if type == Descriptor.sequencedPackets { #expect(systemListen(other) == 0) }
        let wrong = try error("unix:\(path)")
        #expect(wrong.message.contains(SystemError(EPROTOTYPE).description))
        #expect(wrong.remedy?.contains("stream socket") == true)
        #expect(type == Descriptor.datagrams || systemAccept(other) < 0)
    }

    @Test func `a serial device is a terminal, which is not opened`() throws {
        #expect(try outlook("pty:/dev/tty") == .open || access("/dev/tty", R_OK) != 0)
        #expect(try outlook("pty:/dev/ptmx") == .open)
        #expect(try error("serial:/dev/null").message == "/dev/null is not a serial device or terminal")
        #expect(try error("serial:/nonexistent").message.contains("No such file"))
        #expect(try error("serial:/tmp").message == "/tmp is not a serial device or terminal")
    }

    @Test func `terminals are those that the kernel lists`() {
        let drivers = """
            /dev/tty             /dev/tty        5       0 system:/dev/tty
            serial               /dev/ttyS       4 64-67 serial
            pty_slave            /dev/pts      136 0-1048575 pty:slave
            odd                  /dev/odd        9 7-3 odd
            odd
            """
        let devices: [(UInt64, UInt64, Bool)] = [
            (5, 0, true), (5, 1, false), (4, 64, true), (4, 67, true), (4, 68, false), (136, 300, true),
            (1, 3, false), (9, 5, false),
        ]
        for (major, minor, isTerminal) in devices {
            let device = SerialLine.Device(major: major, minor: minor)
            #expect(SerialLine.isTerminal(device, in: drivers) == isTerminal, "\(major):\(minor)")
        }
        // The minor number 300 and the major number 136 as the C library has them.
        let device = SerialLine.Device(dev_t((300 >> 8) << 20 | 136 << 8 | 300 & 0xFF))
        #expect(device.major == 136 && device.minor == 300)
    }

    @Test func `a port of this machine has a listener or not, and another machine is not asked`() async throws
    {
        #expect(try error("tcp-client:127.0.0.1:1").remedy == "start the controller first")
        let listener = try await ListeningSocket.listening(host: "127.0.0.1", port: 0)
        defer { listener.close() }
        let port = try #require(listener.port)
        #expect(try outlook("tcp-client:127.0.0.1:\(port)") == .open)
        #expect(try error("tcp-server:\(port)").message == "the port \(port) is in use")
        #expect(try error("tcp-server:no.such.host.invalid:1").message.contains("is not found"))
        for text in ["tcp-client:192.0.2.1:6402", "tcp-server:0"] {
            guard case .unknown = try outlook(text) else {
                Issue.record("\(text) is not known")
                return
            }
        }
    }

    @Test func `a path to listen on is free, or says why a run could not, and nothing is made there`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/hci"
        let waits = ControllerOutlook.unknown("a run waits until the controller connects")
        #expect(try outlook("unix-server:\(path)") == waits)
        #expect(access(path, F_OK) != 0)
        let listener = try await ListeningSocket.listening(path: path)
        #expect(try error("unix-server:\(path)").message == "\(path) is in use")
        #expect(listener.accept() == nil)
        // A leftover, which a run replaces.
        #expect(shutdown(listener.descriptor, Int32(SHUT_RDWR)) == 0)
        systemClose(listener.descriptor)
        #expect(try outlook("unix-server:\(path)") == waits)
        #expect(access(path, F_OK) == 0)
        let folder = try error("unix-server:\(directory.path)")
        #expect(folder.message == "cannot listen on \(directory.path), which is a directory")
        #expect(folder.remedy == "name a socket in it, as in \(directory.path)/hci")
        let missing = try error("unix-server:\(directory.path)/none/hci")
        #expect(missing.message.contains("No such file"))
        #expect(missing.remedy?.contains("directory") == true)
        let long = directory.path + "/" + String(repeating: "x", count: 108)
        #expect(try error("unix-server:\(long)").message.contains("too long"))
    }

    @Test func `a second server leaves the first one waiting for its controller`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/hci"
        let first = try await ListeningSocket.listening(path: path)
        defer { first.close() }
        await #expect(throws: RadioError.self) { try await ListeningSocket.listening(path: path) }
        #expect(first.accept() == nil)
    }

    @Test func `an adapter that the kernel does not have says what a run says`() throws {
        guard case .failed(let error) = try outlook("user:65000") else {
            Issue.record("there is no hci65000")
            return
        }
        #expect(error.code == .noAdapter)
        #expect(error.remedy != nil)
    }

    // MARK: - The air

    @Test func `an air is judged without making its directory`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/air"
        #expect(AirDirectory(path: path).problem == nil)
        #expect(access(path, F_OK) != 0)
        #expect(AirDirectory(path: "/nonexistent/air").problem?.message.contains("cannot be created") == true)
        mkdir(path, 0o777)
        chmod(path, 0o777)
        #expect(AirDirectory(path: path).problem?.remedy?.contains("chmod go-w") == true)
        chmod(path, 0o700)
        #expect(AirDirectory(path: path).problem == nil)
        let long = String(repeating: "x", count: 108 - 18 - directory.path.utf8.count)
        #expect(AirDirectory(path: directory.path + "/" + long).problem?.message.contains("too long") == true)
        #expect(AirDirectory(path: directory.path + "/" + long.dropLast()).problem == nil)
        rmdir(path)
        let file = try #require(fopen(path, "w"))
        fclose(file)
        #expect(AirDirectory(path: path).problem?.message.contains("is not a directory") == true)
    }
}
