import MynahCore
import MynahEmulator
import MynahProfiles
import Testing

@Suite struct IOSVersionTests {
    /// A version, the largest ATT_MTU, and what else it is the first or the last with.
    @Test(arguments: [
        (7, 158, false, false, false), (9, 158, false, false, false), (10, 185, false, false, false),
        (11, 527, false, false, false), (12, 527, true, false, false), (14, 527, true, true, false),
        (17, 527, true, true, true),
    ])
    func `each rule that depends on the version of iOS holds from its version on`(
        version: Int, mtu: Int, hides: Bool, defers: Bool, reconnects: Bool
    ) {
        let iOS = IOSVersion(version)
        #expect(iOS.largestMTU == mtu && iOS.hidesOverflowArea == hides)
        #expect(iOS.defersBackgroundChanges == defers && iOS.hasAutoReconnect == reconnects)
    }

    @Test(arguments: [
        ("iOS: 12, authorization: denied", ["the permission came with iOS 13, and the app has iOS: 12"]),
        ("iOS: 13, authorization: denied", []), ("iOS: 12, authorization: allowedAlways", []),
        ("authorization: notDetermined", []),
        ("iOS: 12, sceneBased: true", ["scenes came with iOS 13, and the app has iOS: 12"]),
        (
            "iOS: 25, liveActivity: true",
            ["a Live Activity changes what an app may do from iOS 26 on, and the app has iOS: 25"]
        ),
        ("iOS: 26, liveActivity: true", []), ("iOS: 25, liveActivity: false", []),
        ("iOS: 13, sceneBased: true", []), ("iOS: 12, sceneBased: false", []),
    ])
    func `a key that a version of iOS does not know yet is a warning`(app: String, messages: [String]) throws
    {
        let profile = try ProfileLoader.load(
            text: "mynah: 1\nname: Test\napp: {\(app)}\nadvertising: {}\n", file: "version.yaml")
        #expect(profile.warnings.map(\.message).filter { $0.contains("the app has iOS") } == messages)
    }

    /// Requests in 1.25 ms, connection events and 10 ms, with the rule by which three versions refuse them.
    private static let requests:
        [(minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16, rules: [String])] = [
            (24, 48, 4, 600, ["accepted", "accepted", "accepted"]),
            (16, 32, 0, 200, ["accepted", "intervalMultiple", "intervalMultiple"]),
            (12, 24, 0, 200, ["intervalMinimum", "accepted", "supervisionTimeout"]),
            (12, 24, 0, 600, ["intervalMinimum", "accepted", "accepted"]),
            (12, 12, 0, 600, ["intervalMinimum", "accepted", "accepted"]),
            (24, 24, 0, 600, ["intervalRange", "intervalRange", "intervalRange"]),
            (24, 35, 0, 600, ["intervalRange", "intervalRange", "intervalRange"]),
            (24, 36, 0, 600, ["intervalRange", "accepted", "accepted"]),
            (24, 40, 0, 600, ["accepted", "accepted", "accepted"]),
            (6, 24, 0, 400, ["intervalMinimum", "intervalMinimum", "intervalMinimum"]),
            (1608, 3200, 0, 1800, ["supervisionTimeout", "supervisionTimeout", "intervalMinimum"]),
            (24, 48, 5, 600, ["latency", "accepted", "accepted"]),
            (24, 40, 31, 600, ["latency", "latency", "latency"]),
            (24, 48, 0, 199, ["accepted", "supervisionTimeout", "supervisionTimeout"]),
            (24, 48, 0, 601, ["supervisionTimeout", "supervisionTimeout", "accepted"]),
            (24, 48, 0, 1801, ["supervisionTimeout", "supervisionTimeout", "supervisionTimeout"]),
            (24, 1616, 0, 600, ["longestSilence", "longestSilence", "timeoutForSilence"]),
            (24, 1600, 0, 600, ["timeoutForSilence", "timeoutForSilence", "timeoutForSilence"]),
            (24, 1599, 0, 600, ["accepted", "accepted", "accepted"]),
            (24, 162, 30, 1800, ["latency", "supervisionTimeout", "longestSilence"]),
            (24, 120, 30, 1500, ["latency", "supervisionTimeout", "accepted"]),
            (24, 48, 30, 200, ["specification", "specification", "specification"]),
            (48, 24, 0, 600, ["specification", "specification", "specification"]),
        ]

    @Test(arguments: requests.indices)
    func `an iPhone accepts connection parameters by the rules of its version`(_ number: Int) throws {
        let request = Self.requests[number]
        let wanted = ConnectionParameterRange(
            minimum: request.minimum, maximum: request.maximum, latency: request.latency,
            timeout: request.timeout)
        for (versions, rule) in zip([[7, 9], [10, 17], [18, 26]], request.rules) {
            for version in versions {
                let profile = try ProfileLoader.load(
                    text: "mynah: 1\nname: Phone\napp: {iOS: \(version)}\ncentral: {}\n", file: "phone.yaml")
                let rules = EmulatedDevice(profile, seed: 1).identity.parameterRules
                #expect(rules.refusal(of: wanted)?.rule.rawValue ?? "accepted" == rule, "iOS \(version)")
            }
        }
        let isAllowed = ConnectionParameterRules.specification.refusal(of: wanted) == nil
        #expect(isAllowed == !request.rules.contains("specification"))
    }

    @Test(arguments: ConnectionLatency.allCases, [10, 17, 18, 26])
    func `an iPhone accepts the latencies that an app may wish`(latency: ConnectionLatency, version: Int) {
        let rules = ConnectionParameterRules(IOSVersion(version).parameterLimits)
        #expect(rules.refusal(of: ConnectionParameterRange(latency)) == nil)
    }

    @Test(arguments: [
        (26, true, "iOS 26 does not relaunch an app after controlCenterOff unless it uses AccessorySetupKit"),
        (10, true, "iOS 10 does not relaunch an app after controlCenterOff and restart"),
        (25, true, nil), (26, false, nil),
    ])
    func `a version that relaunches a restorable app less than others is a hint`(
        version: Int, isRestorable: Bool, message: String?
    ) throws {
        let identifier = isRestorable ? "restoreIdentifier: door, " : ""
        let profile = try ProfileLoader.load(
            text: "mynah: 1\nname: Test\napp: {iOS: \(version)}\ncentral: {\(identifier)scan: {}}\n",
            file: "relaunch.yaml")
        let hints = profile.warnings.map(\.message).filter { $0.contains("relaunch") }
        #expect(hints == [message].compactMap { $0 })
    }

    @Test func `the exception for AccessorySetupKit is no hint for an app that uses it`() throws {
        let profile = try ProfileLoader.load(
            text: """
                mynah: 1
                name: Test
                app: {iOS: 26, backgroundModes: [bluetooth-central], accessorySetup: [{serviceUUID: 180D}]}
                central: {restoreIdentifier: door, scan: {services: [180D]}}
                """, file: "relaunch.yaml")
        #expect(profile.warnings.isEmpty)
    }

    @Test(arguments: [("app: {iOS: 9}", 158), ("app: {iOS: 10}", 185), ("app: {}", 527), ("", 517)])
    func `a phone offers the ATT_MTU of its version of iOS`(app: String, mtu: Int) throws {
        let profile = try ProfileLoader.load(
            text: """
                mynah: 1
                name: Test
                \(app)
                services:
                  - {uuid: FFE0, characteristics: [{uuid: FFE1, properties: [read], value: {hex: 00}}]}
                """, file: "version.yaml")
        #expect(EmulatedDevice(profile, seed: 1).identity.largestMTU == mtu)
    }
}
