import MynahCore
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahImport

/// The actions of the phone of a capture become the script of an app.
@Suite struct ImportedPhoneTests {
    private static func phone(_ script: HCIScript) throws(ImportProblem) -> String {
        try CaptureImport.phone(from: CaptureFormat.pcapng.bytes(script.packets), named: "test").profile
    }

    @Test func `reads, subscriptions and writes with their times are an app's script`() throws {
        var script = HCIScript()
        for _ in 0..<6 {
            script.wait(105)
            script.advert("020106 03030D18 0709 5374726170 21")
        }
        script.connect()
        script.discover()
        script.exchange("0A 1200", "0B 0048")
        script.exchange("12 1300 0100", "13")
        script.wait(1990)
        script.exchange("12 1500 01", "13")
        script.wait(480)
        script.ask("52 1500 02")
        script.exchange("0A 1200", "0B 0049")
        let text = try Self.phone(script)
        #expect(
            text == """
                # Imported from test. A comment says what the file does not show.
                # Each value is read once; a capture may have more reads.
                mynah: 1
                name: "App of Strap!"

                app: {backgroundModes: [bluetooth-central]}

                central:
                  scan: {services: [180D]}
                  peripherals:
                    - name: "Strap!"
                      match: {services: [180D], localName: "Strap!"}
                      read: [180D/2A37]
                      subscribe: [180D/2A37]
                      write:
                        - {to: 180D/2A39, value: {hex: 01}, after: 2 s}
                        - {to: 180D/2A39, value: {hex: 02}, withResponse: false, after: 2500 ms}

                """)
        let profile = try ProfileLoader.load(text: text, file: "test.yaml")
        #expect(profile.warnings.map(\.message) == [])
        #expect(
            profile.centrals.first?.peripherals.first?.writes.map(\.after) == [
                .seconds(2), .milliseconds(2500),
            ])
    }

    @Test func `a subscription after a write, and another connection, are comments`() throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1500 01", "13")
        script.exchange("12 1500 01", "13")
        script.exchange("12 1300 0100", "13")
        script.disconnect()
        script.connect()
        script.exchange("12 1500 03", "13")
        let text = try Self.phone(script)
        #expect(text.contains("# 1 of the reads and subscriptions came after the first write; the app does"))
        #expect(text.contains("# 1 write on another connection is left out."), "\(text)")
        #expect(!text.contains("hex: 03") && text.contains("subscribe: [180D/2A37]"))
    }

    @Test func `a capture without use, and an export, are refused`() throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        let problem = #expect(throws: ImportProblem.self) { try Self.phone(script) }
        #expect(problem?.message.hasPrefix("the capture shows no read, subscription or write") == true)
        #expect(throws: ImportProblem("an export of a server shows no phone; --phone takes a capture")) {
            try CaptureImport.phone(from: Array("<a/>".utf8), named: "test")
        }
    }
}
