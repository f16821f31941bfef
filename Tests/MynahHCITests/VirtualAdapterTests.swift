import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Adapters of this machine, with a socket pair in the place of the kernel's device file, because both keep
/// packets apart.
@Suite(.timeLimit(.minutes(15))) struct VirtualAdapterTests {
    /// The kernel's end.
    private final class Kernel: Sendable {
        let descriptor: Int32
        /// The end of the program.
        let file: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Descriptor.sequencedPackets, 0, &ends) == 0)
            for end in ends { Descriptor.prepare(end) }
            (descriptor, file) = (ends[0], ends[1])
        }

        deinit { systemClose(descriptor) }

        func write(_ hex: String) throws {
            let bytes = try #require(Hex.decode(hex))
            #expect(systemWrite(descriptor, bytes) == bytes.count)
        }

        /// The next packet.
        func read() async throws -> String {
            var packet: [UInt8] = []
            try await until("a packet comes") {
                var buffer = [UInt8](repeating: 0, count: 1024)
                let count = systemRead(descriptor, &buffer)
                if count > 0 { packet = Array(buffer[..<count]) }
                return count > 0
            }
            return Hex.encode(packet)
        }
    }

    private static func server(_ report: @escaping @Sendable (HostReport) -> Void) -> ControllerServer {
        ControllerServer(air: LiveAir(seed: 1), report: report) {
            ControllerConfiguration(address: AirRig.address(UInt8($0)))
        }
    }

    @Test func `an adapter is asked for, named and brought up, packet by packet`() async throws {
        let kernel = try Kernel()
        try kernel.write("FF000300")
        let adapter = try VirtualAdapter(on: kernel.file)
        #expect(adapter.name == "hci3" && adapter.early.isEmpty)
        #expect(try await kernel.read() == "FF00")
        let joined = Mailbox<ServedHost>("adapters that join")
        let server = Self.server { if case .joined(let host) = $0 { joined.put(host) } }
        try server.add(adapter)
        let host = try #require(try await joined.take().first)
        #expect(host.name == "hci3" && host.place == "vhci" && host.isAdapter)
        try kernel.write("01030C00")
        #expect(try await kernel.read() == "040E0401030C00")
        try kernel.write("01091000")
        #expect(try await kernel.read() == "040E0A0109100001000000" + "00C0")
        // The kernel sends as many commands as it likes: its packets are its own business.
        for _ in 0..<100 { try kernel.write("01182000") }
        for _ in 0..<100 { #expect(try await kernel.read().hasPrefix("040E0C0118200")) }
        server.close()
    }

    @Test func `a command that the kernel sends before the name of the adapter is answered`() async throws {
        let kernel = try Kernel()
        try kernel.write("01030C00")
        try kernel.write("FF000000")
        let server = Self.server { _ in }
        try server.add(try VirtualAdapter(on: kernel.file))
        #expect(try await kernel.read() == "FF00")
        #expect(try await kernel.read() == "040E0401030C00")
        server.close()
    }

    @Test func `an adapter that goes is reported`() async throws {
        var kernel: Kernel? = try Kernel()
        try kernel?.write("FF000000")
        let left = Mailbox<RadioError>("adapters that go")
        let server = Self.server { if case .left(_, let error) = $0 { left.put(error) } }
        try server.add(try VirtualAdapter(on: try #require(kernel).file))
        kernel = nil
        #expect(try await left.take().map(\.message) == ["hci0 closed the connection"])
        #expect(server.count == 0)
    }

    @Test(arguments: ["FF00", "AA", "040E0401030C00"]) func `an answer that names no adapter is refused`(
        hex: String
    ) throws {
        let kernel = try Kernel()
        for _ in 0..<20 { try kernel.write(hex) }
        #expect { try VirtualAdapter(on: kernel.file) } throws: {
            ($0 as? RadioError)?.code == .unreachable
        }
        systemClose(kernel.file)
    }

    @Test(arguments: [
        (ENOENT, RadioError.Code.noAdapter, "sudo modprobe hci_vhci"),
        (ENODEV, .noAdapter, "linux-modules-extra-$(uname -r)"),
        (ENXIO, .noAdapter, "sudo modprobe hci_vhci"),
        (EACCES, .notPermitted, "run with sudo"), (EPERM, .notPermitted, "write access to /dev/vhci"),
        (EMFILE, .unreachable, "modprobe"),
    ]) func `an error of the device file says what to do`(
        number: Int32, code: RadioError.Code, remedy: String
    ) {
        let error = VirtualAdapter.trouble(SystemError(number))
        #expect(error.code == code && error.remedy?.contains(remedy) == true)
        #expect(error.message.contains("/dev/vhci"))
    }

    @Test func `a machine without the device file is told of the module`() throws {
        let directory = try TemporaryDirectory()
        #expect { try VirtualAdapter(path: directory.path + "/vhci") } throws: {
            ($0 as? RadioError)?.code == .noAdapter
        }
    }
}
