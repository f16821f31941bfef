import Glibc
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahCLI

/// The control API of the built program: `serve`, `run --control` and `ctl`.
@Suite(.processes, .timeLimit(.minutes(15))) struct ControlCommandTests {
    private let folder: TemporaryDirectory
    private var address: String { "unix:\(folder.path)/control" }

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Starts a server of devices on the virtual radio, and waits until it is ready.
    private func serve(_ options: [String] = []) async throws -> Program {
        let server = try Program(
            ["serve", "--radio", "virtual", "--events", "json", "--control", address] + options)
        try #require(try await server.output.line(containing: "\"ready\"") != nil)
        return server
    }

    private func ctl(_ words: String...) async throws -> Program.Result {
        try await Program(["ctl", "--control", address] + words).end()
    }

    private func stop(_ program: Program) async throws {
        program.child.send(SIGTERM)
        #expect(try await program.child.end() == .exited(0))
    }

    // MARK: Requests

    @Test(
        arguments: [
            ("9007199254740993", "9007199254740993"), ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"), ("1.5", "1.5"), ("0x10", "16"),
            ("0xFFFFFFFFFFFFFFFF", "18446744073709551615"), ("-0x10", #""-0x10""#),
            ("1e30", "1e+30"), ("100000000000000000000", "1e+20"), ("boost", #""boost""#), ("inf", #""inf""#),
        ])
    func `a variable is sent with all digits of its number`(text: String, json: String) {
        #expect(CtlVariable.json(of: text).text == json)
    }

    @Test func `a number beyond every number is wrong usage`() async throws {
        let result = try await VirtualStage.play(["ctl", "variable", "Meter", "serial", "1e400"])
        #expect(result.status == .exited(64))
        #expect(result.error.hasPrefix("error: the number 1e400 is beyond ±1.7976931348623157e+308; --text"))
    }

    @Test(arguments: ["18446744073709551616", "-9223372036854775809", "0x10000000000000000"])
    func `a variable of more than 64 bits is wrong usage`(number: String) async throws {
        let result = try await VirtualStage.play(["ctl", "variable", "Meter", "serial", "--", number])
        #expect(result.status == .exited(64))
        #expect(result.error.hasPrefix("error: the whole number \(number) needs more than 64 bits"))
        #expect(result.error.contains("; --text sends it as text"))
    }

    // MARK: serve

    @Test func `serve without a device is ready with its control address alone`() async throws {
        let server = try await serve()
        let ready = try json(try #require(server.output.lines.first))
        #expect(ready["event"] as? String == "ready")
        #expect(ready["control"] as? String == address)
        #expect(Set(ready.keys) == ["time", "event", "control"])
        try await stop(server)
        #expect(folder.files == [])
    }

    @Test func `serve listens where ctl looks if neither is given an address`() async throws {
        let environment = ["XDG_RUNTIME_DIR": folder.path]
        let server = try Program(["serve", "--radio", "virtual"], environment: environment)
        try #require(try await server.output.line(containing: "mynah.sock") != nil)
        let result = try await Program(["ctl", "devices"], environment: environment).end()
        #expect(result.status == .exited(0) && result.output == "" && result.error == "")
        let named = try await Program(
            ["ctl", "devices"], environment: ["MYNAH_CONTROL": "unix:\(folder.path)/mynah.sock"]
        ).end()
        #expect(named.status == .exited(0))
        try await stop(server)
        #expect(folder.files == [])
    }

    @Test func `a device is added, changed, seen by a phone and removed`() async throws {
        let air = try TemporaryDirectory()
        let server = try Program(
            ["serve", "--radio", "virtual", "--events", "json", "--control", address], air: air)
        try #require(try await server.output.line(containing: "\"ready\"") != nil)
        #expect(try await ctl("add", RunTests.profile).output == "Heart rate monitor\n")
        #expect(try await ctl("add", RunTests.profile, "--seed", "7").output == "Heart rate monitor~2\n")
        #expect(try await ctl("remove", "Heart rate monitor~2").status == .exited(0))
        let set = try await ctl("set", "Heart rate monitor", "2A38", "02")
        #expect(set.output == "02  wrist  sent to 0 centrals\n")
        let phone = try await Program(["connect", "Mynah HRM", "--command", "read 2A38"], air: air).end()
        #expect(phone.status == .exited(0))
        #expect(phone.output.contains("02"))
        let wait = try await ctl("wait", "central.disconnected", "--within", "10 min")
        #expect(wait.status == .exited(0))
        #expect(wait.output.contains("disconnected"))
        let verify = try await ctl("verify", "read", "characteristic=2A38", "--exactly", "1")
        #expect(verify.output == "1 event\n")
        #expect(try await ctl("remove", "Heart rate monitor").status == .exited(0))
        #expect(try await ctl("devices").output == "")
        try await stop(server)
        #expect(folder.files == [])
        #expect(air.files == [])
    }

    @Test func `an app that is removed twice at once leaves the other apps of its phone`() async throws {
        let server = try await serve()
        for name in ["One", "Two"] {
            try folder.write(AppProfile.text(name, "180F"), to: "\(name).yaml")
            #expect(try await ctl("add", "\(folder.path)/\(name).yaml").output == "\(name)\n")
        }
        async let first = ctl("remove", "One")
        async let second = ctl("remove", "One")
        async let third = ctl("remove", "One")
        // A request that comes too late finds no such device.
        let results = try await [first, second, third]
        #expect(results.contains { $0.status == .exited(0) })
        #expect(try await ctl("devices").output.hasPrefix("Two  "))
        try await stop(server)
    }

    @Test func `an error names another device's profile without its directory`() async throws {
        let server = try await serve()
        try folder.write(AppProfile.text("One", "180F"), to: "one.yaml")
        #expect(try await ctl("add", "\(folder.path)/one.yaml").status == .exited(0))
        let second = try await ctl("add", "\(folder.path)/one.yaml")
        #expect(second.status == .exited(1))
        #expect(
            second.error == """
                \(folder.path)/one.yaml:2:7: error: the name "One" is taken by one.yaml; two apps of a phone \
                need different names

                """)
        try await stop(server)
    }

    // MARK: run --control

    @Test(arguments: ["unix", "tcp"])
    func `a run with the control API reports its address when ready, and each event's device`(kind: String)
        async throws
    {
        let run = try Program([
            "run", "--radio", "virtual", "--events", "json", "--control",
            kind == "unix" ? address : "127.0.0.1:0", RunTests.profile,
        ])
        let line = try #require(try await run.output.line(containing: "\"ready\""))
        let control = try #require(try json(line)["control"] as? String)
        #expect(kind == "unix" ? control == address : control.hasPrefix("http://127.0.0.1:"))
        #expect(!control.hasSuffix(":0"))
        let devices = try await Program(["ctl", "devices", "--control", control]).end()
        #expect(devices.output.hasPrefix("Heart rate monitor  poweredOn"))
        try await stop(run)
        for line in try await run.output.text().split(separator: "\n") {
            #expect(try json(String(line))["device"] as? String == "Heart rate monitor", "\(line)")
        }
    }

    @Test(arguments: [[], ["--control", "off"]])
    func `a run without the control API has neither an address nor a device in its events`(
        options: [String]
    ) async throws {
        let run = try Program(
            ["run", "--radio", "virtual", "--events", "json"] + options + [RunTests.profile])
        try #require(try await run.output.line(containing: "\"ready\"") != nil)
        try await stop(run)
        let output = try await run.output.text()
        #expect(!output.contains("\"control\"") && !output.contains("\"device\""))
    }

    // MARK: Addresses

    @Test func `a socket that another instance serves is an error, and that instance goes on`() async throws {
        let server = try await serve()
        let second = try await Program(["serve", "--radio", "virtual", "--control", address]).end()
        #expect(second.status == .exited(1))
        #expect(second.error.hasPrefix("error: "))
        #expect(second.error.contains("\(folder.path)/control"))
        #expect(second.error.contains("in use") || second.error.contains("listens"))
        #expect(try await ctl("devices").status == .exited(0))
        try await stop(server)
    }

    @Test func `a run whose socket is taken ends with an error`() async throws {
        let server = try await serve()
        let run = try await Program([
            "run", "--radio", "virtual", "--control", address, "--timeout", "10 min", RunTests.profile,
        ]).end()
        #expect(run.status == .exited(1))
        #expect(run.error.contains("\(folder.path)/control"))
        try await stop(server)
    }

    @Test func `a socket that a killed instance has left is replaced`() async throws {
        let first = try await serve()
        first.child.send(SIGKILL)
        #expect(try await first.child.end() == .killed(SIGKILL))
        #expect(folder.files == ["control"])
        let refused = try await ctl("devices")
        #expect(refused.status == .exited(1))
        #expect(refused.error.hasPrefix("error: "))
        let second = try await serve()
        #expect(try await ctl("devices").status == .exited(0))
        try await stop(second)
        #expect(folder.files == [])
    }

    @Test func `a file that is no socket is left as it is`() async throws {
        try folder.write("mine", to: "control")
        let server = try await Program(["serve", "--radio", "virtual", "--control", address]).end()
        #expect(server.status == .exited(1))
        #expect(server.error.contains("is not a socket"))
        #expect(try folder.read("control") == "mine")
    }

    @Test func `a port that is in use is an error of one line`() async throws {
        let server = try Program([
            "serve", "--radio", "virtual", "--events", "json", "--control", "127.0.0.1:0",
        ])
        let line = try #require(try await server.output.line(containing: "\"ready\""))
        let control = try #require(try json(line)["control"] as? String)
        let second = try await Program(["serve", "--radio", "virtual", "--control", control]).end()
        #expect(second.status == .exited(1))
        #expect(second.error.contains("is in use"))
        #expect(second.error.split(separator: "\n").count == 1)
        try await stop(server)
    }

    @Test(arguments: ["0.0.0.0:0", "[::]:0"])
    func `an address that other machines reach needs a token`(address: String) async throws {
        let result = try await Program(["serve", "--radio", "virtual", "--control", address]).end()
        #expect(result.status == .exited(1))
        #expect(result.error.contains("token"))
        #expect(result.error.contains("--control-token-file"))
    }

    @Test func `a client without the token is refused`() async throws {
        try folder.write("0123456789abcdef0123456789abcdef\n", to: "token")
        #expect(chmod("\(folder.path)/token", 0o600) == 0)
        let server = try Program([
            "serve", "--radio", "virtual", "--events", "json", "--control", "127.0.0.1:0",
            "--control-token-file", "\(folder.path)/token",
        ])
        let line = try #require(try await server.output.line(containing: "\"ready\""))
        let control = try #require(try json(line)["control"] as? String)
        let refused = try await Program(["ctl", "devices", "--control", control]).end()
        #expect(refused.status == .exited(1))
        let accepted = try await Program([
            "ctl", "devices", "--control", control, "--control-token-file", "\(folder.path)/token",
        ]).end()
        #expect(accepted.status == .exited(0))
        try await stop(server)
    }

    @Test(arguments: ["serve", "run"], [0o640, 0o604, 0o620, 0o602] as [mode_t])
    func `a token file that other users may read or write is refused`(verb: String, mode: mode_t)
        async throws
    {
        let token = "\(folder.path)/token"
        try folder.write("0123456789abcdef0123456789abcdef\n", to: "token")
        #expect(chmod(token, mode) == 0)
        let result = try await Program(
            [verb, "--radio", "virtual", "--control", "127.0.0.1:0", "--control-token-file", token]
                + (verb == "run" ? [RunTests.profile] : [])
        ).end()
        #expect(result.status == .exited(1))
        #expect(
            result.error
                == "error: other users may read or write the token file \(token); run chmod 600 \(token)\n")
    }

    @Test(arguments: [
        ["serve", "--control", "off"], ["serve", "--control", "localhost"], ["serve", "--control", "unix:"],
        ["run", "--control", "example.com:80", RunTests.profile], ["ctl", "devices", "--control", "nowhere"],
        ["ctl"], ["ctl", "dance"], ["ctl", "wait"], ["ctl", "mark"], ["ctl", "answer"],
        ["ctl", "answer", "x"],
        ["ctl", "answer", "1", "00", "--error", "0x80"], ["ctl", "answer", "1", "--text"],
        ["ctl", "devices", "--format", "xml"],
        ["ctl", "passkey", "Lock", "042042"],
    ])
    func `wrong usage exits with 64`(words: [String]) async throws {
        let result = try await Program(words + (words.first == "serve" ? ["--radio", "virtual"] : [])).end()
        // Without a verb the help is printed.
        #expect(result.status == .exited(words == ["ctl"] ? 0 : 64), "\(result.error)")
    }

    @Test(arguments: [
        (
            ["ctl", "advertise", "D"],
            "there is no change: give --on, --no-on, --local-name, --service or --with"
        ),
        (["ctl", "wiat", "read"], "there is no verb \"wiat\"; did you mean \"wait\"?"),
        (["ctl", "--control", "unix:/x", "--format=json", "lsit"], "there is no verb \"lsit\""),
        (["help", "ctl", "gte"], "there is no verb \"gte\"; did you mean \"get\"?"),
        (["ctl", "verify"], "no event is named; name one, as in mynah ctl verify write"),
        (["ctl", "verify", "--exactly", "3"], "no event is named whose number is checked; name one"),
        (
            ["ctl", "verify", "write", "--at-least", "1", "--never"],
            "only one of --exactly, --at-least and --never is allowed"
        ),
        (["ctl", "verify", "wriet"], "there is no event \"wriet\"; did you mean \"write\"?"),
        (
            ["ctl", "verify", "write", "chaacteristic=2A39"],
            "write has no field \"chaacteristic\"; did you mean"
        ),
        (
            ["ctl", "verify", "--order", "write foo=1"],
            "--order write foo=1: write has no field \"foo\"; its fields"
        ),
        (["ctl", "wait", "write", "foo=1"], "write has no field \"foo\"; its fields are central, "),
        (
            ["ctl", "wait", "write", "--within", "5"],
            "--within has no unit; write 5 us, 5 ms, 5 s, 5 min or 5 h"
        ),
        (["ctl", "wait", "write", "--within", "1441min"], "--within is 1441 min; at most a day is allowed"),
        (["ctl", "events", "write", "foo=1"], "write has no field \"foo\"; its fields are central, "),
    ])
    func `wrong usage of ctl says what is wrong`(words: [String], message: String) async throws {
        let result = try await Program(words).end()
        #expect(result.status == .exited(64))
        #expect(result.error.hasPrefix("error: \(message)"), "\(result.error)")
        #expect(result.error.contains("\nUsage: mynah ctl "), "\(result.error)")
    }

    @Test func `errors of the instance have the words of the command line`() async throws {
        let server = try await serve()
        for verb in ["wait", "verify"] {
            let late = try await ctl(verb, "write", "--since", "999")
            #expect(late.status == .exited(64))
            #expect(late.error.hasPrefix("error: there is no event 999 yet, the next event is 2; "))
        }
        let vain = try await ctl("wait", "write", "--within", "0 s")
        #expect(vain.error == "error: no event matched write within 0 s\n  seen: 1 ready\n")
        let order = try await ctl("verify", "--order", "ready", "--order", "write")
        #expect(order.error == "error: no event matched item 2 of the order, write, after event 1\n")
        let never = try await ctl("verify", "ready", "--never")
        #expect(never.error.hasSuffix("  (matches)\n"), "\(never.error)")
        // The object form is read by the instance.
        #expect(try await ctl("events", #"{"event": "ready"}"#).output.contains("ready"))
        try await stop(server)
    }

    @Test func `a wrong profile is reported as by check, each mistake once and with its status`() async throws
    {
        try folder.write("mynah: 1\nservces: []\nname: {}\n", to: "bad.yaml")
        let path = "\(folder.path)/bad.yaml"
        let server = try await serve()
        let added = try await ctl("add", path)
        try await stop(server)
        let checked = try await Program.run("check", path)
        #expect(added.status == .exited(1) && checked.status == .exited(1))
        #expect(added.output == "")
        let lines = added.error.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines == checked.output.split(separator: "\n").filter { $0.hasPrefix(path) })
    }

    @Test(arguments: [["ctl", "--help"], ["help", "ctl"], ["ctl"]])
    func `the usage of ctl has the verb before the options`(words: [String]) async throws {
        let help = try await Program(words).end()
        #expect(help.output.contains("USAGE: mynah ctl <verb> ... [--control <address>]"))
        #expect(try await Program(["help", "ctl", "wait"]).end().output.contains("USAGE: mynah ctl wait"))
    }

    @Test func `serve with a closed standard output is an error, unless it prints nothing`() async throws {
        let path = try #require(Program.path)
        let errors = try #require(OutputReader())
        let shell = try #require(
            ChildProcess(
                "sh", ["-c", "exec \"$0\" serve --radio virtual --control \"$1\" >&-", path, address],
                passing: [errors.writer: 2]))
        errors.start()
        #expect(try await shell.end() == .exited(1))
        #expect(try await errors.text().contains("error: standard output is closed"))
        let silent = try #require(
            ChildProcess(
                "sh",
                [
                    "-c", "exec \"$0\" serve --radio virtual --events off --control \"$1\" >&-", path,
                    address,
                ]))
        var isServed = false
        while !isServed { isServed = try await ctl("devices").status == .exited(0) }
        silent.send(SIGTERM)
        #expect(try await silent.end() == .exited(0))
    }

    // MARK: ctl

    @Test func `the address and the format are accepted before and after the verb`() async throws {
        let server = try await serve()
        for words in [
            ["ctl", "--control", address, "--format", "json", "devices"],
            ["ctl", "devices", "--control", address, "--format", "json"],
            ["ctl", "--format", "json", "devices", "--control", address],
            ["ctl", "--control", "unix:/nonexistent/x", "devices", "--control", address, "--format", "json"],
        ] {
            let result = try await Program(words).end()
            #expect(result.status == .exited(0), "\(words)")
            #expect(result.output == "{\"devices\":[]}\n")
        }
        try await stop(server)
    }

    @Test func `ctl exits with 0, 1 or 64`() async throws {
        let server = try await serve()
        #expect(try await ctl("mark", "first").output == "2\n")
        #expect(try await ctl("events").status == .exited(0))
        let missing = try await ctl("show", "nothing")
        #expect(missing.status == .exited(1))
        #expect(missing.error.hasPrefix("error: there is no device \"nothing\""))
        let vain = try await ctl("wait", "read", "--within", "0 s")
        #expect(vain.status == .exited(1))
        #expect(vain.error.hasPrefix("error: no event matched read within 0 s"))
        #expect(try await ctl("verify", "read").status == .exited(1))
        #expect(try await ctl("verify", "read", "--never").status == .exited(0))
        let wrong = try await ctl("wait", "raed")
        #expect(wrong.status == .exited(64))
        #expect(wrong.error.contains("did you mean \"read\"?"))
        #expect(try await ctl("add", "/nonexistent.yaml").status == .exited(1))
        let json = try await ctl("wait", "read", "--within", "0 s", "--format", "json")
        #expect(json.status == .exited(1))
        #expect(json.output.contains("\"status\":408"))
        try await stop(server)
        let gone = try await ctl("devices")
        #expect(gone.status == .exited(1))
        #expect(gone.error.hasPrefix("error: "))
        #expect(gone.error.split(separator: "\n").count == 1)
    }

    @Test(arguments: [["wait", "read", "--within", "10 min"], ["events", "--follow"]])
    func `a request that is under way when the server ends does not hang`(words: [String]) async throws {
        let server = try await serve()
        #expect(try await ctl("add", RunTests.profile).status == .exited(0))
        let client = try Program(["ctl"] + words + ["--control", address])
        if words[0] == "wait" {
            // Nothing shows that a wait has begun, and it ends with an error if it comes too late too.
            #expect(try await ctl("mark", "here").status == .exited(0))
        } else {
            #expect(try await client.output.line(containing: "plays on") != nil)
        }
        try await stop(server)
        let result = try await client.end()
        #expect(result.status == .exited(words[0] == "wait" ? 1 : 0), "\(result.error)")
        if words[0] == "wait" { #expect(result.error.hasPrefix("error: ")) }
    }

    @Test func `ctl follows events as they happen`() async throws {
        let server = try await serve()
        let follower = try Program(["ctl", "events", "--follow", "--format", "json", "--control", address])
        #expect(try await follower.output.line(containing: "\"ready\"") != nil)
        #expect(try await ctl("add", RunTests.profile).status == .exited(0))
        let started = try await follower.output.line(containing: "advertising.started")
        #expect(try json(try #require(started))["device"] as? String == "Heart rate monitor")
        follower.child.send(SIGINT)
        _ = try await follower.child.end()
        try await stop(server)
    }

    @Test(arguments: ["text", "json"])
    func `a command that follows events ends when its reader has left, though no event comes`(
        format: String
    ) async throws {
        let server = try await serve()
        let path = try #require(Program.path)
        let (output, errors) = (try #require(OutputReader()), try #require(OutputReader()))
        let shell = try #require(
            ChildProcess(
                "bash",
                [
                    "-c",
                    """
                    set -o pipefail
                    "$0" ctl events --follow --format "$1" --control "$2" | head -n 1
                    """, path, format, address,
                ], passing: [output.writer: 1, errors.writer: 2]))
        output.start()
        errors.start()
        #expect(try await shell.end() == .exited(0))
        #expect(try await output.text().contains("ready"))
        #expect(try await errors.text() == "")
        try await stop(server)
    }

    @Test func `events that a reset has deleted are counted, in a list and in a stream`() async throws {
        let server = try await serve()
        #expect(try await ctl("add", RunTests.profile).status == .exited(0))
        #expect(try await ctl("reset").status == .exited(0))
        let list = try await ctl("events", "--since", "1")
        let sentence = try #require(list.output.split(separator: "\n").first)
        #expect(sentence.hasSuffix(" earlier events are not kept any more"))
        let lost = try #require(Int(sentence.prefix { $0.isNumber }))
        let words = ["ctl", "events", "--follow", "--since", "1", "--control", address]
        let text = try Program(words)
        #expect(try await text.output.line(containing: "not kept") == String(sentence))
        let stream = try Program(words + ["--format", "json"])
        let line = try #require(try await stream.output.line(containing: "lost"))
        #expect(line == #"{"event":"lost","count":\#(lost)}"#)
        for follower in [text, stream] {
            follower.child.send(SIGINT)
            _ = try await follower.child.end()
        }
        try await stop(server)
    }

    // MARK: Completion

    /// The words that a shell gets to complete the argument of a verb.
    private func complete(
        _ verb: String, _ words: [String], place: Int = 0, environment: [String: String] = [:]
    ) async throws -> [String] {
        let result = try await Program(
            ["---completion", "ctl", verb, "--", "positional@\(place)", "\(words.count - 1)", "0"] + words,
            environment: environment
        ).end()
        #expect(result.status == .exited(0))
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test func `a shell completes devices, attributes and requests, however the address is given`()
        async throws
    {
        let server = try await serve()
        #expect(try await ctl("add", RunTests.profile).status == .exited(0))
        let device = ["Heart rate monitor"]
        for words in [
            ["mynah", "ctl", "--control", address, "show", ""],
            ["mynah", "ctl", "--control=\(address)", "show", ""],
            // As bash cuts them.
            ["mynah", "ctl", "--control", "unix", ":", "\(folder.path)/control", "show", ""],
            ["mynah", "ctl", "--control", "=", "unix", ":", "\(folder.path)/control", "show", ""],
        ] { #expect(try await complete("show", words) == device, "\(words)") }
        let words = ["mynah", "ctl", "get"]
        let environment = ["MYNAH_CONTROL": address]
        let all = try await complete("get", words + device + [""], place: 1, environment: environment)
        #expect(all.contains("180D/2A37"))
        #expect(try await complete("answer", words + [""], environment: environment) == [])
        #expect(try await complete("show", ["mynah", "ctl", "show", "", "--control", "unix:/x"]) == [])
        try await stop(server)
    }

    @Test func `a shell completes from an instance that asks for a token`() async throws {
        let token = "\(folder.path)/token"
        try folder.write("0123456789abcdef0123456789abcdef\n", to: "token")
        #expect(chmod(token, 0o600) == 0)
        let server = try Program([
            "serve", "--radio", "virtual", "--events", "json", "--control", "127.0.0.1:0",
            "--control-token-file", token, "--profiles", "\(repository)/profiles",
        ])
        let line = try #require(try await server.output.line(containing: "\"ready\""))
        let control = try #require(try json(line)["control"] as? String)
        let rest = ["--control", control, "--control-token-file", token]
        let add = ["ctl", "add", "\(repository)/profiles/battery.yaml"]
        #expect(try await Program(add + rest).end().status == .exited(0))
        for option in [["--control-token-file", token], ["--control-token-file=\(token)"]] {
            let words = ["mynah", "ctl", "show", "", "--control=\(control)"] + option
            #expect(try await complete("show", words) == ["Battery"], "\(words)")
        }
        #expect(try await complete("show", ["mynah", "ctl", "show", "", "--control", control]) == [])
        try await stop(server)
    }

    @Test func `a report is JUnit's XML, or JSON`() async throws {
        let server = try await serve()
        #expect(try await ctl("mark", "a & b").status == .exited(0))
        let junit = try await ctl("report")
        #expect(junit.output.hasPrefix("<?xml") && junit.output.contains("name=\"a &amp; b\""))
        #expect(try await ctl("report", "--format", "json").output.contains("\"name\":\"a & b\""))
        try await stop(server)
    }
}
