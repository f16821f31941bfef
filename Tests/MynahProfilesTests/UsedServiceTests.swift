import MynahCore
import MynahProfiles
import MynahValues
import Testing

@testable import MynahProfiles

@Suite struct UsedServiceTests {
    /// The service of a profile that uses one, with more keys, which begin on line 5.
    private func used(_ name: String, _ keys: String = "") throws -> Profile.Service {
        try #require(profile(head("services:\n  - use: \(name)\n\(keys)")).services.first)
    }

    /// A description of a service and its characteristics, without their places in the file.
    private func shape(_ service: Profile.Service) -> [String] {
        let run = GeneratorRun(seed: 7, interval: .seconds(1))
        let own =
            "\(service.uuid) \(service.behavior?.rawValue ?? "-") \(service.records) \(service.isPrimary)"
        return [own]
            + service.characteristics.map { characteristic in
                let values: [[UInt8]] =
                    switch characteristic.value {
                    case .bytes(let bytes): [bytes]
                    case .generated(let definition):
                        (0..<50).map { definition.makeGenerator(for: run).value(at: $0) }
                    }
                let descriptors = characteristic.descriptors.map { "\($0.uuid) \($0.value) \($0.properties)" }
                return """
                    \(characteristic.uuid) \(characteristic.properties) \(characteristic.permissions) \
                    \(values) \(String(describing: characteristic.every)) \(characteristic.maximumLength) \
                    \(descriptors)
                    """
            }
    }

    @Test(arguments: UsableServices.names)
    func `a used service is the one that its template prints, which has no problem`(_ name: String) throws {
        let (template, places) = UsableServices.places(of: name)
        let text = try #require(ProfileTemplates.text(named: template))
        #expect(problems(text) == [])
        let all = try profile(text).services
        let printed = try #require(all[places].first)
        let services = try profile(head("services:\n  - use: \(name)\n")).services
        #expect(services.map(shape) == all[places].map(shape))
        #expect(problems(head("services: [{use: \(name)}]\n")) == [])
        #expect(text.contains("\nservices:\n"))
        #expect(printed.characteristics.isEmpty == false)
    }

    @Test(arguments: UsableServices.names)
    func `every value of a used service that the SIG has a layout for is made of fields`(_ name: String)
        throws
    {
        for characteristic in try used(name).characteristics {
            guard let layout = characteristic.layout, case .bytes(let bytes) = characteristic.value,
                !bytes.isEmpty
            else { continue }
            #expect(layout.decode(bytes) != nil, "\(characteristic.uuid)")
        }
    }

    @Test func `proximity is three services, and each of them can be used with changes`() throws {
        let all = try profile(head("services: [{use: battery}, {use: proximity}]\n")).services
        #expect(all.map(\.uuid) == ["180F", "1803", "1802", "1804"])
        #expect(all.map(\.behavior) == [nil, .linkLoss, .immediateAlert, nil])
        #expect(all.compactMap { $0.characteristics.first?.uuid } == ["2A19", "2A06", "2A06", "2A07"])
        let keys = "    characteristics: [{uuid: 2A06, value: {hex: 02}}]\n"
        let loss = try used("link-loss", keys)
        #expect(loss.behavior == .linkLoss && loss.characteristics.count == 1)
        #expect(
            problems(head("services:\n  - use: proximity\n" + keys)) == [
                "5:5: error: proximity is three services: use link-loss, immediate-alert or tx-power to "
                    + "change one of them"
            ])
    }

    @Test func `BlueZ does not say that a link was lost, and a warning says so`() throws {
        let profile = try profile(head("services: [{use: battery}, {use: proximity}]\n"))
        var capabilities = RadioCapabilities(name: "BlueZ")
        #expect(profile.issues(with: capabilities, isChosen: true).isEmpty)
        capabilities.limitsLinks = false
        let issues = profile.issues(with: capabilities, isChosen: true)
        #expect(issues.map(\.severity) == [.warning])
        #expect(issues.first?.message.contains("does not say that a link was lost") == true)
    }

    @Test func `keys beside replace whole values, and new characteristics are appended`() throws {
        let service = try used(
            "heart-rate",
            """
                primary: false
                characteristics:
                  - {uuid: 2A38, value: {hex: 02}}
                  - {uuid: body-sensor-location, properties: [read], value: {hex: 03}}
                  - {uuid: heart-rate-measurement, every: 2 s, value: {hex: 00 48}}
                  - {uuid: 2A19, properties: [read], value: {hex: 64}}

            """)
        #expect(!service.isPrimary)
        let list = service.characteristics
        #expect(list.map(\.uuid) == ["2A37", "2A38", "2A39", "2A38", "2A19"])
        #expect(list[0].every == .seconds(2))
        #expect(list[0].properties == [.read, .notify])
        guard case .bytes([0x00, 0x48]) = list[0].value, case .bytes([2]) = list[1].value,
            case .bytes([3]) = list[3].value
        else {
            Issue.record("the values are others")
            return
        }
    }

    @Test func `omit removes characteristics, by name or UUID`() throws {
        let service = try used("heart-rate", "    omit: [2A38, heart-rate-control-point]\n")
        #expect(service.behavior == nil)
        #expect(service.characteristics.map(\.uuid) == ["2A37"])
    }

    @Test func `a service can have another UUID, and be used twice`() throws {
        let profile = try profile(
            head("services: [{use: battery}, {use: battery, uuid: 6D79A001, includes: [battery~1]}]\n"))
        #expect(profile.services.map(\.uuid) == ["180F", "6D79A001"])
    }

    @Test(arguments: [
        ("use: glocose", "4:10: error: unknown service \"glocose\" to use; did you mean \"glucose\"?"),
        ("use: [glucose]", "4:10: error: use must be one value, not a list"),
        (
            "use: heart-rate\n    omit: [2A39, body-sensor-locaton]",
            """
            5:18: error: unknown characteristic "body-sensor-locaton" of heart-rate; did you mean \
            "body-sensor-location"?
            """
        ),
        (
            "use: battery\n    omit: [2A38]",
            "5:12: error: unknown characteristic \"2A38\" of battery; known are battery-level"
        ),
        ("use: battery\n    omit: [2A19, battery-level]", "5:18: error: the characteristic is omitted twice"),
        (
            "uuid: battery\n    omit: [2A19]",
            "5:5: error: omit has no effect without use: it removes what is used"
        ),
        (
            "use: battery\n    characteristics: [{uuid: 2A19, propertis: [read]}]",
            "5:36: error: unknown key \"propertis\" in a characteristic; did you mean \"properties\"?"
        ),
        // A key that does not fit a used part is reported at its `use`.
        (
            "use: battery\n    characteristics: [{uuid: 2A19, properties: [read]}]",
            "4:10: error: every has no effect: 2A19 has neither notify nor indicate"
        ),
        (
            "uuid: battery\n    behavior: glucoze",
            "5:15: error: unknown behavior \"glucoze\"; did you mean \"glucose\"?"
        ),
        (
            "uuid: battery\n    behavior: heart-rate",
            """
            5:5: warning: behavior: heart-rate has no effect: the service has no writable characteristic 2A39
            """
        ),
        (
            "use: battery\n    records: 4",
            "5:14: error: records has no effect without behavior: blood-pressure, body-composition, "
                + "continuous-glucose, glucose, "
                + "pulse-oximeter or weight-scale"
        ),
        ("use: glucose\n    records: 10001", "5:14: error: records must be between 0 and 10000, not 10001"),
    ])
    func `a problem is reported with its place and the nearest name`(_ keys: String, _ problem: String) {
        #expect(problems(head("services:\n  - \(keys)\n")) == [problem])
    }

    @Test func `BlueZ before 5.76 gets a warning for a behavior that answers with 0xFD`() throws {
        var capabilities = RadioCapabilities(name: "BlueZ 5.66")
        capabilities.writes.errors = .init([0x0E, 0x80, 0xFE])
        let counts = [("glucose", 0), ("fitness-machine", 1), ("pulse-oximeter", 1), ("heart-rate", 0)]
        for (name, count) in counts {
            let issues = try profile(head("services: [{use: \(name)}]\n"))
                .issues(with: capabilities, isChosen: true)
                .filter { $0.message.contains("0xFD") }
            #expect(issues.map(\.severity) == Array(repeating: .warning, count: count))
            #expect(issues.allSatisfy { $0.mark == SourceMark(line: 3, column: 18) })
        }
    }
}
