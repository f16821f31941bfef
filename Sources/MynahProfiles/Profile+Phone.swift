import MynahCore

// The services that an app's phone itself provides.
extension Profile {
    /// The phone of one or more apps.
    public struct PhoneDescription: Sendable {
        /// The name of the phone's owner; apps with the same owner are on the same phone.
        ///
        /// If it is `nil`, this is the phone that all apps without a name share.
        public var name: String?
        /// The phone's own services, in their order.
        package var services: [PhoneService] = []
        /// The Model Number String.
        package var model = PhoneSection.usualModel
        /// The battery level, in percent.
        package var batteryLevel = 100
        /// The TX power level that the phone advertises, in dBm, or `nil` for none.
        package var txPower: Int?
        /// The Nearby Info that the phone advertises in the background, or `nil` for none.
        package var nearbyInfo: [UInt8]?
        /// The major version of iOS, or `nil` if the section `app` has it.
        package var iOS: Int?
        /// The notifications that the phone shows at the start, the oldest first.
        package var notifications: [PhoneNotification] = []
        /// The media that the phone plays, or `nil` if no app plays media.
        package var media: PhoneMedia?
        /// The position of each field by its key.
        public var marks: [String: SourceMark] = [:]

        /// Returns the differences from the description of the same phone in another app's profile, by key.
        ///
        /// A key that is in only one of the profiles is not a difference.
        package func differences(from other: PhoneDescription) -> [(key: String, message: String)] {
            var found: [(key: String, message: String)] = []
            // Swift compares such names as equal, but a state directory has two folders for them.
            if let name, let before = other.name, !name.utf8.elementsEqual(before.utf8) {
                found.append(("name", "phone.name looks the same, but has other bytes: copy the name"))
            }
            func compare(_ key: String, _ isEqual: Bool) {
                guard marks[key] != nil, other.marks[key] != nil, !isEqual else { return }
                found.append((key, "phone.\(key) differs"))
            }
            compare("services", services == other.services)
            compare("model", model == other.model)
            compare("batteryLevel", batteryLevel == other.batteryLevel)
            compare("txPower", txPower == other.txPower)
            compare("nearbyInfo", nearbyInfo == other.nearbyInfo)
            compare("iOS", iOS == other.iOS)
            compare("notifications", notifications == other.notifications)
            compare("media", media == other.media)
            return found
        }
    }

    /// A service that the phone itself provides.
    package enum PhoneService: String, Hashable, Sendable, CaseIterable {
        case currentTime = "current-time"
        case battery
        /// The Device Information Service, with manufacturer and model.
        case deviceInformation = "device-information"
        /// The Apple Notification Center Service.
        case ancs
        /// The Apple Media Service.
        case ams
    }

    /// A notification on the phone, with the properties that ANCS transmits.
    package struct PhoneNotification: Hashable, Sendable {
        /// The CategoryID in ANCS, which is the index of the case.
        package enum Category: String, Hashable, Sendable, CaseIterable {
            case other, incomingCall, missedCall, voicemail, social, schedule, email, news
            case healthAndFitness, businessAndFinance, location, entertainment

            /// The number of the category on the air.
            package var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }
        }

        /// The EventFlags that a profile can set; the other flags are derived from other keys.
        package enum Flag: String, Hashable, Sendable, CaseIterable {
            case silent, important
        }

        /// The identifier of the app that shows the notification.
        package var app: String
        /// The name of that app, or `nil` to use the last part of its identifier.
        package var appName: String?
        package var title = ""
        package var subtitle = ""
        /// The notification's text.
        package var message = ""
        package var category = Category.other
        /// The time of the notification, in seconds since 1970, or `nil` for the time at which it is shown.
        package var date: Int64?
        /// The label of the positive action, or `nil` if there is none.
        package var positiveAction: String?
        /// The label of the negative action, or `nil` if there is none.
        package var negativeAction: String?
        package var flags: Set<Flag> = []

        /// Makes a notification of an app.
        package init(app: String, appName: String? = nil, message: String = "") {
            self.app = app
            self.appName = appName
            self.message = message
        }

        /// The keys of the notification's texts in a profile.
        package static let textKeys = [
            "app", "appName", "title", "subtitle", "message", "date", "positiveAction", "negativeAction",
        ]

        /// Makes a notification of an app that a profile describes.
        ///
        /// Such an app has no bundle identifier, so one is derived from `label`.
        package static func ofApp(_ label: String, message: String = "") -> PhoneNotification {
            PhoneNotification(app: "mynah.\(label)", appName: label, message: message)
        }

        /// The name of the app that the phone shows.
        package var displayName: String {
            appName ?? app.split(separator: ".").last.map(String.init) ?? app
        }
    }

    /// The media that the phone plays, with the properties that AMS transmits.
    package struct PhoneMedia: Hashable, Sendable {
        /// The state of the player, as in PlaybackInfo.
        package enum State: String, Hashable, Sendable, CaseIterable {
            case paused, playing
        }

        /// The shuffle mode or the repeat mode; its number in AMS is the index of the case.
        package enum Mode: String, Hashable, Sendable, CaseIterable {
            case off, one, all
        }

        package struct Track: Hashable, Sendable {
            package var artist = ""
            package var album = ""
            package var title = ""
            /// The duration of the track, or `nil` if it is not known.
            package var duration: Duration?

            package init() {}
        }

        /// The name of the player's app.
        package var name = "Music"
        /// The state of the player.
        package var state = State.paused
        /// The volume, in percent.
        package var volume = 50
        /// The playback position in the current track.
        package var elapsed = Duration.zero
        /// The index of the current track in the queue, counted from 0.
        package var index = 0
        package var shuffle = Mode.off
        package var `repeat` = Mode.off
        /// The tracks of the queue.
        package var tracks: [Track] = []

        package init() {}
    }
}
