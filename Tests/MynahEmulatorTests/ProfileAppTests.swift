import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import Testing

@Suite struct ProfileAppTests {
    private static func profile(_ app: String) throws -> Profile {
        try ProfileLoader.load(
            text: """
                mynah: 1
                name: Test
                app: \(app)
                advertising: {localName: Fred, serviceUUIDs: [C007]}
                """, file: "app.yaml")
    }

    private static func bytes(_ profile: Profile, _ state: Profile.App.StartState) -> [String]? {
        profile.phoneAdvertisement(in: state)?.bytes.map { bytes in
            [Hex.encode(bytes.data.bytes), Hex.encode(bytes.scanResponse.bytes)]
        }
    }

    @Test func `a profile's keys for its app determine the app's life`() throws {
        let app = try #require(
            try Self.profile(
                """
                {backgroundModes: [bluetooth-central, bluetooth-peripheral], restoreIdentifier: a, \
                suspendAfter: 1 s}
                """
            ).app)
        let rules = AppRules(app)
        #expect(rules.backgroundModes == [.bluetoothCentral, .bluetoothPeripheral])
        #expect(rules.isRestorable)
        #expect(rules.suspendAfter == .seconds(1))
        #expect(try AppRules(#require(try Self.profile("{}").app)) == AppRules())
    }

    @Test func `every state that a profile starts in is one of an app, and a transition leads to it`() {
        for state in Profile.App.StartState.allCases {
            #expect(AppState(rawValue: state.rawValue) != nil)
            #expect(AppTransition(rawValue: state.rawValue) != nil)
        }
    }

    @Test func `a profile's keys for the phone determine its advertising`() throws {
        let app = try #require(
            try Self.profile("{iOS: 11, foregroundInterval: 20 ms, backgroundInterval: 1 s}").app)
        let phone = PhoneAdvertising(app)
        #expect(phone.placement == .advertisingData)
        #expect(phone.foregroundInterval == .milliseconds(20))
        #expect(phone.backgroundInterval == .seconds(1))
        #expect(phone.txPower == nil)
        #expect(try PhoneAdvertising(#require(try Self.profile("{}").app)) == PhoneAdvertising())
    }

    @Test func `a phone with a TX power has 25 bytes left for names and UUIDs`() throws {
        let profile = try Self.profile("{backgroundModes: [bluetooth-peripheral]}\nphone: {txPower: 12}")
        #expect(Self.bytes(profile, .foreground) == ["02011A020A0C030307C0050946726564", ""])
        let mask = "14FF4C000100000000100000000000000000000000"
        #expect(Self.bytes(profile, .background) == ["02011A020A0C", mask])
    }

    @Test func `a phone with Nearby Info has it in the background, and says so in the foreground`() throws {
        let profile = try Self.profile(
            "{backgroundModes: [bluetooth-peripheral]}\nphone: {txPower: 12, nearbyInfo: 071EA3DD89E0}")
        #expect(Self.bytes(profile, .foreground) == ["02011A020A0C030307C0050946726564", ""])
        let mask = "14FF4C000100000000100000000000000000000000"
        #expect(Self.bytes(profile, .background) == ["02011A020A0C0BFF4C001006071EA3DD89E0", mask])
        let front = try #require(profile.phoneAdvertisement(in: .foreground))
        #expect(front.omitted.first?.map(\.item) == ["phone.nearbyInfo"])
    }

    @Test func `an app with bluetooth-peripheral is on the air in every state`() throws {
        let profile = try Self.profile("{backgroundModes: [bluetooth-peripheral]}")
        #expect(Self.bytes(profile, .foreground) == ["02011A030307C0050946726564", ""])
        let mask = "14FF4C000100000000100000000000000000000000"
        #expect(Self.bytes(profile, .background) == ["02011A", mask])
        #expect(profile.phoneAdvertisement(in: .suspended) == profile.phoneAdvertisement(in: .background))
    }

    @Test(arguments: [(26, true), (25, false)])
    func `an app with a Live Activity scans and advertises off the screen as on it, from iOS 26 on`(
        iOS: Int, isSame: Bool
    ) throws {
        let profile = try ProfileLoader.load(
            text: """
                mynah: 1
                name: Test
                app:
                  backgroundModes: [bluetooth-peripheral, bluetooth-central]
                  liveActivity: true
                  iOS: \(iOS)
                advertising: {localName: Fred, serviceUUIDs: [C007]}
                central: {scan: {allowDuplicates: true}}
                """, file: "app.yaml")
        #expect(
            profile.warnings.contains { $0.message.contains("finds nothing in the background") } != isSame)
        for state in [Profile.App.StartState.background, .suspended] {
            #expect((Self.bytes(profile, state) == Self.bytes(profile, .foreground)) == isSame)
            #expect((profile.phoneScans(in: state) == profile.phoneScans(in: .foreground)) == isSame)
        }
    }

    @Test func `an app without it is silent off the screen, and everything it asked for is named`() throws {
        let profile = try Self.profile("{}")
        #expect(Self.bytes(profile, .foreground) != nil)
        for state in [Profile.App.StartState.background, .suspended] {
            let air = try #require(profile.phoneAdvertisement(in: state))
            #expect(air.bytes == nil)
            #expect(air.omitted.first?.map(\.item) == ["localName", "serviceUUIDs[0]"])
        }
    }

    @Test func `an app that advertises nothing is silent in the foreground too`() throws {
        let profile = try ProfileLoader.load(text: "mynah: 1\nname: Test\napp: {}\n", file: "app.yaml")
        #expect(try #require(profile.phoneAdvertisement(in: .foreground)).bytes == nil)
    }

    @Test func `an accessory has no phone`() throws {
        let profile = try ProfileLoader.load(text: "mynah: 1\nname: Test\n", file: "strap.yaml")
        #expect(profile.phoneAdvertisement(in: .foreground) == nil)
    }
}
