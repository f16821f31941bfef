import MynahCore
import MynahSupport

/// The section `phone`: the phone that an app is on.
///
/// The profiles of all apps on one phone must describe it identically
/// (`Profile.PhoneDescription.differences(from:)`).
enum PhoneSection {
    /// The default model of a phone.
    static let usualModel = "iPhone15,2"

    // In bytes of UTF-8, because the name is used for a folder in a state directory.
    private static let longestName = 64

    static let name = Field(
        "name", called: "phone.name", .text,
        doc: "The name of its owner, up to 64 bytes: apps with the same name share the phone.")
    static let services = Field(
        "services",
        .words(Profile.PhoneService.allCases.map(\.rawValue), each: "service of a phone") {
            "the service \($0) is repeated"
        }, doc: "Its own services, in their order; left out: none. Not on BlueZ.")
    static let model = Field(
        "model", called: "phone.model", .phoneText(1...64),
        doc: "Its Model Number String; left out: \(usualModel).")
    static let iOS = Field("iOS", .integer(7...99), doc: "iOS's major version, as in app.")
    static let batteryLevel = Field(
        "batteryLevel", .integer(0...100), doc: "Its battery level, in percent; left out: 100.")
    // The limits of the Core Specification Supplement, Part A, 1.5.
    static let txPower = Field(
        "txPower", .integer(-127...20),
        doc: "The TX power level that it advertises, in dBm; left out: none. 12 was captured.")
    static let nearbyInfo = Field(
        "nearbyInfo", .bytes,
        doc: """
            Its Nearby Info, which it advertises in the background, 5 or 6 bytes; left out: none. \
            071EA3DD89E0 was captured.
            """)
    static let notifications = Field(
        "notifications", .sections("phoneNotification"),
        doc: "The notifications that it shows at the start, the oldest first.")
    static let media = Field(
        "media", .section("phoneMedia"), doc: "Its media player; left out: it plays nothing.")
    static let table = Section(
        "phone", what: "phone",
        [name, services, model, iOS, batteryLevel, txPower, nearbyInfo, notifications, media],
        rules: Schema.anyOf([
            .required([name.name]), .required([services.name]), .required([txPower.name]),
            .required([nearbyInfo.name]),
        ]).members)

    static func read(_ node: YAMLNode, isApp: Bool, _ reader: FormatReader) -> Profile.PhoneDescription? {
        guard let fields = reader.fields(node, table) else { return nil }
        if !isApp {
            reader.error(at: node, "phone says which phone an app is on, so it needs app:")
        }
        var phone = Profile.PhoneDescription()
        phone.marks = fields.marks
        guard readName(into: &phone, fields, reader) else { return nil }
        for word in fields.read(services) ?? [] {
            if let service = Profile.PhoneService(rawValue: word.word) { phone.services.append(service) }
        }
        fields.read(model, into: &phone.model)
        fields.read(iOS, into: &phone.iOS)
        fields.read(batteryLevel, into: &phone.batteryLevel)
        fields.read(txPower, into: &phone.txPower)
        if let bytes = fields.read(nearbyInfo) {
            phone.nearbyInfo = bytes
            if !NearbyInfo.lengths.contains(bytes.count) {
                reader.error(at: fields[nearbyInfo], "nearbyInfo must have 5 or 6 bytes, not \(bytes.count)")
            }
        }
        if let node = fields[notifications] {
            phone.notifications = PhoneNotificationSection.list(node, reader)
        }
        phone.media = fields[media].flatMap { PhoneMediaSection.read($0, reader) }
        for (key, service) in [
            (model.name, .deviceInformation), (batteryLevel.name, .battery), (notifications.name, .ancs),
            (media.name, .ams),
        ] as [(String, Profile.PhoneService)] where !phone.services.contains(service) {
            guard fields[key] != nil else { continue }
            reader.warning(
                at: fields.mark(of: key),
                "\(key) has no effect without the service \(service.rawValue) in phone.services")
        }
        return phone
    }

    /// Parses the phone's name; returns `false` if the name is missing or invalid.
    private static func readName(
        into phone: inout Profile.PhoneDescription, _ fields: Fields, _ reader: FormatReader
    ) -> Bool {
        guard let node = fields[name] else {
            guard [services.name, txPower.name, nearbyInfo.name].allSatisfy({ fields.marks[$0] == nil })
            else { return true }
            reader.error(at: fields.mark, "phone needs a name, as in phone: {name: Anna}")
            return false
        }
        guard let read = fields.read(name) else { return false }
        let count = read.utf8.count
        guard (1...longestName).contains(count) else {
            reader.error(
                at: node, "phone.name must have 1 to \(longestName) bytes in UTF-8, and has \(count)")
            return false
        }
        reader.checkName(read, "phone.name", at: node)
        phone.name = read
        return true
    }

    /// Combines the settings of the app and the phone; the version of iOS may be in either section.
    ///
    /// The TX power and the Nearby Info belong to the phone, but appear in its app's advertisement.
    static func merge(
        _ phone: Profile.PhoneDescription?, into app: inout Profile.App?, _ reader: FormatReader
    ) {
        app?.txPower = phone?.txPower.map { Int8(clamping: $0) }
        app?.nearbyInfo = phone?.nearbyInfo
        if phone?.nearbyInfo != nil { note(phone, app, reader) }
        guard let iOS = phone?.iOS, let given = app else { return }
        if given.marks["iOS"] != nil, given.iOS != iOS {
            reader.error(at: phone?.marks["iOS"], "phone.iOS is \(iOS), and app.iOS is \(given.iOS)")
        }
        app?.iOS = iOS
    }
}

extension PhoneSection {
    /// Adds notes about the times at which the Nearby Info is advertised, and about the related assumptions.
    private static func note(
        _ phone: Profile.PhoneDescription?, _ app: Profile.App?, _ reader: FormatReader
    ) {
        let mark = phone?.marks[nearbyInfo.name]
        guard app?.backgroundModes.contains(.bluetoothPeripheral) == true else {
            return reader.warning(
                at: mark,
                "nearbyInfo has no effect without the background mode bluetooth-peripheral"
            )
        }
        reader.hint(
            at: mark,
            """
            in the background nearbyInfo is in the advertising data and the overflow area in the scan \
            response, as captured; that it is not on the air while an app is in the foreground is assumed
            """)
    }
}

/// An entry of the list `phone.notifications`.
enum PhoneNotificationSection {
    static let app = Field(
        "app", .phoneText(1...128, isName: true),
        missing: "a notification needs app, the identifier of its app, as in app: com.apple.MobileSMS",
        doc: "The identifier of its app, up to 128 bytes (AppIdentifier).")
    static let appName = Field(
        "appName", .phoneText(1...128, isName: true),
        doc: "The name of its app (DisplayName); left out: the last part of the identifier.")
    static let title = Field("title", .phoneText(0...256), doc: "Its title, up to 256 bytes.")
    static let subtitle = Field("subtitle", .phoneText(0...256), doc: "Its subtitle, up to 256 bytes.")
    static let message = Field(
        "message", .phoneText(0...4096, hasLines: true), doc: "Its text, up to 4096 bytes.")
    static let category = Field(
        "category", .word as Kind<Profile.PhoneNotification.Category>,
        doc: "Its category (CategoryID); left out: other.")
    static let date = Field(
        "date", .dateTime, doc: "When it came, as 2026-01-31T12:00:00; left out: when it is added.")
    static let positiveAction = Field(
        "positiveAction", .phoneText(1...64), doc: "The label of its positive action; left out: it has none.")
    static let negativeAction = Field(
        "negativeAction", .phoneText(1...64), doc: "The label of its negative action; left out: it has none.")
    static let flags = Field(
        "flags",
        .words(Profile.PhoneNotification.Flag.allCases.map(\.rawValue), each: "flag of a notification") {
            "the flag \($0) is repeated"
        }, doc: "Its flags (EventFlags); those of actions and preExisting follow from the rest.")
    static let table = Section(
        "phoneNotification", what: "a notification",
        [app, appName, title, subtitle, message, category, date, positiveAction, negativeAction, flags])

    static func list(_ node: YAMLNode, _ reader: FormatReader) -> [Profile.PhoneNotification] {
        let elements = reader.elements(node, "notifications")
        let limit = ProfileLimit.notifications.count
        if elements.count > limit {
            reader.error(at: elements[limit], "a phone shows up to \(limit) notifications")
        }
        return elements.prefix(limit).compactMap { read($0, reader) }
    }

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.PhoneNotification? {
        guard let fields = reader.fields(node, table), let identifier = fields.read(app) else { return nil }
        var notification = Profile.PhoneNotification(app: identifier)
        fields.read(appName, into: &notification.appName)
        fields.read(title, into: &notification.title)
        fields.read(subtitle, into: &notification.subtitle)
        fields.read(message, into: &notification.message)
        fields.read(category, into: &notification.category)
        fields.read(date, into: &notification.date)
        fields.read(positiveAction, into: &notification.positiveAction)
        fields.read(negativeAction, into: &notification.negativeAction)
        for flag in fields.read(flags) ?? [] {
            if let flag = Profile.PhoneNotification.Flag(rawValue: flag.word) {
                notification.flags.insert(flag)
            }
        }
        return notification
    }
}

/// The section `phone.media`.
enum PhoneMediaSection {
    private static let longest = Duration.seconds(24 * 3600)
    private static let mostTracks = ProfileLimit.tracks.count

    static let name = Field(
        "name", .phoneText(1...256, isName: true),
        doc: "The name of the player (PlayerName); left out: Music.")
    static let state = Field(
        "state", .word as Kind<Profile.PhoneMedia.State>, doc: "Whether it plays; left out: paused.")
    static let volume = Field("volume", .integer(0...100), doc: "Its volume, in percent; left out: 50.")
    static let elapsed = Field(
        "elapsed", .duration(atMost: longest), doc: "Where the current track is; left out: at its start.")
    static let index = Field(
        "index", .integer(0...(mostTracks - 1)), doc: "The place of the current track, from 0 (QueueIndex).")
    static let shuffle = Field(
        "shuffle", .word as Kind<Profile.PhoneMedia.Mode>, doc: "The shuffle mode; left out: off.")
    static let `repeat` = Field(
        "repeat", .word as Kind<Profile.PhoneMedia.Mode>, doc: "The repeat mode; left out: off.")
    static let tracks = Field("tracks", .sections("phoneTrack"), doc: "The tracks of the queue.")
    static let table = Section(
        "phoneMedia", what: "media", [name, state, volume, elapsed, index, shuffle, `repeat`, tracks])

    static let artist = Field("artist", .phoneText(0...256), doc: "Its artist, up to 256 bytes.")
    static let album = Field("album", .phoneText(0...256), doc: "Its album, up to 256 bytes.")
    static let title = Field("title", .phoneText(0...256), doc: "Its title, up to 256 bytes.")
    static let duration = Field(
        "duration", .duration(atMost: longest), doc: "How long it is; left out: it is not known.")
    static let trackTable = Section("phoneTrack", what: "a track", [artist, album, title, duration])

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.PhoneMedia? {
        guard let fields = reader.fields(node, table) else { return nil }
        var media = Profile.PhoneMedia()
        fields.read(name, into: &media.name)
        fields.read(state, into: &media.state)
        fields.read(volume, into: &media.volume)
        fields.read(elapsed, into: &media.elapsed)
        fields.read(index, into: &media.index)
        fields.read(shuffle, into: &media.shuffle)
        fields.read(`repeat`, into: &media.repeat)
        if let node = fields[tracks] {
            let elements = reader.elements(node, "tracks")
            if elements.count > mostTracks {
                reader.error(at: elements[mostTracks], "a queue has up to \(mostTracks) tracks")
            }
            media.tracks = elements.prefix(mostTracks).compactMap { track($0, reader) }
        }
        if media.index > 0, media.index >= media.tracks.count {
            reader.error(
                at: fields.mark(of: index),
                "index is \(media.index), and the queue has \(media.tracks.count.counting("track")), "
                    + "from 0 on")
        }
        return media
    }

    private static func track(_ node: YAMLNode, _ reader: FormatReader) -> Profile.PhoneMedia.Track? {
        guard let fields = reader.fields(node, trackTable) else { return nil }
        var track = Profile.PhoneMedia.Track()
        fields.read(artist, into: &track.artist)
        fields.read(album, into: &track.album)
        fields.read(title, into: &track.title)
        fields.read(duration, into: &track.duration)
        return track
    }
}

extension Kind<String> {
    /// Makes the format of a text on a phone; `bytes` is its length in UTF-8.
    ///
    /// Only with `hasLines` may the text contain line breaks.
    fileprivate static func phoneText(
        _ bytes: ClosedRange<Int>, hasLines: Bool = false, isName: Bool = false
    ) -> Kind {
        Kind("text", .ref("text")) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            guard bytes.contains(text.utf8.count) else {
                reader.error(
                    at: node,
                    "\(what) must have \(bytes.lowerBound) to \(bytes.upperBound) bytes in UTF-8, and has "
                        + "\(text.utf8.count)")
                return nil
            }
            guard !isName else {
                reader.checkName(text, what, at: node)
                return text
            }
            reader.checkIsPrintable(hasLines ? text.filter { !$0.isNewline } : text, what, at: node)
            return text
        }
    }
}

extension Kind<Int64> {
    /// The format of a date and time, which is converted to seconds since 1970.
    fileprivate static var dateTime: Kind {
        parsed(
            "date and time", .types("string"), shape: "a date and a time, as in 2026-01-31T12:00:00",
            CivilTime.seconds(of:))
    }
}
