import MynahCore
import MynahProfiles
import Testing

@testable import MynahEmulator

/// The codes and octets here are those of Apple's AMS Specification.
@Suite struct AppleMediaTests {
    static let remote = AppleMedia.remoteCommand
    static let update = AppleMedia.entityUpdate
    static let attribute = AppleMedia.entityAttribute

    static var media: Profile.PhoneMedia {
        var media = Profile.PhoneMedia()
        media.tracks = ["One", "Two", "Three"].map { title in
            var track = Profile.PhoneMedia.Track()
            track.title = title
            track.artist = "The Mynahs"
            track.duration = .milliseconds(180_250)
            return track
        }
        media.index = 1
        media.elapsed = .seconds(10)
        return media
    }

    static func rig(_ media: Profile.PhoneMedia? = media) -> (AppleMedia, TestService) {
        let service = TestService(subscribed: [remote, update], longest: 182)
        var player = AppleMedia(media)
        _ = player.begin(service)
        return (player, service)
    }

    static func write(
        _ media: inout AppleMedia, _ value: [UInt8], to characteristic: BluetoothUUID,
        _ service: inout TestService
    ) -> WriteOutcome { media.outcome(of: value, to: characteristic, &service) }

    static func commands(_ media: inout AppleMedia, _ service: TestService) -> [ServiceEffect] {
        media.subscribed(TestService.phone, to: remote, service)
    }

    static func text(_ entity: UInt8, _ attribute: UInt8, _ text: String, _ flags: UInt8 = 0) -> Sent {
        Sent(value: [entity, attribute, flags] + Array(text.utf8), characteristic: update)
    }

    // MARK: Commands

    /// Each command with what it changes, for a subscriber of everything.
    static let commands: [(code: UInt8, changes: [Sent])] = [
        (0, [text(0, 1, "1,1.0,10.0")]), (1, []), (2, [text(0, 1, "1,1.0,10.0")]),
        (3, [text(0, 1, "0,0.0,0.0"), text(1, 0, "2"), text(2, 2, "Three")]),
        (4, [text(0, 1, "0,0.0,0.0")]), (5, [text(0, 2, "0.5625")]), (6, [text(0, 2, "0.4375")]),
        (7, [text(1, 3, "1")]), (8, [text(1, 2, "1")]), (9, [text(0, 1, "0,0.0,25.0")]),
        (10, [text(0, 1, "0,0.0,0.0")]),
    ]

    @Test(arguments: 0..<11) func `every command does what it says`(_ number: Int) {
        var (player, service) = Self.rig()
        let all: [[UInt8]] = [[0, 0, 1, 2], [1, 0, 1, 2, 3], [2, 0, 1, 2, 3]]
        for want in all { _ = Self.write(&player, want, to: Self.update, &service) }
        let row = Self.commands[number]
        #expect(Self.write(&player, [row.code], to: Self.remote, &service) == .sent(row.changes))
    }

    @Test func `a phone says which commands it takes`() {
        var (player, service) = Self.rig()
        service.now = .seconds(1)
        #expect(
            Self.commands(&player, service)
                == [.send(Array(0...10), of: Self.remote, to: TestService.phone)])
        var (silent, others) = Self.rig(nil)
        #expect(
            Self.commands(&silent, others)
                == [.send([], of: Self.remote, to: TestService.phone)])
        #expect(Self.write(&silent, [0], to: Self.remote, &others) == .error(0xA1))
    }

    // MARK: Errors

    static let refused: [(BluetoothUUID, [UInt8], UInt8)] = [
        (remote, [], 0xA1), (remote, [0, 0], 0xA1), (remote, [11], 0xA1), (remote, [14], 0xA1),
        (remote, [0xFF], 0xA1),
        (update, [], 0xA1), (update, [3], 0xA1), (update, [0, 3], 0xA1), (update, [1, 4], 0xA1),
        (update, [2, 0, 9], 0xA1), (update, [0xFF, 0xFF], 0xA1),
        (attribute, [], 0xA1), (attribute, [0], 0xA1), (attribute, [0, 0, 0], 0xA1),
        (attribute, [0, 3], 0xA1),
        (attribute, [3, 0], 0xA1), (attribute, [2, 1], 0xA2),
    ]

    @Test(arguments: 0..<17) func `every error has its code`(_ number: Int) {
        var (player, service) = Self.rig()
        let (characteristic, value, code) = Self.refused[number]
        #expect(Self.write(&player, value, to: characteristic, &service) == .error(code))
    }

    @Test func `a central that is not subscribed has not set it up`() {
        var (player, service) = Self.rig()
        service.subscribed = [Self.remote]
        #expect(Self.write(&player, [0, 0], to: Self.update, &service) == .error(0xA0))
        #expect(Self.write(&player, [0, 0], to: Self.attribute, &service) == .error(0xA0))
        #expect(Self.write(&player, [0], to: Self.remote, &service) == .sent([]))
        #expect(throws: ATTError.amsInvalidState) {
            try player.read(Self.attribute, by: TestService.phone, service)
        }
    }

    // MARK: Entities

    @Test func `values come at once, and cut ones with a flag`() throws {
        var (player, service) = Self.rig()
        #expect(
            Self.write(&player, [2, 0, 1, 2, 3, 2], to: Self.update, &service)
                == .sent([
                    Self.text(2, 0, "The Mynahs"), Self.text(2, 1, ""), Self.text(2, 2, "Two"),
                    Self.text(2, 3, "180.25"),
                ]))
        #expect(
            Self.write(&player, [1, 0, 1, 2, 3], to: Self.update, &service)
                == .sent([
                    Self.text(1, 0, "1"), Self.text(1, 1, "3"), Self.text(1, 2, "0"), Self.text(1, 3, "0"),
                ]))
        service.longest = 8
        #expect(
            Self.write(&player, [2, 0, 2], to: Self.update, &service)
                == .sent([Self.text(2, 0, "The M", 1), Self.text(2, 2, "Two")]))
        #expect(Self.write(&player, [2, 0], to: Self.attribute, &service) == .sent([]))
        #expect(
            try player.read(Self.attribute, by: TestService.phone, service) == Array("The Mynahs".utf8))
        // Nothing of an entity is wanted any more.
        #expect(Self.write(&player, [2], to: Self.update, &service) == .sent([]))
        #expect(Self.write(&player, [3], to: Self.remote, &service) == .sent([Self.text(1, 0, "2")]))
        player.disconnected(TestService.phone)
        #expect(Self.write(&player, [4], to: Self.remote, &service) == .sent([]))
    }

    @Test func `a track that plays goes on to its end`() {
        var (player, service) = Self.rig()
        _ = Self.write(&player, [0], to: Self.remote, &service)
        service.now = .milliseconds(1500)
        #expect(
            Self.write(&player, [0, 1], to: Self.update, &service) == .sent([Self.text(0, 1, "1,1.0,11.5")]))
        service.now = .seconds(1000)
        #expect(
            Self.write(&player, [0, 1], to: Self.update, &service) == .sent([Self.text(0, 1, "1,1.0,180.25")])
        )
        // Past the first seconds, to its start; then to the track before, and no further.
        for _ in 0..<4 { _ = Self.write(&player, [4], to: Self.remote, &service) }
        #expect(Self.write(&player, [1, 0], to: Self.update, &service) == .sent([Self.text(1, 0, "0")]))
        for _ in 0..<2 { _ = Self.write(&player, [7], to: Self.remote, &service) }
        #expect(Self.write(&player, [4], to: Self.remote, &service) == .sent([Self.text(1, 0, "2")]))
    }

    @Test func `no write of any length harms it`() {
        for characteristic in [Self.remote, Self.update, Self.attribute] {
            for length in 0...12 {
                for filler: UInt8 in [0, 1, 2, 3, 4, 13, 14, 0x80, 0xFF] {
                    var (player, service) = Self.rig()
                    service.longest = length
                    let value = [UInt8](repeating: filler, count: length)
                    _ = Self.write(&player, value, to: characteristic, &service)
                    _ = try? player.read(characteristic, by: TestService.phone, service)
                }
            }
        }
        #expect(AppleMedia(nil).player.commands.isEmpty)
    }
}
