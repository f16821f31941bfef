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
        ("iOS: 12, authorization: denied", 1), ("iOS: 13, authorization: denied", 0),
        ("iOS: 12, authorization: allowedAlways", 0), ("authorization: notDetermined", 0),
    ])
    func `a permission before iOS 13 is a warning`(app: String, count: Int) throws {
        let profile = try ProfileLoader.load(
            text: "mynah: 1\nname: Test\napp: {\(app)}\nadvertising: {}\n", file: "permission.yaml")
        let warnings = profile.warnings.filter { $0.message.contains("the permission came with iOS 13") }
        #expect(warnings.count == count)
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
