import Glibc
import MynahControl
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ListeningSocketTests {
    private func server(_ address: String, token: String? = nil) throws -> HTTPServer {
        var options = ServerRig.patient
        options.token = token
        return HTTPServer(try ControlAddress(address), options: options) { _ in .text("") }
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : nil
    }

    private func expectFailure(
        _ code: ControlError.Code, _ address: String, token: String? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let server = try server(address, token: token)
        let error = await #expect(throws: ControlError.self, sourceLocation: location) {
            try await server.start()
        }
        #expect(error?.code == code, sourceLocation: location)
        await server.stop()
    }

    @Test func `a Unix socket is for its owner alone, and is gone after the end`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mynah.sock"
        let server = try server("unix:\(path)")
        #expect(try await server.start() == .unix(path: path))
        #expect(mode(path) == S_IFSOCK | 0o600)
        #expect(directory.files == ["mynah.sock"])
        let client = try RawConnection(.unix(path: path))
        try await client.send("GET / HTTP/1.1\r\nHost: anything\r\n\r\n")
        #expect(try await client.readResponse().status == 200)
        await server.stop()
        #expect(directory.files == [])
    }

    @Test func `a socket that an ended process left is replaced`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(ListeningSocketTests.bind(descriptor, path) == 0)
        close(descriptor)
        #expect(directory.files == ["s"])
        let server = try server("unix:\(path)")
        #expect(try await server.start() == .unix(path: path))
        #expect(throws: Never.self) { try RawConnection(.unix(path: path)) }
        await server.stop()
        #expect(directory.files == [])
    }

    @Test func `a socket that another process listens on is left alone`() async throws {
        let directory = try TemporaryDirectory()
        let address = "unix:\(directory.path)/s"
        let first = try server(address)
        _ = try await first.start()
        try await expectFailure(.inUse, address)
        let client = try RawConnection(try ControlAddress(address))
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.readResponse().status == 200)
        await first.stop()
        #expect(directory.files == [])
    }

    @Test func `a socket whose queue is full is in use`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(ListeningSocketTests.bind(descriptor, path) == 0)
        #expect(listen(descriptor, 0) == 0)
        let client = try RawConnection(.unix(path: path))
        try await expectFailure(.inUse, "unix:\(path)")
        #expect(directory.files == ["s"])
        _ = client
    }

    @Test func `a file that is not a socket is left alone`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("kept", to: "s")
        try await expectFailure(.inUse, "unix:\(directory.path)/s")
        #expect(try directory.read("s") == "kept")
        let link = directory.path + "/link"
        #expect(symlink(directory.path + "/s", link) == 0)
        try await expectFailure(.inUse, "unix:\(link)")
        #expect(directory.files == ["link", "s"])
    }

    @Test func `a socket that is another's by the end is not removed`() async throws {
        let directory = try TemporaryDirectory()
        let address = "unix:\(directory.path)/s"
        let first = try server(address)
        _ = try await first.start()
        #expect(unlink(directory.path + "/s") == 0)
        let second = try server(address)
        _ = try await second.start()
        await first.stop()
        #expect(directory.files == ["s"])
        await second.stop()
        #expect(directory.files == [])
    }

    @Test func `of servers that start at once for one path, one has it`() async throws {
        let directory = try TemporaryDirectory()
        let address = "unix:\(directory.path)/s"
        for _ in 0..<10 {
            // A leftover, which each of them would like to replace.
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #expect(ListeningSocketTests.bind(descriptor, directory.path + "/s") == 0)
            close(descriptor)
            let servers = try (0..<8).map { _ in try server(address) }
            let started = await withTaskGroup(of: Bool.self) { group in
                for server in servers { group.addTask { (try? await server.start()) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(started == 1)
            #expect(throws: Never.self) { try RawConnection(try ControlAddress(address)) }
            for server in servers { await server.stop() }
            #expect(directory.files == [])
        }
    }

    @Test func `a path that cannot be created is an error`() async throws {
        let directory = try TemporaryDirectory()
        try await expectFailure(.unavailable, "unix:\(directory.path)/missing/s")
        try directory.write("", to: "file")
        try await expectFailure(.unavailable, "unix:\(directory.path)/file/s")
        // /proc takes no sockets from anyone, root included.
        try await expectFailure(.unavailable, "unix:/proc/s")
        if geteuid() != 0 {
            #expect(chmod(directory.path, 0o500) == 0)
            defer { chmod(directory.path, 0o700) }
            try await expectFailure(.notPermitted, "unix:\(directory.path)/s")
        }
    }

    @Test func `a port in use is an error, and a port of 0 becomes a free one`() async throws {
        let first = try server("127.0.0.1:0")
        let address = try await first.start()
        #expect(address.port != 0)
        try await expectFailure(.inUse, "127.0.0.1:\(address.port)")
        let client = try RawConnection(address)
        try await client.send(address.head("GET /"))
        #expect(try await client.readResponse().status == 200)
        await first.stop()
        // Its connections still wait for their end in the system, which must not keep the port.
        let second = try server("127.0.0.1:\(address.port)")
        #expect(try await second.start() == address)
        await second.stop()
    }

    @Test func `an address of another machine is an error`() async throws {
        try await expectFailure(.invalidAddress, "192.0.2.1:0", token: "t")
    }

    @Test func `an address that other machines reach needs a token`() async throws {
        try await expectFailure(.tokenRequired, "0.0.0.0:0")
        let server = try server("0.0.0.0:0", token: "secret")
        let address = try await server.start()
        // Each address that leads here is a name of the server; this one is in no list.
        let client = try RawConnection(try ControlAddress("127.0.0.9:\(address.port)"))
        let request = "GET / HTTP/1.1\r\nHost: 127.0.0.9:\(address.port)\r\n"
        try await client.send(request + "Authorization: Bearer secret\r\n\r\n")
        #expect(try await client.readResponse().status == 200)
        try await client.send(request + "\r\n")
        let refusal = try await client.readResponse()
        #expect(refusal.status == 403)
        #expect(refusal.isProblem)
        #expect(!refusal.body.contains("secret"))
        await server.stop()
    }

    @Test func `a server starts once`() async throws {
        let server = try server("127.0.0.1:0")
        _ = try await server.start()
        await #expect(throws: ControlError.self) { try await server.start() }
        await server.stop()
        await #expect(throws: ControlError.self) { try await server.start() }
    }

    private static func bind(_ descriptor: Int32, _ path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
