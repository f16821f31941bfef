import MynahCore
import MynahTestSupport
import Testing

@testable import MynahProfiles

/// The keys `device.serviceChanged`, `app.connectionLatency` and `central.connectionEvents`.
@Suite struct LibraryKeyTests {
    private static let heartRate = """
        services:
          - uuid: 180D
            characteristics: [{uuid: 2A37, properties: [notify]}]

        """

    private static func load(_ text: String) throws(ProfileIssues) -> Profile {
        try ProfileLoader.load(text: "mynah: 1\nname: P\n\(text)", file: "p.yaml")
    }

    /// The errors, or else the warnings.
    private static func issues(_ text: String) -> [String] {
        do throws(ProfileIssues) {
            return try load(text).warnings.map(\.description)
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test func `an accessory may have no Service Changed, and an iPhone always has it`() throws {
        #expect(try Self.load(Self.heartRate).device.hasServiceChanged)
        let without = try Self.load("device: {serviceChanged: false}\n\(Self.heartRate)")
        #expect(!without.device.hasServiceChanged)
        let app = "device: {serviceChanged: false}\napp: {}\n\(Self.heartRate)"
        #expect(try Self.load(app).device.hasServiceChanged)
        let issues = Self.issues(app)
        #expect(issues.count == 1 && issues[0].contains("3:26: warning: serviceChanged has no effect"))
        #expect(Self.issues("device: {serviceChanged: never}\n").count == 1)
    }

    @Test func `an app asks for one of three latencies, if a central can subscribe`() throws {
        for latency in ConnectionLatency.allCases {
            let text = "app: {connectionLatency: \(latency.rawValue)}\n"
            #expect(try Self.load(text + Self.heartRate).app?.connectionLatency == latency)
            #expect(Self.issues(text + Self.heartRate) == [])
            let issues = Self.issues(text)
            #expect(issues.count == 1 && issues[0].contains("3:26: warning: connectionLatency has no effect"))
        }
        #expect(try Self.load("app: {}\n\(Self.heartRate)").app?.connectionLatency == nil)
        #expect(Self.issues("app: {connectionLatency: none}\n\(Self.heartRate)").count == 1)
    }

    @Test(
        arguments: [
            ("{}", []), ("{services: [heart-rate, 180F]}", ["180D", "180F"]),
        ] as [(String, [BluetoothUUID])])
    func `an app registers for the connections of all devices, or of those with a service`(
        events: String, services: [BluetoothUUID]
    ) throws {
        let app = "app: {}\ncentral: {connectionEvents: \(events)}\n"
        #expect(try Self.load(app).centrals.map(\.connectionEvents) == [services])
        #expect(try Self.load("app: {}\ncentral: {}\n").centrals.map(\.connectionEvents) == [nil])
        let issues = Self.issues("app: {iOS: 12}\ncentral: {connectionEvents: \(events)}\n")
        #expect(issues.count == 1 && issues[0].contains("error: connectionEvents needs iOS 13, and the app"))
    }

    @Test func `an app publishes a channel with its PSM in a characteristic, and opens one by it`() throws {
        let service = "services: [{uuid: FFE0, characteristics: [{uuid: FFE1, properties: [read]}]}]\n"
        let published = try #require(
            try Self.load("app: {channel: {psm: FFE1, encrypted: true, send: {hex: 01}}}\n\(service)").app?
                .channel)
        #expect(published.isEncrypted && published.greeting == [1] && published.psm.text == "FFE1")
        let opened = "app: {}\ncentral: {peripherals: [{name: A, channel: {psm: FFE0/FFE1}}]}\n"
        let peripheral = try #require(try Self.load(opened).centrals.first?.peripherals.first)
        #expect(peripheral.channel?.greeting == nil && peripheral.names.map(\.text) == ["FFE0/FFE1"])
        for wrong in [
            "app: {channel: {}}\n\(service)", "app: {channel: {psm: FFE2}}\n\(service)",
            "app: {channel: {psm: 2A37}}\n\(Self.heartRate)",
            "app: {}\ncentral: {peripherals: [{name: A, channel: {psm: FFE1, encrypted: true}}]}\n",
            "app: {}\ncentral: {peripherals: [{name: A, connect: never, channel: {psm: FFE1}}]}\n",
            "app: {channel: {psm: FFE1, send: {hex: \(String(repeating: "00", count: 2049))}}}\n\(service)",
        ] {
            let issues = Self.issues(wrong)
            #expect(issues.count == 1 && issues.first?.contains("error: ") == true, "\(wrong): \(issues)")
        }
    }

    @Test func `a radio without these leaves them out, and that is a warning`() throws {
        let accessory = try Self.load("device: {serviceChanged: false}\n\(Self.heartRate)")
        let app = try Self.load("app: {connectionLatency: low}\n\(Self.heartRate)")
        var capabilities = RadioCapabilities(name: "BlueZ")
        for profile in [accessory, app] {
            #expect(profile.issues(with: capabilities, isChosen: true).isEmpty)
        }
        capabilities.requestsConnectionLatency = false
        capabilities.playsPhoneServices = false
        let issues = [accessory, app].map { $0.issues(with: capabilities, isChosen: true) }
        #expect(issues.map { $0.map(\.severity) } == [[.warning], [.warning]])
        #expect(issues[0].first?.message.hasPrefix("BlueZ ignores device.serviceChanged, because") == true)
        #expect(issues[1].first?.message.hasPrefix("BlueZ leaves out app.connectionLatency, because") == true)
    }
}
