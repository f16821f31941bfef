import Foundation
import FoundationXML
import Glibc
import MynahTestSupport
import Testing

/// `run --scenario`, `--report` and `ctl scenario`.
@Suite(.processes, .timeLimit(.minutes(15))) struct ScenarioRunTests {
    private let folder: TemporaryDirectory
    private var report: String { folder.path + "/report.xml" }

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(
            """
            mynah: 1
            name: Strap
            advertising: {serviceUUIDs: [180D], interval: 20 ms}
            services:
              - uuid: 180D
                characteristics:
                  - {uuid: 2A37, properties: [notify], value: {hex: 00 48}, every: 50 ms}
                  - {uuid: 2A39, properties: [write]}
            scenarios:
              - {name: used, steps: [{await: subscribed, of: 2A37}, {await: write, value: 01}, {after: 1 ms}]}
              - {name: written, steps: [{await: write, value: 01}, {expect: notified, within: 10 min}]}
              - {name: not <used>, steps: [{expect: write, value: FE, within: 1 ms}]}
              - {name: long, steps: [{await: write, value: FF}]}
              - {name: left, steps: [{await: subscribed}, {await: central.disconnected}]}
            """, to: "strap.yaml")
        try folder.write(
            """
            mynah: 1
            name: Phone
            app: {backgroundModes: [bluetooth-central]}
            central:
              scan: {services: [180D]}
              peripherals:
                - name: Strap
                  subscribe: [180D/2A37]
                  write: [{to: 180D/2A39, value: {hex: 01}, every: 50 ms}]
            scenarios:
              - name: values come
                steps:
                  - {await: value.updated, of: 2A37, value: 00 48}
                  - {app: background}
                  - {expect: value.updated, within: 10 min}
              - {name: long, steps: [{await: value.updated, value: FF}]}
            """, to: "phone.yaml")
    }

    private func words(_ options: [String], _ files: [String] = ["strap", "phone"]) -> [String] {
        ["run", "--radio", "virtual", "--events", "json"] + options
            + files.map { "\(folder.path)/\($0).yaml" }
    }

    private func run(
        _ options: [String], _ files: [String] = ["strap", "phone"]
    ) async throws -> Program.Result {
        try await VirtualStage.play(words(options, files))
    }

    /// The elements of the report, as a reader of XML has them.
    private func elements() throws -> [Element] {
        let reader = ElementReader()
        let parser = XMLParser(data: try Data(contentsOf: URL(fileURLWithPath: report)))
        parser.delegate = reader
        try #require(parser.parse())
        #expect(reader.elements.prefix(2).map(\.name) == ["testsuites", "testsuite"])
        return reader.elements
    }

    private func report(_ name: String) throws -> String {
        let elements = try elements().dropFirst(2)
        let test = try #require(elements.first)
        #expect(elements.count <= 2 && test.name == "testcase" && test.attributes["name"] == name)
        #expect(Double(test.attributes["time"] ?? "") != nil)
        let trouble = elements.dropFirst().first.map { " \($0.name): \($0.attributes["message"] ?? "")" }
        return (test.attributes["classname"] ?? "") + (trouble ?? "")
    }

    @Test func `an accessory's scenario that passes ends the run with 0`() async throws {
        let result = try await run(["--scenario", "used", "--report", report])
        #expect(result.status == .exited(0))
        #expect(result.complaint == "")
        let ends = result.output.split(separator: "\n").filter { $0.contains("scenario.ended") }
        #expect(ends.count == 1)
        #expect(
            ends.first?.hasSuffix(
                #""scenario":"used","result":"pass","step":3,"message":"every step was played"}"#
            )
                == true)
        #expect(try report("used") == "Strap")
        #expect(folder.files.sorted() == ["phone.yaml", "report.xml", "strap.yaml"])
    }

    @Test func `a central's scenario tests the device that it connects to`() async throws {
        let result = try await run(["--scenario", "values come", "--report", report])
        #expect(result.status == .exited(0))
        #expect(try report("values come") == "Phone")
    }

    @Test func `a scenario that fails ends the run with 1 and one line, also without events`() async throws {
        let result = try await run(
            ["--scenario", "not <used>", "--report", report, "--events", "off"], ["strap"])
        #expect(result.status == .exited(1))
        #expect(result.output == "")
        let place = "step 1: no write within 1 ms (expect: write, value: FE, within: 1 ms)"
        #expect(result.complaint == "error: the scenario \"not <used>\" failed at \(place)\n")
        #expect(try report("not <used>") == "Strap failure: \(place)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a scenario that a signal ends has an error, and the status is 1`(signal: Int32) async throws {
        let program = try Program(words(["--scenario", "Strap:long", "--report", report]))
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        program.child.send(signal)
        let result = try await program.end()
        #expect(result.status == .exited(1))
        #expect(
            result.complaint.hasPrefix(
                "error: the scenario \"long\" did not end: the run was interrupted at "))
        #expect(try report("long").hasPrefix("Strap error: the run was interrupted at step 1: "))
    }

    @Test func `a link that ends with the run passes no scenario`() async throws {
        let status = try await VirtualStage.play { stage in
            let program = stage.start(words(["--scenario", "left", "--report", report]))
            #expect(try await program.output.line(containing: "\"subscribed\"") != nil)
            // The report of an earlier run does not stay while this one plays.
            let early = try report("left")
            #expect(early.hasPrefix("Strap error: "))
            program.quit()
            return await program.end().status
        }
        #expect(status == .exited(1))
        #expect(try report("left").hasPrefix("Strap error: the run was interrupted at step 2: "))
    }

    @Test func `a scenario that does not end in time has an error, and so has one that never begins`()
        async throws
    {
        let late = try await run(["--scenario", "long", "--report", report, "--timeout", "1 ms"], ["strap"])
        #expect(late.status == .exited(1))
        #expect(
            try report("long").hasPrefix("Strap error: --timeout (1 ms) expired at step 1: "))
        let radio = ["--radio", "hci:unix:\(folder.path)/none"]
        let dead = try await Program(words(["--scenario", "long", "--report", report] + radio, ["strap"]))
            .end()
        #expect(dead.status == .exited(1))
        #expect(try report("long").contains("error: "))
        #expect(dead.error.contains("error: "))
    }

    @Test func `wrong options are reported before the radio starts`() async throws {
        let wrong: [([String], String)] = [
            (["--scenario", "lnog"], "--scenario: there is no scenario \"lnog\"; did you mean \"long\"?"),
            (
                ["--scenario", "Strap:x"],
                "--scenario: there is no scenario \"Strap:x\"; the scenarios are \"used\""
            ),
            (["--scenario", "Belt:used"], "--scenario: there is no device \"Belt\""),
            (
                ["--scenario", "long"],
                "2 devices have a scenario \"long\": name one of \"Strap:long\" and \"Phone:long\""
            ),
            (["--report", report], "--report is about a scenario, and needs --scenario"),
            (["--scenario", "used", "--until", "ready"], "--until and --scenario cannot be combined"),
        ]
        for (options, message) in wrong {
            let result = try await run(options)
            #expect(result.status == .exited(64))
            #expect(result.error.contains(message))
            #expect(result.output == "")
        }
        let nowhere = try await run(["--scenario", "used", "--report", "/nonexistent/a.xml"])
        #expect(nowhere.status == .exited(1) && nowhere.output == "")
        #expect(
            nowhere.complaint == "error: /nonexistent/a.xml cannot be written: No such file or directory\n")
        let folder = try await run(["--scenario", "used", "--report", folder.path])
        #expect(folder.status == .exited(1) && folder.complaint.contains("is a directory"))
        let device = try await run(["--scenario", "used", "--report", "/dev/null"])
        #expect(device.status == .exited(1) && device.complaint.contains("/dev/null is no regular file"))
    }

    @Test func `ctl plays a scenario, and exits as it ends`() async throws {
        let address = "unix:\(folder.path)/control"
        func ctl(_ words: String...) async throws -> Program.Result {
            try await Program(["ctl", "--control", address] + words).end()
        }
        let program = try Program(words(["--control", address]))
        #expect(try await program.output.line(containing: "\"control\"") != nil)
        let passed = try await ctl("scenario", "Strap", "written")
        #expect(passed.status == .exited(0))
        #expect(passed.output.contains("scenario written  result pass  step 2"))
        let failed = try await ctl("scenario", "strap", "not <used>", "--format", "json")
        #expect(failed.status == .exited(1))
        #expect(failed.output.contains(#""result":"fail""#))
        let unknown = try await ctl("scenario", "Strap", "wriiten")
        #expect(unknown.status == .exited(1))
        #expect(unknown.error == "error: Strap has no scenario \"wriiten\"; did you mean \"written\"?\n")
        async let long = ctl("scenario", "Phone", "long")
        let begun = try await ctl(
            "wait", "app.launched", "device=Phone", "--since", "1", "--within", "10 min")
        #expect(begun.status == .exited(0))
        try await until("the scenario is played") {
            try await ctl("show", "Phone", "--format", "json").output.contains(#""playing":true"#)
        }
        #expect(try await ctl("reset", "--variables").status == .exited(0))
        let reset = try await long
        #expect(reset.status == .exited(1))
        #expect(reset.output.contains("the device was reset"))
        program.child.send(SIGTERM)
        #expect(try await program.end().status == .exited(0))
    }
}

private struct Element {
    let name: String
    let attributes: [String: String]
}

private final class ElementReader: NSObject, XMLParserDelegate {
    var elements: [Element] = []

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName qName: String?, attributes attributeDict: [String: String] = [:]
    ) {
        elements.append(Element(name: elementName, attributes: attributeDict))
    }
}
