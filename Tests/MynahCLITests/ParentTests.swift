import Foundation
import Glibc
import MynahTestSupport
import Testing

/// `--with-parent`: a run that ends when the process that started it has ended.
@Suite(.processes, .timeLimit(.minutes(15))) struct ParentTests {
    /// A shell that starts the program, and becomes another one.
    private static let parent = ["sh", "-c", #""$0" "$@" & exec sleep 600"#]

    @Test(arguments: [SIGKILL, SIGTERM], ["serve", "run", "run --clock manual"])
    func `a run ends with its parent, and its socket and their directory with it`(
        signal: Int32, verb: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let directory = "\(folder.path)/made"
        let words =
            verb.components(separatedBy: " ")
            + ["--with-parent", "--events", "json", "--radio", "virtual", "--control", "unix:\(directory)/s"]
            + (verb == "serve" ? [] : [AirStage.heartRate])
        let run = try Program(words, launcher: Self.parent, environment: ["MYNAH_AIR": directory])
        try #require(try await run.output.line(containing: "\"ready\"") != nil)
        #expect(FileManager.default.fileExists(atPath: "\(directory)/s"))
        run.child.send(signal)
        // Its output has an end when the run has, too.
        let result = try await run.end()
        #expect(result.status == .killed(signal))
        #expect(result.error.contains("the process that started this one has ended (--with-parent)"))
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    /// A shell that starts another one and ends; that one becomes the program when its parent has ended.
    private static let endedParent = [
        "setsid", "sh", "-c",
        #"""
        (until read -r process name state parent rest </proc/self/stat && [ "$parent" != $$ ]; do
            sleep 0.01
        done
        exec "$0" "$@") &
        """#,
    ]

    @Test(arguments: [["serve"], ["run", AirStage.heartRate]])
    func `a run whose parent has ended before it ends at once`(words: [String]) async throws {
        let run = try Program(
            words + ["--with-parent", "--radio", "virtual", "--events", "json"]
                + (words == ["serve"] ? ["--control", "127.0.0.1:0"] : []), launcher: Self.endedParent)
        // Its output has an end when the run has, too.
        let result = try await run.end()
        #expect(result.error.contains("the process that started this one has ended"))
        #expect(!result.error.contains("error: "))
    }

    @Test(arguments: [
        ["serve", "--control", "unix:made/s"], ["run", AirStage.heartRate, "--control", "unix:made/s"],
        ["scan"], ["connect", "Nobody", "--timeout", "10 min", "--command", "read 2A38"],
        ["record", "Nobody"],
    ])
    func `a command ends with the pipe of the one that started it`(words: [String]) async throws {
        let folder = try TemporaryDirectory()
        var ends: [Int32] = [-1, -1]
        try #require(makePipe(&ends) == 0)
        defer { close(ends[0]) }
        let words = words.map { $0.replacing("unix:", with: "unix:\(folder.path)/") }
        let run = try Program(words + ["--with-pipe", "0", "--radio", "virtual"], input: ends[0])
        let isRun = words.contains("--control")
        if isRun {
            try #require(try await run.output.line(containing: "made/s") != nil)
        } else {
            // Something that is written is no end.
            #expect(write(ends[1], "a", 1) == 1)
        }
        close(ends[1])
        let result = try await run.end()
        #expect(result.error.contains("the pipe of --with-pipe is closed"), "\(result.error)")
        if isRun {
            #expect(result.status == .exited(0))
            #expect(folder.files == [])
        }
    }

    @Test(arguments: [
        ("0", "it is neither a pipe nor a socket"), ("77", "it is not open"), ("-1", "a whole number"),
        ("stdin", "a whole number"),
    ])
    func `a descriptor without another end is wrong usage`(descriptor: String, message: String) async throws {
        let result = try await Program.run("serve", "--with-pipe=\(descriptor)", "--radio", "virtual")
        #expect(result.status == .exited(64))
        #expect(result.error.contains(message), "\(result.error)")
    }

    @Test func `a pipe that brings the commands is no other end`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(makePipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let result = try await Program(
            ["connect", "Nobody", "--radio", "virtual", "--with-pipe", "0"], input: ends[0]
        ).end()
        #expect(result.status == .exited(64))
        #expect(result.error.contains("--with-pipe 0: standard input has the commands"), "\(result.error)")
    }

    @Test func `a directory that was there stays, and so does a file in one that was made`() async throws {
        let folder = try TemporaryDirectory()
        let directory = "\(folder.path)/made"
        for (socket, kept) in [("s", "."), ("made/s", "made/capture.pcapng")] {
            let run = try Program(
                [
                    "serve", "--with-parent", "--events", "json", "--radio", "virtual",
                    "--control", "unix:\(folder.path)/\(socket)",
                    "--capture", "\(folder.path)/capture.pcapng",
                ])
            try #require(try await run.output.line(containing: "\"ready\"") != nil)
            if kept != "." { try Data().write(to: URL(fileURLWithPath: "\(folder.path)/\(kept)")) }
            run.child.send(SIGTERM)
            #expect(try await run.end().status == .exited(0))
            #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/\(socket)"))
            #expect(FileManager.default.fileExists(atPath: "\(folder.path)/\(kept)"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["capture.pcapng"])
    }

    @Test func `a run that process 1 has started plays, as in a container`() async throws {
        let run = try Program(
            ["run", "--with-parent", "--radio", "virtual", "--until", "ready", AirStage.heartRate],
            launcher: [
                "unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "sh", "-c",
                #""$0" "$@"; exit"#,
            ])
        let result = try await run.end()
        if result.error.contains("unshare: ") { return }
        #expect(result.status == .exited(0), "\(result.error)")
        #expect(!result.error.contains("--with-parent"))
    }

    @Test func `without a parent that can be seen, a run says so and plays`() async throws {
        let run = try Program(
            ["run", "--with-parent", "--radio", "virtual", "--until", "ready", AirStage.heartRate],
            // In a PID namespace of its own it has none.
            launcher: ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"])
        let result = try await run.end()
        if result.error.contains("unshare: ") { return }
        #expect(result.status == .exited(0))
        #expect(
            result.error.contains(
                """
                warning: --with-parent has no effect: the process that started this one is in another PID \
                namespace
                """))
    }
}
