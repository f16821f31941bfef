import MynahCore
import MynahProfiles
import MynahTestSupport
import Testing

@Suite struct YAMLTests {
    @Test(
        "a file that is not YAML is reported with the place of the mistake and a remedy",
        arguments: [
            ("", "1:1: error: the file is empty; `mynah new` prints a profile to start from"),
            ("# nothing\n---\n", "1:1: error: the file is empty; `mynah new` prints a profile to start from"),
            ("\tname: x", "1:1: error: a tab is not allowed here; indent with spaces"),
            (
                "name: a: b",
                """
                1:8: error: this is not valid YAML: mapping values are not allowed in this context; quote a \
                text with a colon in it, and begin the keys of one mapping in one column
                """
            ),
            (
                "a: [1\n\n",
                """
                1:6: error: this is not valid YAML: did not find expected ',' or ']' while parsing a flow \
                sequence; a list that begins with [ has no ]
                """
            ),
            (
                "a: {b: c",
                """
                1:9: error: this is not valid YAML: did not find expected ',' or '}' while parsing a flow \
                mapping; a mapping that begins with { has no }
                """
            ),
            (
                "a: \"x",
                """
                1:6: error: this is not valid YAML: found unexpected end of stream while scanning a quoted \
                scalar; a quote is not closed
                """
            ),
            (
                "a: @x",
                """
                1:4: error: this is not valid YAML: found character that cannot start any token while \
                scanning \
                for the next token; quote a text that begins with @, ` or %
                """
            ),
            (
                "a: *x",
                "1:4: error: this is not valid YAML: found undefined alias; quote a text that begins with *"
            ),
            (
                "mynah: 1\n---\nmynah: 1\n",
                "2:1: error: a profile is one document; this is the start of a second"
            ),
            (
                "mynah: 1\nname: a\u{0}b\n",
                "2:8: error: the control character 0x00 is not allowed in YAML; remove it"
            ),
            (
                "mynah: 1\nname: a\u{9B}2J\n",
                "2:8: error: the control character 0x9B is not allowed in YAML; remove it"
            ),
            (
                "mynah: 1\nname: \u{1B}[2J\n",
                "2:7: error: the control character 0x1B is not allowed in YAML; remove it"
            ),
            (
                "hello",
                """
                1:1: error: a profile must be a mapping of mynah, name, device, security, advertising, \
                connection, centrals, mtu, app, phone, central, variables, on, services, faults and \
                scenarios, not "hello"
                """
            ),
            (
                "[1, 2]",
                """
                1:1: error: a profile must be a mapping of mynah, name, device, security, advertising, \
                connection, centrals, mtu, app, phone, central, variables, on, services, faults and \
                scenarios, not a list
                """
            ),
        ])
    func saysWhere(_ text: String, _ expected: String) {
        let problems = problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(expected) == true, "\(problems)")
    }

    @Test("JSON is a profile too")
    func json() throws {
        let profile = try profile(#"{"mynah": 1, "name": "JSON", "services": [{"uuid": "180F"}]}"#)
        #expect(profile.services.map(\.uuid) == ["180F"])
    }

    @Test("a byte order mark and Windows line ends move no place")
    func lineEnds() {
        #expect(
            problems("\u{FEFF}mynah: 1\r\nnme: x\r\nname: y\r\n") == [
                "2:1: error: unknown key \"nme\" in a profile; did you mean \"name\"?"
            ])
    }

    @Test("a file that is not UTF-8 says where")
    func notUTF8() throws {
        let path = try TemporaryFile(Array("mynah: 1\nname: M".utf8) + [0xFC] + Array("ller\n".utf8))
        #expect(try path.problems() == ["2:8: error: this is not UTF-8; save the file as UTF-8 text"])
        let wide = try TemporaryFile([0xFF, 0xFE, 0x6D, 0x00])
        #expect(try wide.problems() == ["1:1: error: the file is UTF-16; save it as UTF-8"])
    }

    @Test("a file that cannot be read says why")
    func unreadable() {
        #expect(
            throws: ProfileIssues([
                ProfileIssue(file: "/nowhere/x.yaml", message: "cannot be read: there is no such file")
            ])
        ) { try ProfileLoader.load(path: "/nowhere/x.yaml") }
        #expect(
            throws: ProfileIssues([
                ProfileIssue(file: "/", message: "is a folder; name a profile in it")
            ])
        ) { try ProfileLoader.load(path: "/") }
    }

    @Test("a pipe is read to its end, although nothing is in it yet")
    func pipes() throws {
        let pipe = try #require(Pipe())
        // A shell takes longer to start than reading does.
        let child = ChildProcess(
            "sh", ["-c", "echo mynah: 1; echo name: Piped"], passing: [pipe.writer: 1])
        pipe.closeWriter()
        let profile = try ProfileLoader.load(path: pipe.path)
        #expect(profile.name == "Piped")
        child?.stop()
    }

    @Test func `only a regular file is read if nothing else may be`() throws {
        let pipe = try #require(Pipe())
        // Reading would wait for its writer, and a device's bytes may never end.
        for path in [pipe.path, "/dev/zero"] {
            #expect(
                throws: ProfileIssues([ProfileIssue(file: path, message: "is not a regular file")])
            ) { try ProfileLoader.load(regularFile: path) }
        }
        pipe.closeWriter()
        let file = try TemporaryFile(Array("mynah: 1\nname: Kept\n".utf8))
        #expect(try ProfileLoader.load(regularFile: file.path).name == "Kept")
    }

    // MARK: Keys that stand twice

    @Test(
        "every repeated key is reported at its second occurrence, with all other errors",
        arguments: [
            (head("device: {name: A, appearance: 0x40, name: B, \"name\": C}\n"), ["3:37", "3:46"]),
            (head("device: {\n  name: A,\n  name : B }\n"), ["5:3"]),
            (head("'name': again\ndevise: x\n"), ["3:1", "4:1"]),
            (head("device:\n  name: A # name: B\n  # name: C\n  name: D\nname: E\n"), ["6:3", "7:1"]),
            (
                head(
                    "services:\n  - uuid: battery\n    uuid: battery\n  - uuid: battery\n    primary: maybe\n"
                ), ["5:5", "7:14"]
            ),
            (head("advertising:\n  serviceData: {180F: 64, 180F: 65}\n"), ["4:27"]),
            (head("device: {name: \"a, name: b\", name: c}\n"), ["3:30"]),
            (head("!!str name: x\n"), ["3:1"]),
        ])
    func doubledKeys(_ text: String, _ places: [String]) {
        #expect(issues(text).map { "\($0.mark?.line ?? 0):\($0.mark?.column ?? 0)" } == places)
        #expect(issues(text).first?.message.hasSuffix("is repeated; remove one") == true)
    }

    // MARK: Files that are meant to hurt

    @Test(
        "a deeply nested file is an error, for every kind of nesting",
        arguments: ["[", "{a: ", "- ", "? ", "[{a: ", "\n- [", "&a [", "!!seq ["])
    func nesting(_ piece: String) {
        let problems = problems(String(repeating: piece, count: 150_000 / piece.utf8.count))
        #expect(problems.count == 1)
        #expect(problems.first?.contains("error: ") == true)
    }

    @Test("a file nested as deep as YAML is read is no profile")
    func deepButRead() {
        let depth = 990
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(
            problems("mynah: 1\nname: Test\nservices: " + text) == [
                """
                3:12: error: a service must be a mapping of uuid, use, omit, primary, includes, behavior, \
                records and characteristics, not a list
                """
            ])
    }

    @Test("ten megabytes are not even looked at")
    func tenMegabytes() throws {
        let file = try TemporaryFile(Array(repeating: UInt8(ascii: "["), count: 10 << 20))
        #expect(
            try file.problems() == [
                "1:1: error: the file is larger than 1024 KiB, the limit for a profile"
            ])
    }

    @Test("aliases that would multiply the file are an error")
    func billionLaughs() {
        var text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (name, before) in zip("bcdefghi", "abcdefgh") {
            text +=
                "\(name): &\(name) [" + Array(repeating: "*\(before)", count: 9).joined(separator: ", ")
                + "]\n"
        }
        #expect(
            problems(text) == [
                """
                1:1: error: its 72 aliases (*name) of 9 anchors could expand without limit; write the \
                values instead
                """
            ])
    }

    @Test("aliases that put one depth on top of another are an error")
    func deepAliases() {
        let (open, close) = (String(repeating: "[", count: 900), String(repeating: "]", count: 900))
        var text = "a: &a \(open)\(close)\n"
        for (name, before) in zip("bcdefghijklmnopqrst", "abcdefghijklmnopqrs") {
            text += "\(name): &\(name) \(open)*\(before)\(close)\n"
        }
        text += "? *t\n: x\n"
        #expect(problems(text).count == 1)
    }

    @Test("an alias repeats the value of its anchor")
    func aliases() throws {
        let profile = try profile(
            head(
                """
                services:
                  - uuid: battery
                    characteristics:
                      - {uuid: 2A19, properties: &readable [read, notify], value: &full {hex: 64}}
                      - {uuid: 2A1B, properties: *readable, value: *full}
                """))
        let characteristics = try #require(profile.services.first).characteristics
        #expect(characteristics.map(\.properties) == [[.read, .notify], [.read, .notify]])
    }

    @Test("thirty uses of one anchor are no bomb")
    func manyAliases() throws {
        let rows = (0..<30).map { "      - {uuid: 2B\($0 + 10), properties: *p}\n" }.joined()
        let text = head(
            """
            services:\n  - uuid: battery\n    characteristics:\n      - {uuid: 2A19, properties: &p \
            [read]}\n
            """
                + rows)
        #expect(try profile(text).services.first?.characteristics.count == 31)
    }

    @Test("a text with many & and * in its comments is no bomb")
    func looksOfAliases() throws {
        let comments = String(repeating: "# R & D & sons * 2 * 3\n#  * a list\n", count: 60)
        #expect(try profile(comments + head("")).name == "Test")
    }

    @Test(
        "a merge key says what to do instead, in every position",
        arguments: [
            "services:\n  - <<: *s\n", "advertising:\n  manufacturerData: {<<: 01}\n",
            """
            services:\n  - uuid: battery\n    characteristics:\n      - uuid: 2A19\n        properties: \
            [read]\n
            """
                + "        value: {<<: {hex: 64}}\n",
        ])
    func mergeKeys(_ text: String) {
        let problems = problems(head(text.replacing("*s", with: "{uuid: battery}")))
        #expect(problems.first?.contains("merge keys (<<) are not supported; write the keys of ") == true)
    }

    @Test("of very many errors a hundred are told")
    func manyErrors() {
        let text = head("services: [" + String(repeating: "{uuid: x}, ", count: 5000) + "]\n")
        let problems = problems(text)
        #expect(problems.count == 101)
        #expect(problems.last?.hasSuffix(": error: there may be more errors; correct these first") == true)
    }

    @Test("very many warnings hide no error")
    func manyWarnings() {
        let rows = String(repeating: "      - {uuid: 2A19, properties: [read], maxLength: 9}\n", count: 200)
        let text = head("services:\n  - uuid: battery\n    characteristics:\n" + rows + "  - {}\n")
        #expect(problems(text).count == 101)
        #expect(problems(text).last == "206:5: error: a service needs a uuid")
    }
}
