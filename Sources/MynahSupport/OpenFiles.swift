import Glibc

/// The limit on the files, sockets and pipes that this process may have open at once.
package enum OpenFiles {
    /// The number of file descriptors that every command needs.
    ///
    /// With fewer, libraries end the process without a message when they cannot get a descriptor for a timer
    /// or a thread.
    package static let needed = 32
    /// The advice to a user whose limit is too low.
    package static let remedy = "allow more open files, as with ulimit -n 1024"

    /// The limit of open files, or `nil` if there is no limit.
    package static var limit: Int? {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0,
            limits.rlim_cur != rlim_t.max
        else { return nil }
        return Int(clamping: limits.rlim_cur)
    }

    /// Whether the limit allows `count` more descriptors after `descriptor` was opened.
    ///
    /// `descriptor` must have had the lowest free number when it was opened.
    package static func leaves(_ count: UInt64, beside descriptor: Int32) -> Bool {
        guard let limit else { return true }
        let (needed, overflows) = UInt64(max(descriptor, 0)).addingReportingOverflow(count)
        return !overflows && needed < UInt64(limit)
    }

    /// The reason why the limit does not allow one more descriptor and `count` others, or `nil` if it does.
    ///
    /// `user` is the subject of the reason, as in "the program".
    package static func problem(of user: String, leaving count: UInt64) -> String? {
        guard let limit else { return nil }
        let copy = fcntl(0, F_DUPFD_CLOEXEC, 0)
        // Without a free number, the next one would be the limit.
        let next = copy >= 0 ? copy : Int32(clamping: limit)
        if copy >= 0 { close(copy) }
        guard !leaves(count, beside: next) else { return nil }
        return problem(of: user, needing: Int(next) + 1 + Int(min(count, 1 << 32)), of: limit)
    }

    /// The reason why too few file descriptors are free for a command, or `nil` if enough are free.
    ///
    /// The text is a sentence without its full stop. All needed descriptors are opened for a moment, so no
    /// other code may run yet.
    package static var problem: String? {
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        while copies.count < needed {
            let copy = fcntl(0, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                let code = errno
                guard code == EMFILE, let limit else {
                    return "the program cannot open \(needed) files: \(String(cString: strerror(code)))"
                }
                // Other descriptors are open already, some perhaps with numbers beyond the limit.
                var (least, number) = (limit - copies.count + needed, limit)
                while number < least {
                    if fcntl(Int32(clamping: number), F_GETFD) >= 0 { least += 1 }
                    number += 1
                }
                return problem(of: "the program", needing: least, of: limit) + "; \(remedy)"
            }
            copies.append(copy)
        }
        return nil
    }

    private static func problem(of user: String, needing needed: Int, of limit: Int) -> String {
        "\(user) needs a limit of at least \(needed) open files, and it is \(limit)"
    }
}
