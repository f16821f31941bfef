import MynahCore
import MynahProfiles

/// The media player of a phone, controlled by the commands of AMS (AMS Specification, Appendix A).
struct MediaPlayer {
    /// The RemoteCommandID of a command.
    enum Command: UInt8, CaseIterable {
        case play, pause, togglePlayPause, nextTrack, previousTrack, volumeUp, volumeDown
        case advanceRepeatMode, advanceShuffleMode, skipForward, skipBackward
        case likeTrack, dislikeTrack, bookmarkTrack
    }

    /// An attribute, in the order of EntityID and AttributeID.
    enum Attribute: Hashable, CaseIterable {
        case playerName, playerPlaybackInfo, playerVolume
        case queueIndex, queueCount, queueShuffleMode, queueRepeatMode
        case trackArtist, trackAlbum, trackTitle, trackDuration

        /// The EntityID and the AttributeID on the air.
        var codes: (entity: UInt8, attribute: UInt8) {
            switch self {
            case .playerName: (0, 0)
            case .playerPlaybackInfo: (0, 1)
            case .playerVolume: (0, 2)
            case .queueIndex: (1, 0)
            case .queueCount: (1, 1)
            case .queueShuffleMode: (1, 2)
            case .queueRepeatMode: (1, 3)
            case .trackArtist: (2, 0)
            case .trackAlbum: (2, 1)
            case .trackTitle: (2, 2)
            case .trackDuration: (2, 3)
            }
        }

        init?(entity: UInt8, attribute: UInt8) {
            guard let found = Self.allCases.first(where: { $0.codes == (entity, attribute) }) else {
                return nil
            }
            self = found
        }
    }

    /// The range of valid EntityIDs.
    static let entities: ClosedRange<UInt8> = 0...2
    /// The time that a skip command jumps by.
    ///
    /// This is an assumption: iOS uses 15 s unless the app chooses another interval.
    private static let skip = Duration.seconds(15)
    /// The change of the volume by one command, in percent.
    ///
    /// This is an assumption: the volume of an iPhone has 16 steps.
    private static let volumeStep = 6.25

    private let media: Profile.PhoneMedia?
    private var isPlaying: Bool
    private var volume: Double
    private var index: Int
    private var shuffle: Profile.PhoneMedia.Mode
    private var `repeat`: Profile.PhoneMedia.Mode
    /// The position in the track, and the device time at which that position was valid.
    private var elapsed: (place: Duration, at: Duration)

    /// Makes the player in its initial state; without media, the player belongs to no app.
    init(_ media: Profile.PhoneMedia?, at now: Duration = .zero) {
        self.media = media
        isPlaying = media?.state == .playing
        volume = Double(media?.volume ?? 0)
        index = media?.index ?? 0
        shuffle = media?.shuffle ?? .off
        `repeat` = media?.repeat ?? .off
        elapsed = (media?.elapsed ?? .zero, now)
    }

    /// The commands that are currently supported.
    var commands: [Command] {
        guard let media else { return [] }
        let ofTracks: [Command] = [.nextTrack, .previousTrack, .skipForward, .skipBackward]
        return Command.allCases.filter { command in
            switch command {
            case .likeTrack, .dislikeTrack, .bookmarkTrack: false
            default: !ofTracks.contains(command) || !media.tracks.isEmpty
            }
        }
    }

    private var track: Profile.PhoneMedia.Track? {
        media.flatMap { $0.tracks.indices.contains(index) ? $0.tracks[index] : nil }
    }

    /// Returns the position in the track, at most the track's duration.
    private func place(at now: Duration) -> Duration {
        let place = elapsed.place + (isPlaying ? now - elapsed.at : .zero)
        return max(.zero, min(place, track?.duration ?? place))
    }

    /// Carries out a command; returns `false` if the command is not currently supported.
    mutating func perform(_ command: Command, at now: Duration) -> Bool {
        guard commands.contains(command) else { return false }
        let place = place(at: now)
        switch command {
        case .play: play(true, from: place, at: now)
        case .pause: play(false, from: place, at: now)
        case .togglePlayPause: play(!isPlaying, from: place, at: now)
        case .nextTrack: go(to: index + 1, at: now)
        // In the first 3 seconds of a track, go to the previous track; later, to the start of this one.
        case .previousTrack: go(to: place > .seconds(3) ? index : index - 1, at: now)
        case .volumeUp: volume = min(100, volume + Self.volumeStep)
        case .volumeDown: volume = max(0, volume - Self.volumeStep)
        case .advanceRepeatMode: `repeat` = Self.next(`repeat`)
        case .advanceShuffleMode: shuffle = Self.next(shuffle)
        case .skipForward: elapsed = (place + Self.skip, now)
        case .skipBackward: elapsed = (max(.zero, place - Self.skip), now)
        case .likeTrack, .dislikeTrack, .bookmarkTrack: break
        }
        return true
    }

    private mutating func play(_ isPlaying: Bool, from place: Duration, at now: Duration) {
        guard isPlaying != self.isPlaying else { return }
        self.isPlaying = isPlaying
        elapsed = (place, now)
    }

    /// Goes to the start of the track with this index, which is limited to the queue.
    ///
    /// If the whole queue is repeated, the index wraps around.
    private mutating func go(to index: Int, at now: Duration) {
        let count = media?.tracks.count ?? 0
        guard count > 0 else { return }
        if `repeat` == .all {
            self.index = (index + count) % count
        } else {
            self.index = min(max(0, index), count - 1)
        }
        elapsed = (.zero, now)
    }

    private static func next(_ mode: Profile.PhoneMedia.Mode) -> Profile.PhoneMedia.Mode {
        switch mode {
        case .off: .one
        case .one: .all
        case .all: .off
        }
    }

    // MARK: Attributes

    /// Returns the value of an attribute; empty if the attribute has no value.
    func value(of attribute: Attribute, at now: Duration) -> String {
        guard let media else { return "" }
        return switch attribute {
        case .playerName: media.name
        case .playerPlaybackInfo:
            "\(isPlaying ? 1 : 0),\(isPlaying ? "1.0" : "0.0"),\(Self.seconds(place(at: now)))"
        case .playerVolume: "\(volume / 100)"
        case .queueIndex: media.tracks.isEmpty ? "" : String(index)
        case .queueCount: String(media.tracks.count)
        case .queueShuffleMode: Self.code(shuffle)
        case .queueRepeatMode: Self.code(`repeat`)
        case .trackArtist: track?.artist ?? ""
        case .trackAlbum: track?.album ?? ""
        case .trackTitle: track?.title ?? ""
        case .trackDuration: track?.duration.map(Self.seconds) ?? ""
        }
    }

    /// Returns a text that differs if an attribute has changed.
    ///
    /// The advancing position of a playing track is not a change.
    func state(of attribute: Attribute) -> String {
        attribute == .playerPlaybackInfo
            ? "\(isPlaying) \(elapsed.place) \(elapsed.at)" : value(of: attribute, at: .zero)
    }

    private static func code(_ mode: Profile.PhoneMedia.Mode) -> String {
        String(Profile.PhoneMedia.Mode.allCases.firstIndex(of: mode) ?? 0)
    }

    /// Formats a duration in seconds with three decimals.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let thousandths = attoseconds / 1_000_000_000_000_000
        let digits = String(1000 + thousandths).dropFirst()
        let short =
            digits.hasSuffix("00") ? digits.prefix(1) : digits.hasSuffix("0") ? digits.prefix(2) : digits
        return "\(seconds).\(short)"
    }
}
