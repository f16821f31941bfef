import MynahSupport
import MynahTestSupport
import Testing

/// Periodic advertising that is captured or recorded, imported and played again.
@Suite(.timeLimit(.minutes(15))) struct TrainImportTests {
    private static let beacon = """
        mynah: 1
        name: Beacon
        advertising:
          - {name: main, serviceUUIDs: [180F]}
          - name: air
            connectable: false
            localName: ""
            extended: {data: 2M}
            manufacturerData: {0x0059: 0A}
            every: 200 ms
            periodic:
              interval: 100 ms
              value:
                serviceData: {181A: 34 08}
                manufacturerData:
                  0x1234:
                    layout: [{number: uint8}]
                    fields: {number: {generate: list, values: [1, 2, 3, 4]}}
          - name: long
            connectable: false
            localName: ""
            extended: true
            periodic: {interval: {min: 40 ms, max: 50 ms}, value: {raw: [{0x09: 41 42}, {0xFF: \(long)}]}}
        services:
          - {uuid: 180F, characteristics: [{uuid: 2A19, properties: [read], value: {hex: 32}}]}
        """
    private static let long = String(repeating: "AB", count: 252)

    /// The advertising of an imported profile; its list of values begins with the smallest.
    private static func advertising(_ text: String) -> String {
        let lines = text.split(separator: "\n").drop { $0 != "advertising:" }.prefix {
            $0.hasPrefix(" ") || $0 == "advertising:"
        }
        let whole = lines.joined(separator: "\n")
        let values = ["01", "02", "03", "04"].map { "\"\($0)\"" }
        let rotations = values.indices.map { (values[$0...] + values[..<$0]).joined(separator: ", ") }
        return rotations.reduce(whole) { $0.replacing($1, with: rotations[0]) }
    }

    private static func expectTrains(in text: String, ranges: Bool) {
        #expect(
            text.contains(
                #"0x1234: {layout: [{data: bytes}], fields: {data: {generate: list, values: ["#), "\(text)")
        for value in ["01", "02", "03", "04"] { #expect(text.contains("\"\(value)\""), "\(text)") }
        #expect(text.contains("          181A: 34 08") && text.contains("    every: 200 ms\n"))
        #expect(text.contains("        - 0x09: 41 42"), "\(text)")
        #expect(text.contains(ranges ? "interval: {min: 40 ms, max: 50 ms}" : "interval: 40 ms"), "\(text)")
        #expect(!text.contains("left out"), "\(text)")
    }

    /// Plays a profile, with a phone that receives its trains; imports what each of the two captured.
    private static func captured(_ profile: String, in directory: TemporaryDirectory) async throws -> [String]
    {
        let files = ["device", "phone"].map { directory.path + "/\($0).pcapng" }
        let result = try await VirtualStage.play { stage in
            _ = try await stage.devices([profile], ["--capture", files[0]])
            return await stage.phone(["scan", "--periodic", "--timeout", "6 s", "--capture", files[1]])
        }
        #expect(result.status == .exited(0), "\(result.error)")
        var texts: [String] = []
        for file in files {
            let imported = try await VirtualStage.play("import", file)
            #expect(imported.status == .exited(0), "\(imported.error)")
            texts.append(imported.output)
        }
        return texts
    }

    @Test func `the trains of both captures come back, and are the same when they are played again`()
        async throws
    {
        let directory = try TemporaryDirectory()
        try directory.write(Self.beacon, to: "beacon.yaml")
        let texts = try await Self.captured(directory.path + "/beacon.yaml", in: directory)
        for (index, text) in texts.enumerated() {
            Self.expectTrains(in: text, ranges: index == 0)
            try directory.write(text, to: "again.yaml")
            let again = try await Self.captured(directory.path + "/again.yaml", in: directory)
            #expect(Self.advertising(again[index]) == Self.advertising(text))
        }
    }

    @Test func `a recorded device has its trains`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.beacon, to: "beacon.yaml")
        let result = try await VirtualStage.play { stage in
            let devices = try await stage.devices([directory.path + "/beacon.yaml"])
            return await stage.phone(["record", try devices[0].address(), "--timeout", "1 s"])
        }
        #expect(result.status == .exited(0), "\(result.error)")
        Self.expectTrains(in: result.output, ranges: false)
    }
}
