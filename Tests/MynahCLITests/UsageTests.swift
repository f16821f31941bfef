import MynahTestSupport
import Testing

@Suite struct UsageTests {
    @Test(arguments: ["run", "check", "show", "new"])
    func `each command explains itself`(command: String) async throws {
        for arguments in [["help", command], [command, "--help"]] {
            let result = try await Program(arguments).end()
            #expect(result.status == .exited(0))
            #expect(result.output.contains("USAGE: mynah \(command)"))
            #expect(result.error.isEmpty)
        }
    }

    @Test(arguments: [[], ["--help"], ["help"]])
    func `the program explains itself in lines of 80 columns`(arguments: [String]) async throws {
        let result = try await Program(arguments).end()
        #expect(result.status == .exited(0))
        for command in ["run", "check", "show", "new"] {
            #expect(result.output.contains("\n  mynah \(command) "))
        }
        // What is set in columns stays so: nothing of it was carried over.
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(
            result.output.contains(
                "  mynah show strap.yaml                 the attributes and bytes on the air\n"))
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
    func `a word that is none suggests the near one`(arguments: [String], near: String) async throws {
        let result = try await Program(arguments).end()
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.error.lowercased().contains("did you mean"))
        #expect(result.error.contains("\(near)'?") || result.error.contains("\"\(near)\"?"))
    }

    @Test(arguments: [
        (["run"], "profiles"), (["check"], "profiles"), (["show"], "profile"), (["show", "a", "b"], "'b'"),
        (["run", "a", "--seed", "some"], "--seed"), (["run", "a", "--notification-rate=-1"], "negative"),
        (["run", "a", "--adapter"], "--adapter"), (["new", "--force"], "--force"),
        (["run", "a", "b"], "need a radio each"),
        (["run", "a", "b", "--adapter", "hci0"], "need a radio each"),
        (["run", "a", "--adapter", "hci0", "--adapter", "hci1"], "2 times"),
        (["run", "a", "b", "--adapter", "hci0", "--adapter", "HCI0"], "twice"),
    ])
    func `wrong usage is told with the command's own usage`(arguments: [String], word: String) async throws {
        let result = try await Program(arguments).end()
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.error.contains(word))
        #expect(result.error.contains("Usage: mynah \(arguments[0])"))
    }
}
