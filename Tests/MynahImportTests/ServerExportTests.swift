import MynahCore
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahImport

/// Exports of nRF Connect's GATT servers.
@Suite struct ServerExportTests {
    private static let export = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <server-configuration name="Demo &amp; &#x42;">
          <service name="S" uuid="253d1e52-0000-1000-8000-000000000074">
            <characteristic name="C" uuid="253d1e52-0000-1000-8000-000000000075" value="01">  <!-- hex -->
              <descriptor name="D" uuid="253d1e52-0000-1000-8000-000000000076" value="0x02 03">
                <permission name="READ"/><permission name="WRITE_ENCRYPTED"/>
              </descriptor>
              <descriptor uuid="00002902-0000-1000-8000-00805f9b34fb"/>
              <permission name="READ_ENCRYPTED"/><permission name="WRITE_ENCRYPTED_MITM"/>
              <property name="READ"/><property name="WRITE"/>
            </characteristic>
            <characteristic uuid="2A39" value="01"><property name="WRITE_WITHOUT_RESPONSE"/></characteristic>
            <other/>
          </service>
          <service uuid="1800"/>
          <service uuid="0000180f-0000-1000-8000-00805f9b34fb"></service>
        </server-configuration>
        """

    private static func problem(_ text: String) -> String {
        do throws(ImportProblem) {
            _ = try CaptureImport.profile(from: Array(text.utf8), named: "test.xml")
            return ""
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        ("NOTIFY", "WRITE_ENCRYPTED", "permissions: {notify: encrypted}"),
        ("INDICATE", "WRITE_ENCRYPTED_MITM", "permissions: {notify: authenticated}"),
        ("NOTIFY", "WRITE", nil), ("READ", "WRITE_ENCRYPTED", nil),
    ])
    func `the permission to write a CCCD is the one to subscribe`(
        property: String, permission: String, words: String?
    ) throws {
        let text = """
            <server-configuration><service uuid="180D"><characteristic uuid="2A37">
            <property name="\(property)"/>
            <descriptor uuid="2902"><permission name="READ"/><permission name="\(permission)"/></descriptor>
            </characteristic></service></server-configuration>
            """
        let profile = try CaptureImport.profile(from: Array(text.utf8), named: "test.xml").profile
        _ = try ProfileLoader.load(text: profile, file: "test.yaml")
        #expect(words.map { profile.contains($0) } ?? !profile.contains("permissions"))
    }

    @Test func `a server becomes a profile`() throws {
        let result = try CaptureImport.profile(from: Array(Self.export.utf8), named: "test.xml")
        #expect(
            result.profile == """
                # Imported from test.xml. A comment says what the file does not show.
                mynah: 1
                name: "Demo & B"

                # The file has no advertising; this is the name and the services that fit.
                advertising:
                  serviceUUIDs: [253D1E52-0000-1000-8000-000000000074, 180F]  # battery

                services:
                  - uuid: 253D1E52-0000-1000-8000-000000000074
                    characteristics:
                      - uuid: 253D1E52-0000-1000-8000-000000000075
                        properties: [read, write]
                        permissions: {read: encrypted, write: authenticated}
                        value: {hex: 01}
                        descriptors:
                          - uuid: 253D1E52-0000-1000-8000-000000000076
                            properties: [read, write]
                            permissions: {write: encrypted}
                            value: {hex: 02 03}
                      - uuid: 2A39  # heart-rate-control-point
                        properties: [writeWithoutResponse]
                  - uuid: 180F  # battery

                """)
        #expect(result.warnings == ["line 13: <other> is not known, and is left out"])
        let profile = try ProfileLoader.load(text: result.profile, file: "test.yaml")
        #expect(profile.warnings.map(\.message) == [])
    }

    @Test func `a text is a value, and a CCCD needs no UUID`() throws {
        let text = """
            <server-configuration name="Lamp"><service uuid="180A">
            <characteristic uuid="2A29" value-string="Acme"><property name="READ"/></characteristic>
            <characteristic uuid="2A19" value="4B"><property name="NOTIFY"/>
            <descriptor configure="CCCD"><permission name="WRITE_ENCRYPTED"/></descriptor></characteristic>
            </service></server-configuration>
            """
        let result = try CaptureImport.profile(from: Array(text.utf8), named: "test.xml")
        #expect(result.profile.contains(#"value: {text: "Acme"}"#), "\(result.profile)")
        #expect(result.profile.contains("permissions: {notify: encrypted}"))
        #expect(result.warnings == [])
    }

    private static let macro = """
        <macro name="Blink" icon="LED_ON">
          <assert-service uuid="0000180f-0000-1000-8000-00805f9b34fb"/>
          <write-descriptor uuid="2902" service-uuid="180F" characteristic-uuid="2A19" value="0100"/>
          <write service-uuid="FFE0" characteristic-uuid="FFE1" value="01" type="WRITE_COMMAND"/>
          <sleep timeout="2000"/>
          <write service-uuid="FFE0" service-instance-id="1" characteristic-uuid="FFE1" value-string="A"/>
          <wait-for-notification service-uuid="180F" characteristic-uuid="2A19">
            <assert-value value="64"/>
          </wait-for-notification>
          <read service-uuid="180F" characteristic-uuid="2A19"/>
          <read-rssi/>
        </macro>
        """

    @Test func `a macro becomes an app's script and a scenario`() throws {
        let result = try CaptureImport.profile(from: Array(Self.macro.utf8), named: "test.xml")
        #expect(
            result.profile.hasSuffix(
                """
                name: "Blink"

                app: {backgroundModes: [bluetooth-central]}

                central:
                  scan: {}
                  peripherals:
                    - name: "Device"
                      read: [180F/2A19]
                      subscribe: [180F/2A19]
                      write:
                        - {to: FFE0/FFE1, value: {hex: 01}, withResponse: false, after: 50 ms}
                        - {to: FFE0~2/FFE1, value: {hex: 41}, after: 2100 ms}

                scenarios:
                  - name: "Blink"
                    steps:
                      - {expect: value.read, of: 180F/2A19, within: 1 min}
                      - {expect: value.written, of: FFE0/FFE1, value: "01", within: 1 min}
                      - {expect: value.written, of: FFE0/FFE1, value: "41", within: 1 min}
                      - {expect: value.updated, of: 180F/2A19, value: "64", within: 1 min}

                """), "\(result.profile)")
        #expect(
            result.profile.contains(
                "# Line 2: <assert-service> 180F is left out; an app finds the services that it uses.\n"))
        #expect(result.name == "Blink" && result.warnings == ["line 11: <read-rssi> is left out"])
        #expect(try ProfileLoader.load(text: result.profile, file: "test.yaml").scenarios.count == 1)
    }

    static let bad: [(String, String)] = [
        ("<a/>", "at line 1: this is XML of <a>; of nRF Connect, <server-configuration> is imported"),
        ("<macro/>", "at line 1: the macro has no operation"),
        ("<macro>\n<sleep/></macro>", "at line 2: the timeout of a <sleep> is in milliseconds"),
        ("<macro><write value='01'/></macro>", "at line 1: a <write> needs a service-uuid"),
        ("<server-configuration/>", "at line 1: it has no service"),
        ("<a>\n<b>\n</a>", "at line 3: </a> does not close <b>"),
        ("<a>\n", "at line 1: <a> is not closed"),
        ("\n<a b=1/>", "at line 2: the value of b must be in quotes"),
        ("<a b='1' b='2'/>", "at line 1: the attribute b is repeated"),
        ("<a b='&x;'/>", "at line 1: the reference &x; is not known"),
        ("<a b='&'/>", "at line 1: a & must be written as &amp;"),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]>\n<a/>", "at line 1: a document type declaration is not allowed"),
        ("<a/><b/>", "at line 1: nothing may follow the root element"),
        ("<!-- ", "at line 1: a comment does not end"),
        (String(repeating: "<a>", count: 100), "at line 1: the elements are nested more than 64 levels deep"),
        (
            export.replacing("\"2A39\"", with: "\"2A3\""),
            "at line 12: the uuid of a <characteristic> must have"
        ),
        (
            export.replacing("\"0x02 03\"", with: "\"2\""),
            "at line 5: the value of a <descriptor> must be pairs"
        ),
        (
            export.replacing("\"READ\"/><prop", with: "\"RED\"/><prop"),
            "at line 10: the property RED is not known"
        ),
        (
            export.replacing("READ_ENC", with: "RED_ENC"),
            "at line 9: the permission RED_ENCRYPTED is not known"
        ),
    ]

    @Test(arguments: bad)
    func `an error is reported with its line`(text: String, words: String) {
        let problem = Self.problem(text)
        #expect(problem.hasPrefix(words), "\(problem)")
    }

    @Test func `mutated exports are imported as a valid profile or refused`() throws {
        var mutator = PacketMutator(seed: 3, [Self.export, Self.macro].map { Array($0.utf8) })
        var imported = 0
        for _ in 0..<2000 {
            guard let result = try? CaptureImport.profile(from: mutator.next(), named: "test") else {
                continue
            }
            imported += 1
            _ = try ProfileLoader.load(text: result.profile, file: "test.yaml")
        }
        #expect(imported > 100)
    }
}
