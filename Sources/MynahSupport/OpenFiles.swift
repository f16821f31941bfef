import Glibc

/// The files, sockets and pipes that this process may have open at once.
package enum OpenFiles {
    /// How many a command opens before it could say that there are too few: timers and threads of libraries
    /// end the process without a message if they get none.
    package static let needed = 32
    /// How to raise the limit.
    package static let remedy = "allow more open files, as with ulimit -n 1024"

    /// The limit, or `nil` if there is none.
    package static var limit: Int? {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0,
            limits.rlim_cur != rlim_t.max
        else { return nil }
        return Int(clamping: limits.rlim_cur)
    }

    /// Whether the limit leaves this many beside a descriptor, the lowest free number when it was opened.
    package static func leaves(_ count: UInt64, beside descriptor: Int32) -> Bool {
        guard let limit else { return true }
        let (needed, overflows) = UInt64(max(descriptor, 0)).addingReportingOverflow(count)
        return !overflows && needed < UInt64(limit)
    }

    /// Whether the limit leaves this many beside one more.
    package static func leaves(_ count: UInt64) -> Bool {
        let copy = fcntl(0, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return false }
        close(copy)
        return leaves(count, beside: copy)
    }

    /// Why a command would not come far, as a sentence without its full stop; `nil` if it has enough.
    package static var problem: String? {
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        while copies.count < needed {
            let copy = fcntl(0, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                let reason = String(cString: strerror(errno))
                return
                    "the program needs \(needed) open files beside those it has, and gets \(copies.count): "
                    + "\(reason); \(remedy)"
            }
            copies.append(copy)
        }
        return nil
    }
}
