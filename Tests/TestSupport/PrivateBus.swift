import Glibc
import MynahSupport

/// A dbus-daemon of a test's own, on a socket in a fresh directory; it ends with this object.
public final class PrivateBus: Sendable {
    /// The step that failed.
    public struct Failure: Error, CustomStringConvertible {
        /// What, for people.
        public let description: String
    }

    /// The bus's D-Bus address.
    public let address: String
    private let directory: String
    private let process: Lock<ChildProcess>

    /// Everybody may own every name and talk to everybody, even with answers that nobody waits for, so that a
    /// test sees them.
    public static let openPolicy = """
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
        <allow send_type="signal"/><allow send_requested_reply="false" send_type="method_return"/>
        <allow send_requested_reply="false" send_type="error"/><allow receive_type="method_call"/>
        <allow receive_requested_reply="false" receive_type="method_return"/>
        <allow receive_requested_reply="false" receive_type="error"/><allow receive_type="signal"/></policy>
        """

    /// Starts a bus with these policies, and returns when it listens.
    public init(policy: String = openPolicy) throws(Failure) {
        directory = try PrivateBus.makeDirectory()
        address = "unix:path=\(directory)/bus"
        let file = "\(directory)/bus.conf"
        try PrivateBus.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>system</type><listen>\(address)</listen>
            <auth>EXTERNAL</auth>\(policy)</busconfig>
            """, to: file)
        process = Lock(try PrivateBus.startDaemon(configuration: file))
    }

    deinit {
        stop()
        unlink("\(directory)/bus")
        unlink("\(directory)/bus.conf")
        rmdir(directory)
    }

    /// Ends the bus, by its process identifier, and waits for it.
    public func stop() { process.withLock { $0.stop() } }

    /// Has the bus do nothing at all until it is ended or goes on.
    public func freeze() { process.withLock { $0.send(SIGSTOP) } }

    /// Lets a bus that does nothing go on.
    public func goOn() { process.withLock { $0.send(SIGCONT) } }

    /// Starts the bus again at the same address, ending it first where it runs, and returns when it listens.
    public func restart() throws(Failure) {
        stop()
        let started = try PrivateBus.startDaemon(configuration: "\(directory)/bus.conf")
        process.withLock { $0 = started }
    }

    private static func makeDirectory() throws(Failure) -> String {
        var template = Array("/tmp/mynah-bus-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no temporary directory") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws(Failure) {
        guard let file = fopen(path, "w") else { throw Failure(description: "\(path) cannot be written") }
        fputs(text, file)
        fclose(file)
    }

    /// Starts the daemon and waits until it has said its address, which it does when it listens.
    private static func startDaemon(configuration: String) throws(Failure) -> ChildProcess {
        guard let ends = Spawn.pipe() else { throw Failure(description: "no pipe") }
        defer { close(ends.reader) }
        let started = ChildProcess(
            "dbus-daemon",
            ["--nofork", "--nopidfile", "--config-file=\(configuration)", "--print-address=3"],
            passing: [ends.writer: 3])
        close(ends.writer)
        guard let started else { throw Failure(description: "dbus-daemon could not be started") }
        var bytes = [UInt8](repeating: 0, count: 512)
        guard read(ends.reader, &bytes, bytes.count) > 0 else {
            started.stop()
            throw Failure(description: "dbus-daemon did not come up")
        }
        return started
    }
}
