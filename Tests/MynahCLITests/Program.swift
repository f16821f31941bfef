import Glibc
import MynahTestSupport
import Testing

/// The built `mynah`, run as a user runs it.
struct Program {
    /// The result of a run that has ended.
    struct Result {
        var status: ChildProcess.Status
        var output: String
        var error: String

        /// Standard error without what is said of every run: which radio it is, what `connect` looks for, and
        /// that the suite's many processes leave no way to watch a directory.
        var complaint: String {
            error.split(separator: "\n", omittingEmptySubsequences: false)
                .filter {
                    !$0.hasPrefix("looking for ") && !$0.hasPrefix("connect never uses BlueZ")
                        && !$0.contains("cannot be watched")
                }.joined(separator: "\n")
        }
    }

    let child: ChildProcess
    let output: OutputReader
    let error: OutputReader
    /// An air of its own, gone with it.
    private let air: TemporaryDirectory

    /// It is in the directory of the tests, because both are built together.
    static let path = BuiltProgram.path("mynah")

    /// Starts it on this bus or on none, with an output that the test keeps or on a terminal, and on an air
    /// that others share.
    ///
    /// `launcher` is a program that becomes it, such as `nohup`; `term` is what TERM says.
    init(
        _ arguments: [String], bus: String? = nil, output kept: OutputReader? = nil,
        errors keptErrors: OutputReader? = nil, terminal: Terminal? = nil, hasErrorsOnTerminal: Bool = false,
        input: Int32? = nil, air: TemporaryDirectory? = nil, launcher: [String] = [],
        term: String? = "xterm-256color", environment: [String: String] = [:]
    ) throws {
        self.air = try air ?? TemporaryDirectory()
        output = try #require(OutputReader())
        error = try #require(OutputReader())
        let path = try #require(Self.path, "the program is built with the tests")
        let errors = keptErrors?.writer ?? error.writer
        let descriptors: KeyValuePairs<Int32, Int32> =
            if let terminal {
                [hasErrorsOnTerminal ? terminal.device : errors: 2, terminal.device: 0, terminal.device: 1]
            } else if let input {
                [errors: 2, input: 0, kept?.writer ?? output.writer: 1]
            } else {
                [errors: 2, kept?.writer ?? output.writer: 1]
            }
        let address = bus ?? "unix:path=/nonexistent/mynah/bus"
        let words = launcher + [path] + arguments
        child = try #require(
            ChildProcess(
                words[0], Array(words.dropFirst()), passing: descriptors,
                environment: [
                    "DBUS_SYSTEM_BUS_ADDRESS": address, "TZ": "UTC", "MYNAH_AIR": self.air.path, "TERM": term,
                    // A port without an Android emulator, even if one runs on this machine.
                    "NETSIM_HCI_PORT": "1",
                ].merging(environment) { $1 }))
        output.start()
        error.start()
    }

    /// Waits for its end.
    func end() async throws -> Result {
        let status = try await child.end()
        return Result(status: status, output: try await output.text(), error: try await error.text())
    }

    /// The end of a pipe that holds this text and no more.
    static func pipe(holding text: String) throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        let isMade = makePipe(&ends) == 0
        try #require(isMade)
        let bytes = Array(text.utf8)
        let isWritten = write(ends[1], bytes, bytes.count) == bytes.count
        try #require(isWritten)
        close(ends[1])
        return ends[0]
    }

    /// Runs it to its end, without a bus.
    static func run(_ arguments: String...) async throws -> Result {
        try await Program(arguments).end()
    }
}

/// The repository's own folder.
let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
