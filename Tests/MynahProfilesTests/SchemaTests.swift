import MynahSupport
import Testing

import Glibc

@testable import MynahProfiles

@Suite struct SchemaTests {
    // One for all cases: a debug build takes a tenth of a second to make the schema.
    private static let validator = SchemaValidator(root: ProfileFormat.schema)
    private var validator: SchemaValidator { Self.validator }

    @Test("the published schema is the one that the tables of the format make")
    func published() {
        let path = "\(repository)/profiles/profile.schema.json"
        let text = ProfileFormat.schema.prettyText + "\n"
        if getenv("MYNAH_WRITE_SCHEMA") != nil, let file = fopen(path, "w") {
            fputs(text, file)
            fclose(file)
        }
        #expect(
            contents(of: path) == text, "make it anew: MYNAH_WRITE_SCHEMA=1 swift test --filter SchemaTests")
    }

    @Test func `every definition that the schema refers to exists, and every one is used`() {
        let text = ProfileFormat.schema.text
        let used = Set(text.matches(of: /"#\/\$defs\/([A-Za-z]+)"/).map { String($0.1) })
        #expect(used == Set((ProfileFormat.schema["$defs"]?.members ?? []).map(\.key)))
    }

    @Test("every name that the schema offers is read")
    func names() {
        func offered(_ definition: String) -> [String] {
            let choices = ProfileFormat.schema["$defs"]?[definition]?["anyOf"]?.elements ?? []
            return choices.flatMap { $0["enum"]?.elements ?? [] }.compactMap(\.string)
        }
        let (services, characteristics) = (offered("serviceUUID"), offered("characteristicUUID"))
        let descriptors = offered("descriptorUUID").filter { $0 != "characteristic-user-description" }
        #expect(services.count > 50 && characteristics.count > 200 && descriptors.count > 10)
        let list = { (names: [String], more: String) in
            names.map { "{uuid: \($0)\(more)}" }.joined(separator: ", ")
        }
        #expect(problems(head("services: [\(list(services, ""))]\n")) == [])
        let all = list(characteristics, ", properties: [read]")
        #expect(problems(head("services: [{uuid: battery, characteristics: [\(all)]}]\n")) == [])
        let fields = "properties: [read]\n        descriptors: [\(list(descriptors, ""))]\n"
        #expect(problems(characteristic(fields)) == [])
    }

    @Test("the schema uses no keyword that these tests do not check")
    func keywords() {
        #expect(validator.unknownKeywords == [])
    }

    @Test("each shipped profile is valid, and says so to an editor", arguments: ShippedProfileTests.names)
    func shipped(_ name: String) throws {
        let text = contents(of: "\(repository)/profiles/\(name).yaml")
        #expect(validator.problems(of: try EditorYAML.json(text)) == [])
        #expect(text.hasPrefix("# yaml-language-server: $schema=./profile.schema.json\n"))
    }

    @Test(
        "what the decoder takes as text is valid where an editor sees a number",
        arguments: [
            head(
                """
                services: [{uuid: 3901}, {uuid: 2E37}, {uuid: 1E10}, {uuid: "180D"}, {uuid: 0x180D}, \
                {uuid: heart-rate}]\n
                """
            ),
            head(
                """
                services: [{uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E}, {uuid: \
                6E400001B5A3F393E0A9E50E24DCCA9E}]\n
                """
            ),
            head("device: {name: 42, appearance: 833}\nadvertising: {appearance: true}\n"),
            head(
                """
                device: {name: true, appearance: "0x0341"}\nadvertising: {localName: "", interval: \
                20ms}\n
                """
            ),
            head("services: [{uuid: 180F}, {uuid: battery}, {uuid: 180D, includes: [180F~2, battery~1]}]\n"),
            head("services: [{uuid: 2800AAAA-0000-1000-8000-00805F9B34FB}, {uuid: 2804}]\n"),
            head("advertising: {manufacturerData: {89: 01}, serviceData: {battery: 64, 3901: 1E10}}\n"),
            head("security: {io: keyboardOnly, passkey: 001234}\n"),
            characteristic("properties: [read]\n        value: {hex: }\n"),
            characteristic("properties: [read]\n        value: {text: ~}\n"),
            characteristic("properties: [read]\n        value: {text: 1.10}\n"),
            characteristic("properties: [read]\n        value: {base64: 1234}\n"),
            characteristic("properties: [read]\n        errors: {read: \"0x80\"}\n"),
            characteristic("properties: [read]\n        value: {fields: {level: 0x40}}\n"),
            characteristic("properties: [read]\n        value: {fields: {level: {generate: toggle}}}\n"),
            characteristic("properties: [read]\n        value: {layout: [{a: uint8}, {b: [c, d]}]}\n"),
            head("app: {}\ncentral: {}\n"), CentralProfileTests.whole,
        ] + FaultTests.valid.map(FaultTests.profile)
            + ScenarioTests.validSteps.map { ScenarioTests.accessory("{\($0)}") })
    func accepts(_ text: String) throws {
        #expect(problems(text).filter { $0.contains("error: ") } == [])
        #expect(validator.problems(of: try EditorYAML.json(text)) == [])
    }

    @Test(
        "what the decoder refuses for its keys, words and shapes the schema refuses too",
        arguments: [
            "name: Test\n", "mynah: 1\n", "mynah: 2\nname: Test\n", "[]\n", "mynah: 1\nname: [a]\n",
            head("devce: {}\n"), head("device: {nam: x}\n"), head("device: {appearance: heart-rate-bet}\n"),
            head("device: {appearance: 0x10000}\n"), head("security: {io: none}\n"),
            head("security: {oi: none}\n"),
            head("security: {io: displayOnly, passkey: 1}\n"), head("security: {passkey: 1}\n"),
            head("advertising: {serviceUUIDs: 180D}\n"), head("advertising: {serviceUUIDs: [18F]}\n"),
            head("advertising: {serviceUUIDs: [180D, 180D]}\n"), head("advertising: {interval: 100}\n"),
            head("advertising: {interval: 100 sec}\n"), head("advertising: {txPower: loud}\n"),
            head("advertising: {manufacturerData: {0059: 01}}\n"),
            head("advertising: {manufacturerData: {0x59: x}}\n"),
            head("advertising: {serviceData: {18: 01}}\n"), head("advertising: {raw: [01]}\n"),
            head("advertising: {nane: x}\n"), head("advertising: {extended: {data: 3M}}\n"),
            head("advertising: {scanResponse: {flags: 6}}\n"), head("advertising: {flags: [loud]}\n"),
            head("advertising: {address: mine}\n"),
            head("app: {}\nadvertising: {interval: 100 ms}\n"), head("app: {state: asleep}\n"),
            head("app: {iOS: 3}\n"),
            head("app: {backgroundModes: [x]}\n"), head("app: {suspendAfter: 5}\n"), head("app: {mode: x}\n"),
            head("app: {}\ncentral: {scans: {}}\n"), head("app: {}\ncentral: [{scan: []}]\n"),
            head("app: {}\ncentral: {scan: {until: lost}}\n"),
            head("app: {}\ncentral: {peripherals: [{match: {}}]}\n"),
            head("app: {}\ncentral: {peripherals: [{name: a, match: {rssi: -75}}]}\n"),
            head("app: {}\ncentral: {peripherals: [{name: a, connect: always}]}\n"),
            head("app: {}\ncentral: {peripherals: [{name: a, read: [180D/2A37/2901]}]}\n"),
            head("app: {}\ncentral: {peripherals: [{name: a, read: [\"@3\"]}]}\n"),
            head("app: {}\ncentral: {peripherals: [{name: a, write: [{to: 2A39}]}]}\n"),
            head("services: {}\n"), head("services: [battery]\n"), head("services: [{}]\n"),
            head("services: [{uuid: batery}]\n"),
            head("services: [{uuid: 180F, primary: no}]\n"), head("services: [{uuid: 180F, include: []}]\n"),
            characteristic("propertis: [read]\n"), characteristic("properties: []\n"),
            characteristic("properties: read\n"),
            characteristic("properties: [raed]\n"), characteristic("properties: [read, read]\n"),
            characteristic("properties: [read]\n        permissions: {read: locked}\n"),
            characteristic("properties: [read]\n        permissions: {reed: open}\n"),
            characteristic("properties: [read]\n        value: 5\n"),
            characteristic("properties: [read]\n        value: {}\n"),
            characteristic("properties: [read]\n        value: {hex: 01, text: a}\n"),
            characteristic("properties: [read]\n        value: {hex: xyz}\n"),
            characteristic("properties: [read]\n        value: {generate: heartrate}\n"),
            characteristic("properties: [read]\n        value: {generate: heart-rate, mx: 1}\n"),
            characteristic("properties: [read]\n        value: {base64: \"?\"}\n"),
            characteristic("properties: [read]\n        value: {fields: [1]}\n"),
            characteristic("properties: [read]\n        value: {hex: 01, fields: {level: 1}}\n"),
            characteristic("properties: [read]\n        value: {fields: {level: {generate: sin}}}\n"),
            characteristic("properties: [read]\n        value: {fields: {level: {generate: sine}}}\n"),
            characteristic("properties: [read]\n        value: {layout: [{a: unit8}]}\n"),
            characteristic("properties: [read]\n        value: {layout: []}\n"),
            characteristic("properties: [read]\n        value: {layout: [{A: uint8}]}\n"),
            characteristic(
                "properties: [read]\n        descriptors: [{uuid: 2901, value: {fields: {a: 1}}}]\n"),
            characteristic("properties: [notify]\n        every: 5\n"),
            characteristic("properties: [write]\n        maxLength: 513\n"),
            characteristic("properties: [read]\n        errors: {read: 0}\n"),
            characteristic("properties: [read]\n        errors: {notify: 1}\n"),
            characteristic("properties: [read]\n        descriptors: [{}]\n"),
            characteristic("properties: [read]\n        descriptors: [{uuid: 2901, properties: [notify]}]\n"),
            characteristic(
                "properties: [read]\n        descriptors: [{uuid: 2901, permissions: {notify: open}}]\n"),
            characteristic(
                "properties: [read]\n        descriptors: [{uuid: 2901, value: {generate: heart-rate}}]\n"),
            characteristic(
                "properties: [read]\n        descriptors: [{uuid: client-characteristic-configuration}]\n"),
            head("services: [{uuid: generic-access}]\n"), head("services: [{uuid: 2800}]\n"),
            head("services: [{uuid: \"2902\"}]\n"), head("services: [{uuid: 0x290a}]\n"),
            head("services: [{uuid: 00002803-0000-1000-8000-00805f9b34fb}]\n"),
            head("advertising: {serviceUUIDs: [2901]}\n"), head("advertising: {serviceData: {2904: 01}}\n"),
            head("services: [{uuid: 180F, characteristics: [{uuid: 2803, properties: [read]}]}]\n"),
            head("services: [{uuid: 180F, characteristics: [{uuid: 00002917, properties: [read]}]}]\n"),
            characteristic("properties: [read]\n        descriptors: [{uuid: 2801}]\n"),
            head("services: [{uuid: 180F}, {uuid: 180F}, {uuid: 180D, includes: [180F~0]}]\n"),
            head("faults: {}\n"),
        ] + FaultTests.misshapen.map(FaultTests.profile))
    func refuses(_ text: String) throws {
        #expect(problems(text).contains { $0.contains("error: ") })
        #expect(validator.problems(of: try EditorYAML.json(text)) != [])
    }
}
