import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

@Suite(.timeLimit(.minutes(15))) struct NetsimTests {
    // MARK: - Its file

    @Test(
        arguments: [
            ("grpc.port=36227\nweb.port=7681\n", ["grpc.port": 36227, "web.port": 7681]),
            (
                "grpc.port = localhost:8877\r\n\tweb.port\t=\t7682 \r\n",
                ["grpc.port": 8877, "web.port": 7682]
            ),
            ("junk\n=\n=5\ngrpc.port=0\nweb.port=7681\nname=7\n[section]\n\u{0}\u{FFFD}", ["web.port": 7681]),
        ] as [(String, [String: UInt16])])
    func `the file's ports are read`(text: String, ports: [String: UInt16]) throws {
        #expect(try #require(NetsimFile(parsing: text)).ports == ports)
    }

    @Test(arguments: [
        "", "\n\n", "grpc.port=", "grpc.port=65536", "grpc.port=-1", "grpc.port=:", "port=5", "grpc.port",
    ])
    func `a file without a port is none of netsim's`(text: String) {
        #expect(NetsimFile(parsing: text) == nil)
    }

    @Test(
        arguments: [
            ("netsim.ini", 1), ("netsim_2.ini", 2), ("netsim_10.ini", 10), ("netsim_1.ini", nil),
            ("netsim_02.ini", nil), ("netsim_0.ini", nil), ("netsim_.ini", nil), ("netsim_x.ini", nil),
            ("netsim_59135.ini", nil), ("netsim.ini~", nil), ("", nil),
        ] as [(String, Int?)])
    func `the file's name says which instance it is of`(name: String, instance: Int?) {
        #expect(NetsimFile.instance(named: name) == instance)
        if let instance { #expect(NetsimFile.name(instance: instance) == name) }
    }

    // MARK: - The environment

    @Test(
        arguments: [
            ([:], false, ["/tmp"]),
            (
                ["XDG_RUNTIME_DIR": "/run/user/7/", "TMPDIR": "/var/tmp"], false,
                ["/run/user/7", "/var/tmp", "/tmp"]
            ),
            (["XDG_RUNTIME_DIR": "relative", "TMPDIR": "/tmp//"], false, ["/tmp"]),
            (["XDG_RUNTIME_DIR": "", "TMPDIR": ""], false, ["/tmp"]),
            (
                ["XDG_RUNTIME_DIR": "/x", "TMPDIR": "/var/folders/a/", "HOME": "/root"], true,
                ["/var/folders/a", "/root/Library/Caches/TemporaryItems"]
            ),
        ] as [([String: String], Bool, [String])])
    func `the directories where a file may be are searched in this order`(
        variables: [String: String], isMacOS: Bool, directories: [String]
    ) {
        #expect(NetsimEnvironment(variables, isMacOS: isMacOS).directories == directories)
    }

    @Test func `the instance and its port come from the environment, or are the usual ones`() throws {
        let usual = NetsimEnvironment([:])
        #expect(try usual.instance() == nil)
        #expect(try usual.port(instance: 1) == 6402)
        #expect(try usual.port(instance: 3) == 6404)
        #expect(try usual.port(instance: NetsimEnvironment.instances.upperBound) == 65535)
        let named = NetsimEnvironment(["NETSIM_INSTANCE": "2", "NETSIM_HCI_PORT": "7300"])
        #expect(try named.instance() == 2)
        #expect(try named.port(instance: 2) == 7300)
        for text in ["0", "x", "59135", "1 "] {
            let wrong = NetsimEnvironment(["NETSIM_INSTANCE": text])
            #expect(throws: RadioError.self) { try wrong.instance() }
        }
        for text in ["0", "x", "65536"] {
            let wrong = NetsimEnvironment(["NETSIM_HCI_PORT": text])
            #expect(throws: RadioError.self) { try wrong.port(instance: 1) }
        }
    }

    // MARK: - The search

    private func search(
        _ files: [String: NetsimSearch.Entry], listening: Set<UInt16>, _ variables: [String: String] = [:]
    ) -> NetsimSearch {
        let environment = NetsimEnvironment(
            ["XDG_RUNTIME_DIR": "/run/me", "TMPDIR": "/var/tmp"].merging(variables) { $1 }, isMacOS: false)
        return NetsimSearch(
            environment,
            NetsimSearch.Probes(
                names: { directory in
                    files.keys.filter { $0.hasPrefix(directory + "/") }
                        .map { String($0.dropFirst(directory.count + 1)) }
                },
                entry: { files[$0] ?? .none }, listens: { listening.contains($0) }))
    }

    @Test(arguments: ["/run/me", "/var/tmp", "/tmp"])
    func `a live emulator is found in each directory`(directory: String) throws {
        let found = try search(["\(directory)/netsim.ini": .netsim], listening: [6402]).live()
        #expect(found.instance == 1 && found.port == 6402)
        #expect("\(found)" == "netsim instance 1, 127.0.0.1:6402")
        #expect(found.address == .tcpClient(host: "127.0.0.1", port: 6402))
    }

    @Test(
        arguments: [
            ([:], [6402], "no Android emulator is running"),
            (["/tmp/netsim.ini": .other], [6402], "no Android emulator is running"),
            (["/tmp/netsim_2.ini": .netsim], [6402], "no Android emulator is running"),
            (["/tmp/netsim.ini": .foreign], [6402], "/tmp/netsim.ini belongs to another user"),
            (
                ["/var/tmp/netsim.ini": .netsim, "/run/me/netsim.ini": .other], [6403],
                "the emulator of /var/tmp/netsim.ini does not listen on 127.0.0.1:6402"
            ),
        ] as [([String: NetsimSearch.Entry], Set<UInt16>, String)])
    func `auto takes no emulator that is not there, stale or another user's, and says why`(
        files: [String: NetsimSearch.Entry], listening: Set<UInt16>, reason: String
    ) {
        #expect(throws: NetsimSearch.Absence(reason: reason)) {
            try search(files, listening: listening).live()
        }
    }

    @Test func `a wrong variable is a reason too`() {
        let reason = "NETSIM_INSTANCE is \"two\", which is not an instance number"
        #expect(throws: NetsimSearch.Absence(reason: reason)) {
            try search([:], listening: [], ["NETSIM_INSTANCE": "two"]).live()
        }
    }

    @Test func `the first instance that is alive is taken, unless one is named`() throws {
        let files: [String: NetsimSearch.Entry] = [
            "/run/me/netsim.ini": .netsim, "/tmp/netsim_10.ini": .netsim, "/tmp/netsim_3.ini": .netsim,
            "/tmp/netsim_2.ini": .foreign,
        ]
        let listening: Set<UInt16> = [6403, 6404, 6411]
        #expect(try search(files, listening: listening).live().instance == 3)
        #expect(try search(files, listening: listening).place().instance == 3)
        #expect(try search(files, listening: listening).place(instance: 10).port == 6411)
        let named = search(files, listening: listening, ["NETSIM_INSTANCE": "10"])
        #expect(try named.live().instance == 10)
        #expect(try named.place(instance: 3).instance == 3)
        // None is alive: the usual one is waited for.
        #expect(try search(files, listening: []).place().instance == 1)
    }

    @Test func `a port that the environment names is every instance's`() throws {
        let search = search(
            ["/tmp/netsim.ini": .netsim], listening: [7300], ["NETSIM_HCI_PORT": "7300"])
        #expect(try search.live().port == 7300)
    }

    @Test func `the kinds of files in a directory are distinguished, and none blocks the search`() throws {
        let directory = try TemporaryDirectory()
        func entry(_ name: String) -> NetsimSearch.Entry {
            NetsimFiles.entry(at: "\(directory.path)/\(name)")
        }
        try directory.write("grpc.port=1\n", to: "netsim.ini")
        try directory.write("junk", to: "junk")
        #expect(mkfifo("\(directory.path)/fifo", 0o600) == 0)
        #expect(entry("netsim.ini") == .netsim)
        #expect(entry("junk") == .other)
        #expect(entry("fifo") == .other)
        #expect(entry("") == .other)
        #expect(entry("missing") == .none)
        #expect(entry("netsim.ini/x") == .none)
        #expect(Set(NetsimFiles.names(in: directory.path)).isSuperset(of: ["netsim.ini", "junk", "fifo"]))
        #expect(NetsimFiles.names(in: directory.path + "/missing") == [])
    }

    // MARK: - The port

    @Test(arguments: [
        ("0100007F:1902 00000000:0000 0A", true), ("00000000:1902 00000000:0000 0A", true),
        ("0100007F:1902 0100007F:9C40 01", false), ("0100007F:1903 00000000:0000 0A", false),
        ("0200A8C0:1902 00000000:0000 0A", false),
        ("00000000000000000000000000000000:1902 00000000000000000000000000000000:0000 0A", true),
        ("0000000000000000FFFF00000100007F:1902 00000000000000000000000000000000:0000 0A", true),
        ("0000000000000000FFFF000000000000:1902 00000000000000000000000000000000:0000 0A", true),
        ("00000000000000000000000001000000:1902 00000000000000000000000000000000:0000 0A", false),
        ("nonsense:1902 x 0A", false), (":1902", false), ("", false),
    ])
    func `the kernel's table says whether 127.0.0.1 leads to a listener`(row: String, isOpen: Bool) {
        // As in proc(5), on a machine that stores the lowest byte first.
        let table = "  sl  local_address rem_address   st\n   0: \(row) 00000000:00000000 00:00000000\n"
        #expect(LoopbackListeners.listens(on: 6402, in: table) == isOpen)
    }

    @Test func `a port is open while somebody listens, which does not connect`() async throws {
        let listener = try await ListeningSocket.listening(host: "127.0.0.1", port: 0)
        let port = try #require(listener.port)
        #expect(LoopbackListeners.listens(on: port))
        #expect(listener.accept() == nil)
        // Without the kernel's tables it does.
        #expect(LoopbackListeners.accepts(port))
        listener.close()
        #expect(!LoopbackListeners.accepts(port))
        #expect(!LoopbackListeners.listens(on: port))
    }

    // MARK: - The transport

    private func place(_ port: UInt16) -> NetsimPlace {
        NetsimPlace(instance: 1, port: port, directories: ["/run/me", "/tmp"])
    }

    @Test func `an emulator that starts later is waited for, once`() async throws {
        let listener = try await ListeningSocket.listening(host: "127.0.0.1", port: 0)
        defer { listener.close() }
        let port = try #require(listener.port)
        let messages = Lock<[String]>([])
        let looks = Lock(0)
        let transport = NetsimTransport(
            place(port),
            listens: { _ in
                looks.withLock { looks in
                    looks += 1
                    return looks > 3
                }
            }, whenWaiting: { message in messages.withLock { $0.append(message) } }, sleep: { _ in })
        try await transport.open(receive: { _ in }, ended: { _ in })
        defer { transport.close() }
        #expect(looks.withLock { $0 } == 4)
        #expect(
            messages.withLock { $0 } == [
                """
                waiting up to 30 s for an Android emulator (netsim instance 1, 127.0.0.1:\(port)); \
                looked for netsim.ini in /run/me, /tmp
                """
            ])
        // Once it was reached, it is not waited for again.
        transport.close()
        try await transport.open(receive: { _ in }, ended: { _ in })
        #expect(looks.withLock { $0 } == 4)
    }

    @Test func `an emulator that does not start is given up after 30 s, with what to do`() async throws {
        let slept = Lock(Duration.zero)
        let transport = NetsimTransport(
            place(6402), listens: { _ in false }, whenWaiting: { _ in },
            sleep: { duration in slept.withLock { $0 += duration } })
        await #expect {
            try await transport.open(receive: { _ in }, ended: { _ in })
        } throws: { error in
            let error = error as? RadioError
            return error?.code == .unreachable
                && error?.message.contains("within 30 s: nothing listens on 127.0.0.1:6402") == true
                && error?.message.contains("netsim.ini in /run/me, /tmp") == true
                && error?.remedy?.contains("33.1.4") == true
        }
        #expect(slept.withLock { $0 } == .seconds(30))
    }

    @Test func `the waiting ends when the transport is closed`() async throws {
        let waits = Mailbox<Void>("the waits of the transport")
        let transport = NetsimTransport(
            place(6402), listens: { _ in false }, whenWaiting: { _ in waits.put(()) },
            sleep: { _ in try await Task.sleep(for: .seconds(1000)) })
        let opening = Task { try await transport.open(receive: { _ in }, ended: { _ in }) }
        _ = try await waits.take()
        transport.close()
        await #expect { try await opening.value } throws: { ($0 as? RadioError)?.code == .lost }
    }
}
