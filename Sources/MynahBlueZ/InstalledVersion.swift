import Glibc

extension BlueZVersion {
    /// The paths at which distributions install bluetoothd.
    package static let programs = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    /// Runs the installed bluetoothd to determine its version, or returns `nil` if no program is found.
    ///
    /// No D-Bus property contains the version.
    ///
    /// The program runs for some milliseconds, not on the caller's executor. If it does not end within the
    /// limit, it is killed.
    @concurrent package static func installed(
        programs: [String] = programs, limit: Duration = .seconds(5)
    ) async -> BlueZVersion? {
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var process = pid_t()
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("-v"), nil]
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawn(&process, program, &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else { return nil }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64)
        let end = ContinuousClock.now + limit
        while text.count < 64 {
            let left = ContinuousClock.now.duration(to: end)
            var output = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let ready = poll(&output, 1, Int32(max(0, left / .milliseconds(1))))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { break }
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        // The program has printed its version, or the time limit has passed.
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return BlueZVersion(String(decoding: text, as: UTF8.self))
    }
}
