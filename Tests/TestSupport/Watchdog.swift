import Glibc
import MynahSupport

/// A shell that outlives the test process by a moment, to end the processes that it has started.
///
/// A test process that is killed cannot do that itself: the socket to the shell ends with it, and the shell
/// kills what is still on its list, by identifier.
final class Watchdog: Sendable {
    static let shared = Watchdog()

    private let socket: Int32

    private static let script = """
        trap '' HUP INT TERM
        kept=' '
        while read -r word number; do
            case $word in
            add) kept="$kept$number " ;;
            remove) kept="${kept%% $number *} ${kept#* $number }" ;;
            esac
        done
        for number in $kept; do kill -9 "$number"; done
        """

    init() {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else {
            socket = -1
            return
        }
        let shell = Spawn.start("sh", ["-c", Self.script], passing: [ends[1]: 0])
        close(ends[1])
        socket = shell == nil ? -1 : ends[0]
    }

    /// Does what the end of the test process does.
    func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }

    func add(_ identifier: pid_t) { tell("add \(identifier)\n") }

    func remove(_ identifier: pid_t) { tell("remove \(identifier)\n") }

    private func tell(_ line: String) {
        let bytes = Array(line.utf8)
        _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
