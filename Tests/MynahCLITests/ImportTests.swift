import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah import`, with captures of its own.
@Suite(.timeLimit(.minutes(15))) struct ImportTests {
    /// The accessories among the shipped profiles: an app's adverts are an iPhone's, which no accessory has.
    private static let shipped = [
        "battery", "bike-trainer", "current-time", "cycling-power", "cycling-speed-and-cadence",
        "device-information", "environmental-sensing", "esp32-uart", "everything-accessory",
        "fitness-machine",
        "flaky-heart-rate", "glucose", "glucose-meter", "health-thermometer", "heart-rate", "lock",
        "nordic-uart",
    ]

    /// The output of `show` for a profile.
    static func show(_ path: String) async throws -> JSON {
        let result = try await VirtualStage.play("show", path, "--format", "json")
        #expect(result.status == .exited(0), "\(result.error)")
        return try JSON(parsing: Array(result.output.utf8))
    }

    /// The reads, and the first subscription, that a profile as `show` prints it allows.
    private static func commands(_ shown: JSON, _ name: String) -> [String] {
        // All else of it needs pairing.
        if name == "everything-accessory" {
            let long = "6D796E61-0105-4C61-8000-6C6162000000"
            return ["2A19", long, long + "/2900", long + "/2901", long + "/2904"].map { "read \($0)" }
        }
        var reads: [String] = []
        var subscriptions: [String] = []
        for service in shown["services"]?.arrayValue ?? [] {
            for characteristic in service["characteristics"]?.arrayValue ?? [] {
                let path = characteristic["path"]?.stringValue ?? ""
                let properties = characteristic["properties"]?.arrayValue?.compactMap(\.stringValue) ?? []
                if properties.contains("read") { reads.append("read \(path)") }
                if properties.contains("notify") { subscriptions.append("subscribe \(path)") }
                for descriptor in characteristic["descriptors"]?.arrayValue ?? [] {
                    reads.append("read \(descriptor["path"]?.stringValue ?? "")")
                }
            }
        }
        return reads + subscriptions.prefix(1) + ["wait 1500 ms"]
    }

    /// Where two profiles differ as `show` prints them; a value that one of them lacks is no difference, nor
    /// is an interval that the first leaves to the radio.
    static func differences(_ first: JSON, _ second: JSON, at place: String = "") -> [String] {
        switch (first, second) {
        case (.object(let members), .object):
            return members.flatMap { member -> [String] in
                let other = second[member.key]
                switch member.key {
                case "value", "fields": if other == nil { return [] }
                case "intervalMilliseconds": if member.value == .null { return [] }
                // Only a write would show that this descriptor can be written, and it needs pairing.
                case "properties" where second["uuid"]?.stringValue?.hasPrefix("6D796E61-0151") == true:
                    return []
                default: break
                }
                let name = second["path"]?.stringValue ?? ""
                return differences(member.value, other ?? .null, at: "\(place)/\(name)/\(member.key)")
            }
        case (.array(let ones), .array(let others)):
            guard ones.count == others.count else { return ["\(place): \(ones.count), \(others.count)"] }
            return zip(ones, others).flatMap { differences($0, $1, at: place) }
        default:
            return first == second ? [] : ["\(place): \(first.text), \(second.text)"]
        }
    }

    static func only(_ keys: [String], of shown: JSON) -> JSON {
        .object(keys.map { .init($0, shown[$0] ?? .null) })
    }

    @Test(arguments: shipped)
    func `a capture of a shipped profile comes back as the same device`(name: String) async throws {
        let directory = try TemporaryDirectory()
        let (ours, theirs) = (directory.path + "/ours.pcapng", directory.path + "/theirs.pcapng")
        let profile = "\(repository)/profiles/\(name).yaml"
        let shown = try await Self.show(profile)
        let result = try await VirtualStage.play { stage in
            let devices = try await stage.devices([profile], ["--capture", ours])
            return await stage.phone(
                ["connect", try devices[0].address(), "--quiet", "--capture", theirs]
                    + Self.commands(shown, name).flatMap { ["--command", $0] })
        }
        #expect(result.status == .exited(0), "\(result.error)")
        for (capture, isOurs) in [(ours, true), (theirs, false)] {
            let folder = directory.path + (isOurs ? "/our-profile" : "/their-profile")
            let imported = try await VirtualStage.play("import", capture, "--output", folder)
            #expect(imported.status == .exited(0), "\(imported.error)")
            let path = try #require(imported.output.split(separator: "\n").first.map(String.init))
            let checked = try await VirtualStage.play("check", path)
            #expect(checked.status == .exited(0))
            #expect(!checked.output.contains("warning: "), "\(checked.output)")
            let again = try await Self.show(path)
            // A phone that connects at once does not hear enough adverts for the interval.
            let keys = isOurs ? ["advertising", "services"] : ["services"]
            #expect(
                Self.differences(Self.only(keys, of: shown), Self.only(keys, of: again)) == [], "\(capture)")
            for file in imported.output.split(separator: "\n") { unlink(String(file)) }
            rmdir(folder)
        }
    }

    @Test func `a profile goes to standard output, and its lost times are a warning`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let phone = try await VirtualStage.play { stage in
            _ = try await stage.devices([AirStage.heartRate], ["--capture", path])
            return await stage.phone([
                "connect", "Mynah HRM", "--command", "subscribe 2A37", "--command", "wait 2 s",
            ])
        }
        #expect(phone.status == .exited(0))
        let result = try await VirtualStage.play("import", path)
        #expect(result.status == .exited(0))
        #expect(result.output.hasPrefix("# Imported from a.pcapng."))
        #expect(result.error.contains("a.pcapng: warning: the profile has no times for the "))
        try directory.write(result.output, to: "a.yaml")
        #expect(try await VirtualStage.play("check", directory.path + "/a.yaml").status == .exited(0))

        let folder = directory.path + "/out"
        let first = try await VirtualStage.play("import", path, "--output", folder)
        #expect(first.output == "\(folder)/mynah-hrm.yaml\n\(folder)/mynah-hrm.jsonl\n")
        #expect(first.error == "")
        let second = try await VirtualStage.play("import", path, "--output", folder)
        #expect(second.status == .exited(1))
        #expect(second.error.contains("mynah-hrm.yaml exists; remove it, or name another folder"))
        // Of two files none is left alone.
        for file in ["yaml", "jsonl"] {
            unlink("\(folder)/mynah-hrm.\(file)")
            let third = try await VirtualStage.play("import", path, "--output", folder)
            let other = file == "yaml" ? "jsonl" : "yaml"
            #expect(third.error.contains("mynah-hrm.\(other) exists; remove it, or name another folder"))
            #expect(access("\(folder)/mynah-hrm.\(file)", F_OK) != 0)
            #expect(unlink("\(folder)/mynah-hrm.\(other)") == 0)
            #expect(try await VirtualStage.play("import", path, "--output", folder).status == .exited(0))
        }
        for file in first.output.split(separator: "\n") { unlink(String(file)) }
        rmdir(folder)
    }

    @Test func `the use of a device by a phone is played again as an app`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let phone = try await VirtualStage.play { stage in
            _ = try await stage.devices()
            let commands = ["subscribe 2A37", "wait 2 s", "write 2A39 01", "wait 3 s", "write 2A39 01"]
            return await stage.phone(
                ["connect", "Mynah HRM", "--quiet", "--capture", path]
                    + commands.flatMap { ["--command", $0] })
        }
        #expect(phone.status == .exited(0), "\(phone.error)")
        let result = try await VirtualStage.play("import", path, "--phone")
        #expect(result.status == .exited(0), "\(result.error)")
        try directory.write(result.output, to: "app.yaml")
        let run = try await VirtualStage.play(
            "run", directory.path + "/app.yaml", AirStage.heartRate, "--radio", "virtual", "--events", "json",
            "--timeout", "20s")
        let written = try run.output.split(separator: "\n").filter { $0.contains("\"value.written\"") }
            .map { try JSON(parsing: Array($0.utf8)) }
        #expect(written.map { $0["value"] } == [.string("01"), .string("01")], "\(result.output)")
        let times = written.compactMap { $0["time"]?.stringValue?.dropLast().split(separator: ":").last }
            .compactMap { Double($0) }
        #expect(times.count == 2 && abs(times[1] - times[0] - 3) < 0.2, "\(times)")
    }

    @Test func `keys of a sniffer's links are read from a file`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("hello there, reader", to: "text")
        try directory.write("12", to: "keys")
        let keys = directory.path + "/keys"
        let bad = try await VirtualStage.play("import", directory.path + "/text", "--ltk-file", keys)
        #expect(bad.status == .exited(1))
        #expect(bad.error.contains("keys: error: at line 1: a long-term key has 32 hexadecimal digits"))
        try directory.write("00112233445566778899AABBCCDDEEFF", to: "keys")
        let good = try await VirtualStage.play("import", directory.path + "/text", "--ltk-file", keys)
        #expect(good.error.contains("text: error: at byte 0: this is no capture"))
    }

    @Test func `a file that cannot be imported ends with 1 and the reason`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("hello there, reader", to: "text")
        for (path, words) in [
            (directory.path + "/none", "none: error: cannot be read: there is no such file"),
            (directory.path, ": error: is a folder; name a capture in it"),
            (directory.path + "/text", "text: error: at byte 0: this is no capture; known are"),
        ] {
            let result = try await VirtualStage.play("import", path)
            #expect(result.status == .exited(1) && result.output == "")
            #expect(result.error.contains(words), "\(result.error)")
        }
        #expect(try await VirtualStage.play("import").status == .exited(64))
    }
}
