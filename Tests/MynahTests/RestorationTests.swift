import Glibc
import Mynah
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct RestorationTests {
    static let file = "peripheral+test+com.example.hrm.json"
    /// The file's name in an earlier version.
    static let formerFile = "peripheral-com.example.hrm.json"
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    /// A run that ends as a killed process does: nothing is withdrawn, and only the file is left.
    private func run(publishes: Bool = true, _ body: (AppRig) async throws -> Void = { _ in }) async throws {
        let directory = try StateDirectory(path: temporary.path)
        let rig = try await AppRig(
            restoreIdentifier: "com.example.hrm", directory: directory, publishes: publishes)
        try await body(rig)
        // The lock goes with the process; here with the phone.
        await rig.phone.stop()
    }

    @Test func `services, advertising and subscriptions come back in another process`() async throws {
        try await run { rig in
            await rig.radio.simulate(.connected(rig.peer))
            await rig.radio.simulate(.subscribed(rig.level.key, rig.peer.id, .notification))
        }
        try await run(publishes: false) { rig in
            #expect(rig.code.words == ["launched", "willRestoreState", "foreground", "state poweredOn"])
            let restored = try #require(rig.code.restored.first)
            #expect(restored.services.map(\.uuid) == ["1810"])
            #expect(restored.services[0].characteristics.map(\.value) == [nil, [1, 2]])
            #expect(restored.subscribers.map(\.isLive) == [false])
            #expect(restored.subscribers.map(\.address) == [rig.peer.address])
            // Published and on the air again without the app.
            #expect(await rig.radio.published.flatMap(\.services).map(\.uuid) == ["1810"])
            try await until("the foreground advertisement is on the air") {
                await rig.air == AppTests.foreground
            }
            let key = restored.services[0].characteristics[0].key
            #expect(try await rig.read(key) == .success([7]))
            // Remembered is not live, until it subscribes again.
            let manager = try #require(rig.code.manager)
            #expect(await !manager.hasSubscribers(of: key))
            await rig.radio.simulate(.connected(rig.peer))
            await rig.radio.simulate(.subscribed(key, rig.peer.id, .notification))
            #expect(await manager.hasSubscribers(of: key))
        }
        try await run(publishes: false) { rig in
            #expect(rig.code.restored.first?.subscribers.count == 1)
        }
    }

    @Test func `withdrawn services are not restored`() async throws {
        try await run { rig in
            let manager = try #require(rig.code.manager)
            await manager.stopAdvertising()
            await manager.removeAllServices()
        }
        try await run(publishes: false) { rig in
            #expect(rig.code.restored.isEmpty)
        }
    }

    @Test func `a quit and a forgetting stop leave nothing behind`() async throws {
        try await run { rig in await rig.app.quit() }
        #expect(temporary.files == ["lock"])
        try await run()
        #expect(temporary.files == ["lock", Self.file])
        try await run(publishes: false) { rig in await rig.phone.stop(forgetting: true) }
        #expect(temporary.files == ["lock"])
    }

    @Test(arguments: [
        "", "{", "[]", #"{"mynahState": 2, "restoreIdentifier": "com.example.hrm", "services": []}"#,
        #"{"mynahState": 1, "restoreIdentifier": "another", "services": []}"#,
        #"{"mynahState": 1, "restoreIdentifier": "com.example.hrm", "services": [[{"uuid": "1800"}]]}"#,
        #"{"mynahState": 1, "restoreIdentifier": "com.example.hrm", "services": [[{"uuid": "18"}]]}"#,
        unknownPermission,
    ])
    func `a file that cannot be used is set aside, said and never lost`(text: String) async throws {
        try temporary.write(text, to: Self.file)
        try temporary.write("an older one", to: Self.file + ".unusable-1")
        try await run { rig in
            #expect(rig.code.restored.isEmpty)
            let warnings = rig.sink.phoneEvents.compactMap { event -> String? in
                if case .warning(let warning) = event { warning.message } else { nil }
            }
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains(Self.file + ".unusable-2") == true)
        }
        #expect(try temporary.read(Self.file + ".unusable-2") == text)
        #expect(try temporary.read(Self.file + ".unusable-1") == "an older one")
        #expect(try temporary.read(Self.file).contains("1810"))
    }

    @Test func `a file of an earlier version is read once, and taken over under its new name`() async throws {
        try await run()
        let text = try temporary.read(Self.file)
        #expect(text.contains("\"app\": \"test\""))
        // An earlier version did not write the app's name.
        let former = text.split(separator: "\n").filter { !$0.contains("\"app\"") }.joined(separator: "\n")
        try temporary.write(former, to: Self.formerFile)
        #expect(unlink(temporary.path + "/" + Self.file) == 0)
        try temporary.write("{", to: Self.formerFile + ".new")
        try await run(publishes: false) { rig in
            #expect(rig.code.restored.first?.services.map(\.uuid) == ["1810"])
            #expect(temporary.files.sorted() == ["lock", Self.file].sorted())
        }
        #expect(try temporary.read(Self.file).contains("1810"))
        // With one of the new name it is not looked at.
        try temporary.write("[", to: Self.formerFile)
        try await run(publishes: false) { rig in #expect(rig.code.restored.count == 1) }
        #expect(try temporary.read(Self.formerFile) == "[")
        try await run(publishes: false) { rig in await rig.phone.stop(forgetting: true) }
        #expect(temporary.files.sorted() == ["lock", Self.formerFile])
    }

    @Test(arguments: ["", "{", #"{"mynahState": 1, "restoreIdentifier": "another", "services": []}"#])
    func `a file of an earlier version that cannot be used is set aside`(text: String) async throws {
        try temporary.write(text, to: Self.formerFile)
        try await run { rig in
            #expect(rig.code.restored.isEmpty)
            #expect(rig.sink.phoneEvents.count { if case .warning = $0 { true } else { false } } == 1)
        }
        #expect(try temporary.read(Self.formerFile + ".unusable-1") == text)
        #expect(try temporary.read(Self.file).contains("1810"))
    }

    @Test func `two apps may use one identifier, and each gets back what is its own`() async throws {
        let names = ["a", "a+b", "a%2Bb", "ä b"]
        for isSecond in [false, true] {
            let radio = FakeRadio()
            let phone = Phone(
                radio: radio, identity: DeviceIdentity(name: "iPhone"),
                stateDirectory: try StateDirectory(path: temporary.path))
            try await phone.start()
            var codes: [TestApp] = []
            for name in names {
                codes.append(TestApp(restoreIdentifier: "b"))
                let app = await phone.makeApp(
                    AppDescription(name: name, restoreIdentifiers: ["b"]), delegate: codes[codes.count - 1],
                    clock: ManualClock())
                await app.enterForeground()
            }
            for (index, code) in codes.enumerated() where !isSecond {
                #expect(code.state.withLock { $0.errors } == [])
                let uuid = BluetoothUUID(UInt16(0xFF00 + index))
                // Each was sent to the background by the next, and runs still.
                try await #require(code.manager).add(ServiceDefinition(uuid: uuid, characteristics: []))
            }
            if isSecond {
                #expect(
                    codes.map { $0.restored.flatMap(\.services).map(\.uuid.description) } == [
                        ["FF00"], ["FF01"], ["FF02"], ["FF03"],
                    ])
            }
            await phone.stop(forgetting: isSecond)
            #expect(
                temporary.files.sorted()
                    == (isSecond
                        ? ["lock"]
                        : [
                            "lock", "peripheral+%C3%A4%20b+b.json", "peripheral+a%252Bb+b.json",
                            "peripheral+a%2Bb+b.json", "peripheral+a+b.json",
                        ]))
        }
    }

    @Test func `the state of an app whose name was cut alike is not another's`() async throws {
        try temporary.write(
            #"{"mynahState": 1, "app": "another", "restoreIdentifier": "com.example.hrm", "services": []}"#,
            to: Self.file)
        try await run { rig in
            let warnings = rig.sink.phoneEvents.compactMap { event -> String? in
                if case .warning(let warning) = event { warning.message } else { nil }
            }
            #expect(warnings.first?.contains("it belongs to the app \"another\"") == true)
        }
    }

    @Test func `the user's own launch names no identifiers, and the system's those that it worked for`()
        async throws
    {
        try await run()
        try await run(publishes: false) { rig in
            #expect(rig.code.restored.count == 1)
            #expect(rig.code.state.withLock { $0.options } == [LaunchOptions()])
            let key = try #require(rig.code.restored.first?.services.first?.characteristics.first?.key)
            await rig.app.terminate()
            _ = try await rig.read(key)
            #expect(
                rig.code.state.withLock { $0.options.last }
                    == LaunchOptions(restoreIdentifiers: ["com.example.hrm"], isInBackground: true))
        }
    }

    @Test func `a relaunch names a manager that advertises, has subscribers or got the request`() async throws
    {
        try await run { rig in
            let manager = try #require(rig.code.manager)
            await manager.stopAdvertising()
            let second = try await rig.app.makePeripheralManager(restoreIdentifier: "com.example.second")
            let lamp = CharacteristicDefinition(uuid: "FFE1", properties: [.read])
            _ = try await second.add([ServiceDefinition(uuid: "FFE0", characteristics: [lamp])])
            await rig.app.terminate()
            _ = try await rig.read(lamp.key)
            #expect(
                rig.code.state.withLock { $0.options.last }
                    == LaunchOptions(restoreIdentifiers: ["com.example.second"], isInBackground: true))
            // The services of the other one are restored all the same.
            #expect(rig.code.restored.map { $0.services.map(\.uuid) } == [["1810"]])
        }
    }

    private static let unknownPermission = #"""
        {"mynahState": 1, "restoreIdentifier": "com.example.hrm", "services": [[{"uuid": "1810", \#
        "characteristics": [
        {"uuid": "2A19", "properties": ["read"], "permissions": {"read": "bonded"}}]}]]}
        """#

    @Test func `a permission that is not known is named, and never becomes open`() async throws {
        try temporary.write(Self.unknownPermission, to: Self.file)
        try await run(publishes: false) { rig in
            #expect(await rig.radio.published.isEmpty)
            let warning = rig.sink.phoneEvents.compactMap { event -> RadioWarning? in
                if case .warning(let warning) = event { warning } else { nil }
            }.first
            #expect(warning?.code == "preservedStateUnusable")
            for part in [Self.file, "permissions.read", "2A19", "\"bonded\"", "encrypted"] {
                #expect(warning?.message.contains(part) == true, "\(part) is not in the warning")
            }
        }
    }

    @Test func `a half-written file of a killed process does no harm`() async throws {
        let other = temporary.path + "/other"
        try temporary.write("not mine", to: "other")
        for kind in ["link", "pipe", "half"] {
            let draft = temporary.path + "/" + Self.file + ".new"
            switch kind {
            case "link": #expect(symlink(other, draft) == 0)
            case "pipe": #expect(mkfifo(draft, 0o600) == 0)
            default: try temporary.write("{", to: Self.file + ".new")
            }
            try await run()
            #expect(try temporary.read(Self.file).contains("1810"))
            #expect(temporary.files.sorted() == ["lock", "other", Self.file].sorted())
            #expect(try temporary.read("other") == "not mine")
        }
        try temporary.write("{", to: Self.file + ".new")
        try await run(publishes: false) { rig in await rig.phone.stop(forgetting: true) }
        #expect(temporary.files.sorted() == ["lock", "other"])
    }

    @Test func `a run that publishes nothing leaves nothing to restore`() async throws {
        try await run(publishes: false)
        #expect(temporary.files == ["lock"])
    }

    @Test func `that nothing can be written down is said once`() async throws {
        let draft = temporary.path + "/" + Self.file + ".new"
        #expect(mkdir(draft, 0o700) == 0)
        try await run { rig in
            await rig.radio.simulate(.connected(rig.peer))
            await rig.radio.simulate(.subscribed(rig.level.key, rig.peer.id, .notification))
            func codes() -> [String] {
                rig.sink.phoneEvents.compactMap { event in
                    if case .warning(let warning) = event { warning.code } else { nil }
                }
            }
            // A thread of its own writes, and reports.
            try await until("the failure is reported") { !codes().isEmpty }
            await rig.radio.simulate(.unsubscribed(rig.level.key, rig.peer.id))
            await rig.radio.simulate(.subscribed(rig.level.key, rig.peer.id, .notification))
            // Everything is kept as soon as it can be.
            #expect(rmdir(draft) == 0)
            await rig.radio.simulate(.unsubscribed(rig.level.key, rig.peer.id))
            await rig.phone.stop()
            #expect(codes() == ["stateNotKept"])
        }
        #expect(try temporary.read(Self.file).contains("1810"))
    }

    @Test func `directories above the state directory are made`() throws {
        let path = temporary.path + "/a/b"
        withExtendedLifetime(try StateDirectory(path: path)) { #expect(unlink(path + "/lock") == 0) }
        #expect(rmdir(path) == 0)
        #expect(rmdir(temporary.path + "/a") == 0)
    }

    @Test func `one process at a time has a state directory`() throws {
        let first = try StateDirectory(path: temporary.path)
        let error = #expect(throws: RadioError.self) { _ = try StateDirectory(path: temporary.path) }
        #expect(error?.code == .stateDirectory)
        #expect(error?.message.contains("another process") == true)
        withExtendedLifetime(first) {}
    }

    @Test func `a directory that cannot be made is an error`() {
        let error = #expect(throws: RadioError.self) { _ = try StateDirectory(path: "/proc/none/here") }
        #expect(error?.code == .stateDirectory)
    }

    private func refusal() -> RadioError? {
        #expect(throws: RadioError.self) { _ = try StateDirectory(path: temporary.path) }
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777] as [mode_t])
    func `a directory that others can write to is refused with the command that mends it`(mode: mode_t) throws
    {
        #expect(chmod(temporary.path, mode) == 0)
        let error = refusal()
        #expect(error?.code == .stateDirectory)
        #expect(error?.message.contains("mode is \(String(mode, radix: 8))") == true)
        // With the sticky bit it may be a directory that everybody needs as it is, such as /tmp.
        let remedy =
            mode & 0o1000 == 0 ? "run `chmod 700 '\(temporary.path)'`" : "use a directory of your own"
        #expect(error?.remedy == remedy)
        #expect(temporary.files == [])
        #expect(chmod(temporary.path, 0o755) == 0)
        withExtendedLifetime(try StateDirectory(path: temporary.path)) {}
    }

    @Test func `a directory of another user is refused`() throws {
        // Only root can give a directory away, and root's own directories are another user's for everybody
        // else.
        if geteuid() == 0 { #expect(chown(temporary.path, 4711, 0) == 0) }
        let path = geteuid() == 0 ? temporary.path : "/usr"
        let error = #expect(throws: RadioError.self) { _ = try StateDirectory(path: path) }
        #expect(error?.message.contains("belongs to user \(geteuid() == 0 ? 4711 : 0)") == true)
        #expect(temporary.files == [])
    }

    @Test func `a lock that is a link or no regular file is refused, and nothing is made elsewhere`() {
        let lock = temporary.path + "/lock"
        #expect(symlink(temporary.path + "/elsewhere", lock) == 0)
        #expect(refusal()?.message == "\(lock) is a symbolic link, and must be a regular file")
        #expect(temporary.files == ["lock"])
        #expect(unlink(lock) == 0)
        #expect(mkfifo(lock, 0o600) == 0)
        #expect(refusal()?.message == "\(lock) is not a regular file")
    }

    @Test func `a directory that is made is its owner's alone`() throws {
        let path = temporary.path + "/made"
        withExtendedLifetime(try StateDirectory(path: path)) {}
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o077 == 0)
        #expect(unlink(path + "/lock") == 0 && rmdir(path) == 0)
    }

    @Test func `an identifier that no file name holds has a file of its own`() async throws {
        let directory = try StateDirectory(path: temporary.path)
        let long = String(repeating: "ü", count: 200)
        for identifier in ["a/b", "a%2Fb", "../x", long, long + "x", String(repeating: "x", count: 101)] {
            let rig = try await AppRig(restoreIdentifier: identifier, directory: directory)
            await rig.phone.stop()
        }
        let files = temporary.files
        #expect(files.count == 7)
        #expect(files.allSatisfy { $0.utf8.count < 256 })
    }
}
