import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct UsageTests {
    @Test(arguments: ["run", "check", "show", "new", "doctor"])
    func `each command explains itself`(command: String) async throws {
        for arguments in [["help", command], [command, "--help"]] {
            let result = try await Program(arguments).end()
            #expect(result.status == .exited(0))
            #expect(result.output.contains("USAGE: mynah \(command)"))
            #expect(result.error.isEmpty)
        }
    }

    @Test(arguments: [["--help"], ["help"]])
    func `the program explains itself in lines of 80 columns`(arguments: [String]) async throws {
        let result = try await Program(arguments).end()
        #expect(result.status == .exited(0))
        for command in ["run", "check", "show", "new", "doctor"] {
            #expect(result.output.contains("\n  mynah \(command) "))
        }
        // Text that is set in columns stays so: no line was wrapped.
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(
            result.output.contains(
                "  mynah show strap.yaml                 prints attributes and advertised bytes\n"))
    }

    @Test(arguments: [
        (["rum"], "run"), (["chekc", "x.yaml"], "check"), (["help", "shw"], "show"),
        (["run", "--evnts", "json", "x.yaml"], "--events"), (["check", "--rdio", "bluez", "x"], "--radio"),
        (["run", "--radio", "bluz", "x.yaml"], "bluez"),
        (["check", "x.yaml", "--radio", "virtul"], "virtual"),
        (["show", "x.yaml", "--radio", "BlueZ"], "bluez"), (["show", "x.yaml", "--format", "jsn"], "json"),
        (["run", "x.yaml", "--events", "jsno"], "json"), (["run", "x.yaml", "--log-level", "dbug"], "debug"),
        (["new", "hart-rate"], "heart-rate"),
    ])
    func `a misspelled word suggests the nearest one`(arguments: [String], near: String) async throws {
        let result = try await VirtualStage.play(arguments)
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.error.hasPrefix("error: "))
        #expect(result.error.lowercased().contains("did you mean"))
        #expect(result.error.contains("\(near)'?") || result.error.contains("\"\(near)\"?"))
    }

    @Test(arguments: [
        (["run"], "profiles"), (["check"], "profiles"), (["show"], "profile"), (["show", "a", "b"], "'b'"),
        (["run", "a", "--seed", "some"], "expected a whole number from 0 to 18446744073709551615"),
        (["run", "a", "--notification-rate=-1"], "expected a whole number from 0 to "),
        (["run", "a", "--adapter"], "--adapter"), (["new", "--force"], "--force"),
        (["run", "a", "b", "--adapter", "hci0", "--adapter", "HCI0"], "twice"),
        (["run", "a", "--at", "10s"], "a time and a state"),
        (["run", "a", "--at=-1s=quit"], "is before the start of the run"),
        (["run", "a", "--at", "-1s=quit"], "is before the start of the run"),
        (["run", "a", "--at", "10=quit"], "no unit"),
        (["run", "a", "--at", "10 s=bakground"], "did you mean background?"),
        (["run", "a", "--at", "10s="], "the states are"),
    ])
    func `wrong usage is told with the command's own usage`(arguments: [String], word: String) async throws {
        let result = try await VirtualStage.play(arguments)
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.error.contains(word))
        #expect(result.error.hasPrefix("error: "))
        #expect(result.error.contains("Usage: mynah \(arguments[0])"))
    }

    @Test(arguments: [
        (["run", "x.yaml", "--seed", "-1"], "expected a whole number from 0 to 18446744073709551615"),
        (["ctl", "reset", "--seed", "-1"], "expected a whole number from 0 to 18446744073709551615"),
        (["ctl", "events", "app.foreground", "app.background"], "\"app.background\" is a second event"),
    ])
    func `a number below zero and a second event are told as such`(arguments: [String], word: String)
        async throws
    {
        let result = try await VirtualStage.play(arguments)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(word), "\(result.error)")
    }

    @Test(arguments: [["variable", "Num", "big", "-1"], ["set", "Num", "2A19", "-1", "--notify"]])
    func `a negative number is a value and no option`(words: [String]) async throws {
        let control = ["--control", "unix:/nonexistent/mynah.sock"]
        let result = try await VirtualStage.play(["ctl"] + words + control)
        // It is read, and nobody is there to take it.
        #expect(!result.error.contains("Missing expected argument"), "\(result.error)")
        #expect(!result.error.contains("Unknown option"), "\(result.error)")
    }

    @Test func `without a command the help goes to standard error, as for any wrong usage`() async throws {
        let result = try await Program([]).end()
        #expect(result.status == .exited(64))
        #expect(result.output == "")
        #expect(result.error.contains("USAGE: mynah <subcommand>"))
        #expect(result.error.contains("\n  mynah run "))
    }

    @Test(arguments: ["run", "check", "show", "new", "scan", "connect", "doctor"])
    func `no option states its default twice`(command: String) async throws {
        let help = try await VirtualStage.play("help", command).output
        let options = help.split(separator: "\n  -").map { $0.lowercased() }
        #expect(options.count > 2)
        for option in options {
            #expect(
                option.split(separator: "default", omittingEmptySubsequences: false).count <= 2, "\(option)")
        }
    }

    @Test(arguments: [
        (["ACCESSORY", "ACCESSORY"], "2 radios"), (["ACCESSORY", "APP", "--adapter", "hci0"], "2 radios"),
        (["ACCESSORY", "--adapter", "hci0", "--adapter", "hci1"], "2 times for 1 radio"),
        (["APP", "APP", "--adapter", "hci0", "--adapter", "hci1"], "2 times for 1 radio"),
        (["ACCESSORY", "--state", "background"], "--state needs a profile with app:"),
        (["APP", "--state", "terminated"], "restores apps from --state-dir"),
        (
            ["APP", "--state", "terminated", "--state-dir", "x"],
            "needs an app with a restoreIdentifier and a background mode"
        ), (["ACCESSORY", "--at", "1s=quit"], "--at 1s=quit needs a profile with app:"),
        (
            ["ACCESSORY", "--at", "1s=poweredOff", "--radio", "bluez"],
            "choose --radio virtual, netsim or hci:"
        ),
        (["ACCESSORY", "--state-dir", "x", "--radio", "bluez"], "--state-dir needs a profile with app:"),
    ])
    func `options that do not go with the profiles are told before anything is begun`(
        arguments: [String], word: String
    ) async throws {
        let accessory = try ProfileFile("mynah: 1\nname: A\n")
        let app = try ProfileFile("mynah: 1\nname: B\napp: {}\n")
        let named = arguments.map { ["ACCESSORY": accessory.path, "APP": app.path][$0] ?? $0 }
        let result = try await VirtualStage.play(["run"] + named)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(word), "\(result.error)")
    }

    @Test func `apps that cannot be on one phone are told where they differ`() async throws {
        let modes = "backgroundModes: [bluetooth-peripheral]"
        let first = try ProfileFile("mynah: 1\nname: A\napp: {restoreIdentifier: one, iOS: 11, \(modes)}\n")
        let second = try ProfileFile(
            "mynah: 1\nname: B\napp:\n  restoreIdentifier: one\n  iOS: 12\n  \(modes)\n")
        let result = try await VirtualStage.play(["run", first.path, second.path])
        #expect(result.status == .exited(1))
        #expect(result.error.contains("\(second.path):5:"), "\(result.error)")
        // An identifier is unique within an app only.
        #expect(!result.error.contains("restoreIdentifier"))
        #expect(result.error.contains("iOS is 12 here and 11 in \(first.path)"))
    }
}
