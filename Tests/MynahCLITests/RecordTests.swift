import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah record`, beside devices on an air of their own.
@Suite(.processes, .timeLimit(.minutes(15))) struct RecordTests {
    /// A device with notifications, one with parts of every kind, and ones that a phone writes to.
    private static let devices = [
        "heart-rate", "everything-accessory", "nordic-uart", "environmental-sensing",
    ]

    /// Where the table of a recorded profile may differ: a central without a passkey cannot see it.
    private static let unseen = ["6D79A012", "6D79A013"]

    @Test(arguments: devices)
    func `a recorded device comes back as the same device`(name: String) async throws {
        let directory = try TemporaryDirectory()
        let profile = "\(repository)/profiles/\(name).yaml"
        let shown = try await ImportTests.show(profile)
        let folder = directory.path + "/recorded"
        let result = try await VirtualStage.play { stage in
            let devices = try await stage.devices([profile])
            return await stage.phone(
                ["record", try devices[0].address(), "--timeout", "2 s", "--output", folder]
                    + (name == "everything-accessory" ? ["--passkey", "123456"] : []))
        }
        // The device shows another passkey, so its protected values are not read.
        let isWhole = name != "everything-accessory"
        #expect(result.status == .exited(isWhole ? 0 : 1), "\(result.error)")
        #expect(result.error.contains(" not read, and ") != isWhole, "\(result.error)")
        let path = try #require(result.output.split(separator: "\n").first.map(String.init))
        let checked = try await VirtualStage.play("check", path)
        #expect(checked.status == .exited(0) && !checked.output.contains("warning: "), "\(checked.output)")
        let again = try await ImportTests.show(path)
        let differences = ImportTests.differences(
            ImportTests.only(["advertising", "services"], of: shown),
            ImportTests.only(["advertising", "services"], of: again)
        ).filter { line in !Self.unseen.contains { line.contains($0) } }
        #expect(differences == [])
        for file in result.output.split(separator: "\n") { unlink(String(file)) }
        rmdir(folder)
    }

    private static let cell = """
        mynah: 1
        name: Cell
        advertising: {serviceUUIDs: [180F]}
        services:
          - uuid: 180F
            characteristics:
              - uuid: 2A19
                properties: [read, notify]
                value: {fields: {level: {generate: list, values: [10, 20, 30]}}}
                every: 100 ms
        """

    /// The values that a device notified after each subscription, as its events tell.
    private static func notified(by device: PlayedCommand) throws -> [[String]] {
        var values: [[String]] = []
        for line in device.output.lines {
            let event = try JSON(parsing: Array(line.utf8))
            guard event["characteristic"]?.stringValue == "2A19" else { continue }
            switch event["event"]?.stringValue {
            case "subscribed": values.append([])
            case "notified" where !values.isEmpty:
                values[values.count - 1].append(event["value"]?.stringValue ?? "")
            default: break
            }
        }
        return values
    }

    @Test func `a recording has the values that the device sent, and the next one does not replace it`()
        async throws
    {
        try await VirtualStage.play { stage in
            let directory = try TemporaryDirectory()
            try directory.write(Self.cell, to: "cell.yaml")
            let devices = try await stage.devices([directory.path + "/cell.yaml"])
            let folder = directory.path + "/cells"
            let names = ["cell", "cell-2"]
            var recorded: [[String]] = []
            for name in names {
                let result = await stage.phone(["record", "Cell", "--timeout", "2 s", "--output", folder])
                #expect(result.status == .exited(0), "\(result.error)")
                #expect(result.output == "\(folder)/\(name).yaml\n\(folder)/\(name).jsonl\n")
                #expect(try directory.read("cells/\(name).yaml").contains("file: \"\(name).jsonl\""))
                let lines = try directory.read("cells/\(name).jsonl").split(separator: "\n").map {
                    try JSON(parsing: Array($0.utf8))
                }
                for line in lines {
                    #expect(line["service"]?.stringValue == "180F" && line["at"] != nil)
                    #expect(line["characteristic"]?.stringValue == "2A19")
                }
                recorded.append(lines.map { $0["value"]?.stringValue ?? "" })
            }
            let notified = try Self.notified(by: devices[0])
            #expect(notified.count == recorded.count)
            for (sent, kept) in zip(notified, recorded) {
                #expect(!kept.isEmpty && sent.starts(with: kept), "\(sent), \(kept)")
            }
            for name in names { for kind in ["yaml", "jsonl"] { unlink("\(folder)/\(name).\(kind)") } }
            rmdir(folder)
        }
    }

    @Test func `a folder that cannot be written to is an error before the search`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "file")
        for (folder, words, remedy) in [
            (
                directory.path + "/missing/folder", "/missing/folder cannot be made: ",
                "; make the one above it: mkdir -p \(directory.path)/missing\n"
            ),
            (directory.path + "/file", "/file cannot be written to: ", "; --output takes a folder\n"),
            (
                directory.path + "/file/folder", "/file/folder cannot be made: ",
                "; name another with --output\n"
            ),
        ] {
            let result = try await VirtualStage.play("record", "x", "--radio", "virtual", "--output", folder)
            #expect(result.status == .exited(1) && result.output == "")
            #expect(result.error.contains(words) && result.error.hasSuffix(remedy), "\(result.error)")
            #expect(!result.error.contains("looking for"))
        }
    }

    @Test func `a recording whose folder is gone at the end is printed`() async throws {
        try await VirtualStage.play { stage in
            let directory = try TemporaryDirectory()
            _ = try await stage.devices()
            let folder = directory.path + "/strap"
            let recording = stage.start(phone: ["record", "Mynah HRM", "--output", folder])
            #expect(try await recording.error.line(containing: "recording the values") != nil)
            #expect(rmdir(folder) == 0)
            try directory.write("", to: "strap")
            recording.quit()
            let result = await recording.end()
            #expect(result.status == .exited(1))
            #expect(result.error.contains(" cannot be written: "), "\(result.error)")
            #expect(result.output.hasPrefix("# Recorded from ") && result.output.contains("- uuid: 2A37"))
        }
    }

    @Test(arguments: [nil, "000000"] as [String?])
    func `values that need another pairing are an error`(passkey: String?) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(PairingRunTests.lock("displayOnly"), to: "lock.yaml")
        let result = try await VirtualStage.play { stage in
            _ = try await stage.devices([directory.path + "/lock.yaml"])
            return await stage.phone(
                ["record", "Lock", "--timeout", "1 s"] + (passkey.map { ["--passkey", $0] } ?? []))
        }
        #expect(result.status == .exited(1))
        #expect(result.error.contains("1 value was not read, and "), "\(result.error)")
        #expect(result.error.contains("the device may need --passkey") == (passkey == nil))
        #expect(result.output.contains("# Its value was never read."))
    }

    /// A recording on a terminal, of a device that a pairing with a number protects.
    private func protected(
        _ io: String, _ body: (_ device: Program, _ terminal: Terminal) async throws -> Void
    ) async throws -> (status: ChildProcess.Status, profile: String) {
        let directory = try TemporaryDirectory()
        try directory.write(PairingRunTests.lock(io), to: "lock.yaml")
        let stage = try await AirStage([directory.path + "/lock.yaml"])
        let terminal = try Terminal()
        let folder = directory.path + "/recorded"
        let recording = try stage.phone(
            ["record", "Lock", "--timeout", "1 s", "--output", folder], terminal: terminal,
            hasErrorsOnTerminal: true)
        try await body(stage.devices[0], terminal)
        let status = try await recording.child.end()
        try await stage.end()
        return (status, try directory.read("recorded/lock.yaml"))
    }

    @Test func `a number that the device shows is typed, and what is protected is read`() async throws {
        let (status, profile) = try await protected("displayOnly") { device, terminal in
            let shown = try #require(await device.output.line(containing: "pairing.passkey"))
            #expect(try await terminal.output.line(containing: "type the number that the device") != nil)
            terminal.type("which number\n")
            #expect(try await terminal.output.line(containing: "up to six digits, or no") != nil)
            let passkey = try JSON(parsing: Array(shown.utf8))["passkey"]?.stringValue
            terminal.type(try #require(passkey) + "\n")
        }
        #expect(status == .exited(0))
        #expect(profile.contains("value: {hex: 64}"), "\(profile)")
    }

    @Test func `numbers are compared`() async throws {
        let (status, profile) = try await protected("displayYesNo") { device, terminal in
            let shown = try #require(await device.output.line(containing: "pairing.passkey"))
            let number = try #require(try JSON(parsing: Array(shown.utf8))["passkey"]?.stringValue)
            #expect(try await terminal.output.line(containing: "does the device show \(number)?") != nil)
            #expect(try await terminal.output.line(containing: "yes or no:") != nil)
            terminal.type("yes\n")
        }
        #expect(status == .exited(0))
        #expect(profile.contains("value: {hex: 64}"), "\(profile)")
    }

    /// Control-D ends the input: nobody can answer.
    @Test(arguments: ["no\n", "\u{04}"]) func `a number that is not typed leaves the rest`(answer: String)
        async throws
    {
        let (status, profile) = try await protected("displayOnly") { (_, terminal) async throws in
            #expect(try await terminal.output.line(containing: "type the number that the device") != nil)
            terminal.type(answer)
            #expect(try await terminal.output.line(containing: "1 value was not read, and ") != nil)
        }
        #expect(status == .exited(1))
        #expect(profile.contains("# Its value was never read."))
    }

    @Test func `Ctrl-C ends a recording, whose profile is written all the same`() async throws {
        try await VirtualStage.play { stage in
            let directory = try TemporaryDirectory()
            _ = try await stage.devices()
            let recording = stage.start(phone: ["record", "Mynah HRM"])
            #expect(try await recording.error.line(containing: "recording the values") != nil)
            recording.quit()
            let result = await recording.end()
            #expect(result.status == .exited(0), "\(result.error)")
            #expect(result.output.hasPrefix("# Recorded from "))
            try directory.write(result.output, to: "a.yaml")
            #expect(await stage.play(["check", directory.path + "/a.yaml"]).status == .exited(0))
        }
    }

    @Test func `a device that vanishes leaves what was seen`() async throws {
        try await VirtualStage.play { stage in
            let devices = try await stage.devices()
            let recording = stage.start(phone: ["record", "Mynah HRM"])
            #expect(try await recording.error.line(containing: "recording the values") != nil)
            await stage.quit(devices)
            let result = await recording.end()
            #expect(result.status == .exited(0), "\(result.error)")
            #expect(result.error.contains("warning: the device has ended the connection"))
            #expect(result.output.contains("- uuid: 2A37"))
        }
    }

    @Test func `a device that ends the link while it is asked leaves what was seen, and an error`()
        async throws
    {
        try await VirtualStage.play { stage in
            let directory = try TemporaryDirectory()
            try directory.write(
                """
                mynah: 1
                name: Short
                advertising: {serviceUUIDs: [180F]}
                services:
                  - uuid: 180F
                    characteristics:
                      - {uuid: 2A19, properties: [read], value: {hex: 64}}
                      - {uuid: 2A38, properties: [read], value: {hex: 01}}
                faults:
                  - {name: gone, on: read, of: 2A19, do: disconnect}
                """, to: "short.yaml")
            _ = try await stage.devices([directory.path + "/short.yaml"])
            let result = await stage.phone(["record", "Short", "--timeout", "10 s"])
            #expect(result.status == .exited(1))
            #expect(result.error.contains("the profile has what was seen until then: "), "\(result.error)")
            #expect(result.error.contains(" not read, and "), "\(result.error)")
            #expect(result.output.contains("- uuid: 2A38") && result.output.contains("never read"))
        }
    }

    @Test func `wrong use is an error that says what to do`() async throws {
        for (arguments, words) in [
            ([""], "DEVICE is empty: write an address or a name"),
            (["x", "--timeout", "never"], "--timeout never: the time "),
            (["x", "--radio", "bluez"], "do not use BlueZ"),
            (["x", "--capture", "-"], "--capture - is for `mynah run`"), ([], "<device>"),
        ] {
            let result = try await VirtualStage.play(["record"] + arguments)
            #expect(result.status == .exited(64) && result.output == "")
            #expect(result.error.contains(words), "\(result.error)")
        }
    }
}
