import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

@Suite struct AirDirectoryTests {
    let temporary: TemporaryDirectory
    private var directory: AirDirectory { AirDirectory(path: temporary.path) }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    // MARK: - The choice

    private func choice(
        _ variables: [String: String], user: UInt32 = 1000,
        _ places: [String: AirDirectoryChoice.Status] = [:]
    ) -> AirDirectoryChoice {
        AirDirectoryChoice(
            variable: { variables[$0] }, user: user,
            status: { places[$0] ?? .unreadable(SystemError(ENOENT)) })
    }

    @Test(
        arguments: [
            (["MYNAH_AIR": "/a", "XDG_RUNTIME_DIR": "/run/user/1000"], "/a"),
            (["MYNAH_AIR": "", "XDG_RUNTIME_DIR": "/run/user/1000"], "/run/user/1000/mynah-air"),
            (["XDG_RUNTIME_DIR": "/run/user/1000//"], "/run/user/1000/mynah-air"),
            (["XDG_RUNTIME_DIR": "", "TMPDIR": "/var/tmp/"], "/var/tmp/mynah-air-1000"),
            (["TMPDIR": "/"], "/mynah-air-1000"),
            ([:], "/tmp/mynah-air-1000"),
        ] as [([String: String], String)])
    func `the first variable that is set chooses the directory`(variables: [String: String], path: String) {
        let choice = choice(
            variables,
            [
                "/run/user/1000": .directory(owner: 1000), "/var/tmp": .directory(owner: 0),
                "/": .directory(owner: 0),
            ])
        #expect(choice.directory.path == path)
        #expect(choice.warning == nil)
    }

    @Test(arguments: [
        (AirDirectoryChoice.Status.directory(owner: 1000), "which belongs to user 1000, and this is user 0"),
        (.notDirectory, "which is not a directory"),
        (.unreadable(SystemError(ENOENT)), "which cannot be read (No such file or directory)"),
    ])
    func `a session's directory that is not this user's is not used, and a warning says why`(
        status: AirDirectoryChoice.Status, reason: String
    ) throws {
        let choice = choice(
            ["XDG_RUNTIME_DIR": "/run/user/1000", "TMPDIR": "/var/tmp"], user: 0,
            ["/run/user/1000": status, "/var/tmp": .directory(owner: 0)])
        #expect(choice.directory.path == "/var/tmp/mynah-air-0")
        let warning = try #require(choice.warning)
        #expect(warning.code == "airDirectory")
        #expect(warning.message.hasPrefix("XDG_RUNTIME_DIR is /run/user/1000, \(reason): "))
        #expect(warning.message.contains("the virtual radio's directory is /var/tmp/mynah-air-0 instead"))
    }

    @Test func `where no variable helps, the directory is in /tmp`() throws {
        let choice = choice(["XDG_RUNTIME_DIR": "run", "TMPDIR": "/gone"])
        #expect(choice.directory.path == "/tmp/mynah-air-1000")
        let message = try #require(choice.warning?.message)
        #expect(message.contains("XDG_RUNTIME_DIR is run, which is not an absolute path"))
        #expect(message.contains("TMPDIR is /gone, which cannot be read"))
    }

    // MARK: - What is in it

    @Test func `a directory of another user is refused by its owner's number`() throws {
        var path = "/"
        if geteuid() == 0 {
            path = temporary.path
            try #require(chown(path, 4711, 0) == 0)
        }
        let owner = geteuid() == 0 ? 4711 : 0
        #expect {
            try AirDirectory(path: path).prepare()
        } throws: { error in
            let error = error as? RadioError
            return error?.code == .notPermitted
                && error?.message.contains("belongs to user \(owner), and this is user \(geteuid())") == true
        }
    }

    @Test func `files, links, pipes and directories that are named like sockets are left alone`() throws {
        let name = AirDirectory.name(of:)
        try temporary.write("diary", to: name(1))
        try #require(symlink("/nonexistent", directory.path(of: 2)) == 0)
        try #require(mkfifo(directory.path(of: 3), 0o600) == 0)
        try #require(mkdir(directory.path(of: 4), 0o700) == 0)
        // A link to a socket is not a socket either.
        close(try directory.bind(as: 6))
        try #require(symlink(directory.path(of: 6), directory.path(of: 5)) == 0)
        let before = temporary.files
        #expect(try directory.nodes() == [6])
        for node: UInt64 in 1...5 {
            #expect(directory.connect(to: node) == nil)
            directory.remove(node)
        }
        #expect(temporary.files == before)
        #expect(try temporary.read(name(1)) == "diary")
        rmdir(directory.path(of: 4))
    }

    @Test func `a socket that refuses is removed as a leftover only when it is old`() throws {
        // A process that was killed between bind and listen leaves this, as does one that was killed later.
        close(try directory.bind(as: 1))
        #expect(directory.connect(to: 1) == nil)
        #expect(try directory.nodes() == [1])
        makeOld(directory.path(of: 1))
        #expect(directory.connect(to: 1) == nil)
        #expect(try directory.nodes() == [])
        #expect(temporary.files == [])
    }

    @Test func `a socket that listens is not a leftover, however old it is`() throws {
        let descriptor = try directory.listen(as: 1)
        defer { close(descriptor) }
        makeOld(directory.path(of: 1))
        let connected = try #require(directory.connect(to: 1))
        close(connected)
        #expect(try directory.nodes() == [1])
    }

    /// Programs that clean up spare the sockets that the kernel lists, by the names that it lists.
    @Test func `the kernel knows a socket by the name that it has in the directory`() throws {
        let descriptor = try directory.listen(as: 0xABC)
        defer { close(descriptor) }
        let list = try #require(fopen("/proc/net/unix", "r"))
        defer { fclose(list) }
        var line = [CChar](repeating: 0, count: 1024)
        var isListed = false
        while fgets(&line, Int32(line.count), list) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasSuffix(" \(directory.path(of: 0xABC))\n") { isListed = true }
        }
        #expect(isListed)
        #expect(temporary.files == [AirDirectory.name(of: 0xABC)])
    }
}

/// Makes a socket look as if it had been left an hour ago.
func makeOld(_ path: String) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    now.tv_sec -= 3600
    let times = [now, now]
    #expect(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0)
}
