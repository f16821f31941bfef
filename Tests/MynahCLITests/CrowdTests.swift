import Glibc
import MynahTestSupport
import Testing

/// Folders of profiles, and copies of one.
@Suite(.timeLimit(.minutes(15))) struct CrowdTests {
    private static let tag = """
        mynah: 1
        name: Tag
        device: {name: Lost}
        advertising: {localName: T, serviceUUIDs: [battery], interval: 100 ms}
        services:
          - uuid: battery
            characteristics:
              - uuid: battery-level
                properties: [read]
                value: {fields: {level: {generate: uniform, min: 0, max: 100}}}

        """

    /// A folder with these files.
    private static func folder(_ files: [String: String]) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for (name, text) in files { try folder.write(text, to: name) }
        return folder
    }

    private static func profile(_ name: String) -> String { "mynah: 1\nname: \(name)\n" }

    /// The names of the devices in the order in which they were ready.
    private static func ready(_ output: String) throws -> [String] {
        try output.split(separator: "\n").map { try json(String($0)) }
            .filter { $0["event"] as? String == "ready" }.compactMap { $0["device"] as? String }
    }

    // MARK: Folders

    @Test func `a folder plays its profiles in the order of their names`() async throws {
        let folder = try Self.folder([
            "b.yaml": Self.profile("Second"), "a.yml": Self.profile("First"),
            "c.json": #"{"mynah": 1, "name": "Third"}"#, "x.schema.json": "{}", ".h.yaml": "mynah: 9\n",
        ])
        let result = try await VirtualStage.run([
            "--events", "json", folder.path, "--until", "ready device=Third",
        ])
        #expect(result.status == .exited(0))
        #expect(try Self.ready(result.output) == ["First", "Second", "Third"])
        let check = try await VirtualStage.play("check", folder.path + "/")
        #expect(check.status == .exited(0))
        let lines = check.output.split(separator: "\n").filter { $0.contains(": ok: ") }
        #expect(
            lines.map { $0.split(separator: ":")[0] }
                == ["a.yml", "b.yaml", "c.json"].map { "\(folder.path)/\($0)" })
    }

    @Test(arguments: ["run", "check"])
    func `a folder without profiles, and a page in one, are errors`(command: String) async throws {
        let empty = try Self.folder(["profile.schema.json": "{}"])
        let none = try await VirtualStage.play(command, empty.path)
        #expect(none.status == .exited(1))
        let message = "\(empty.path): error: the folder has no profile; "
        #expect((none.output + none.error).hasPrefix(message))
        let other = try Self.folder(["a.yaml": Self.profile("Good"), "page.json": #"{"pages": []}"#])
        let page = try await VirtualStage.play(command, other.path)
        #expect(page.status == .exited(1))
        #expect((page.output + page.error).contains("\(other.path)/page.json:1:2: error: "))
    }

    // MARK: Copies

    @Test func `copies are heard by their names, and each has one and a value of its own`() async throws {
        let folder = try Self.folder(["tag.yaml": Self.tag])
        try await VirtualStage.play { stage in
            let device = try await stage.run(
                ["--count", "3", "--seed", "7", folder.path + "/tag.yaml"], radios: 3)
            var levels: [String] = []
            for number in 1...3 {
                let result = await stage.phone([
                    "connect", "T \(number)", "--format", "json", "--command", "read 2A00", "--command",
                    "read battery-level",
                ])
                #expect(result.status == .exited(0))
                let values = try result.output.split(separator: "\n").map { try json(String($0)) }
                    .filter { $0["event"] as? String == "read" }.compactMap { $0["value"] as? String }
                let name = "Lost \(number)".utf8.map { String($0, radix: 16) }.joined().uppercased()
                #expect(values.first == name)
                levels += values.dropFirst()
            }
            #expect(levels.count == 3 && Set(levels).count == 3)
            let read = device.output.lines.first {
                $0.contains("\"read\"") && $0.contains("\"device\":\"Tag 2\"")
            }
            #expect(read != nil)
        }
    }

    @Test func `a name that has no room any more is an error with its place`() async throws {
        let result = try await VirtualStage.play(
            "run", "--radio", "virtual", "--count", "10000", "\(repository)/profiles/battery.yaml")
        #expect(result.status == .exited(1))
        #expect(result.output == "")
        #expect(
            result.error == """
                \(repository)/profiles/battery.yaml:7:9: error: the copy's name "Mynah Battery 10000" is 2 \
                bytes too long: the advertising data has room for a name of 17 bytes; shorten it, leave \
                something else out, or write localName: ""
                  name: Mynah Battery
                        ^

                """)
    }

    @Test(arguments: [
        (
            ["battery", "heart-rate"], ["--count", "2"],
            "--count plays copies of one profile, and 2 are given"
        ),
        (["phone-lock-app"], ["--count", "2"], "has app:, of which a phone has one"),
        (["battery"], ["--count", "0"], "expected a whole number from 1 to 20000"),
        (["battery"], ["--count", "2", "--radio", "bluez"], "repeat --adapter 2 times"),
        (["battery"], ["--count", "2", "--radio", "hci:pty:/dev/null"], "is one radio"),
    ])
    func `copies that no radio can play are wrong usage`(
        profiles: [String], options: [String], word: String
    ) async throws {
        let files = profiles.map { "\(repository)/profiles/\($0).yaml" }
        let result = try await VirtualStage.play(["run"] + options + files)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(word))
    }

    @Test func `a file's stem is not the name of one copy, and the message lists a few`() async throws {
        let folder = try Self.folder(["tag.yaml": Self.tag])
        let result = try await VirtualStage.play(
            "run", "--radio", "virtual", "--count", "1000", "--at", "1s=tag:outOfRange",
            folder.path + "/tag.yaml")
        #expect(result.status == .exited(64))
        #expect(result.error.contains(#""tag" fits "Tag 1" ("#))
        #expect(result.error.contains(" and 992 more"))
        #expect(!result.error.contains("Tag 9 "))
    }
}
