import Mynah
import MynahCore
import MynahProfiles

/// Controls the notifications on the phone.
struct NotificationControl {
    let devices: PlayedDevices

    /// Shows a notification on the phone and returns its UID; replaces the notification `replaced` unless
    /// that is `nil`.
    func show(
        _ notification: Profile.PhoneNotification, instead replaced: UInt32? = nil
    ) throws(ControlRefusal) -> UInt32 {
        if let replaced {
            let isKnown = try notifications { notifications, _ in
                notifications.modify(replaced, notification)
            }
            guard isKnown else { throw Self.unknown(replaced) }
            return replaced
        }
        let uid = try notifications { notifications, service in
            notifications.add(notification, at: service.now)
        }
        guard let uid else {
            throw .conflict(
                "the phone shows \(ProfileLimit.notifications.count) notifications; remove one first")
        }
        return uid
    }

    /// Removes a notification from the phone.
    func remove(_ uid: UInt32) throws(ControlRefusal) {
        let isKnown = try notifications { notifications, _ in notifications.remove(uid) }
        guard isKnown else { throw Self.unknown(uid) }
    }

    private static func unknown(_ uid: UInt32) -> ControlRefusal {
        .notFound("the phone shows no notification with the UID \(uid)")
    }

    private func notifications<Result>(
        _ body: (inout AppleNotifications, any ServiceState) -> Result
    ) throws(ControlRefusal) -> Result {
        guard devices.isRunning else { throw .conflict("the phone does not play") }
        guard let result = devices.own?.sender.behaviors?.change(AppleNotifications.self, body) else {
            throw .conflict(
                """
                the phone has no notification center: add phone: {services: [ancs]} to the profile, and play \
                it on a radio of our own
                """)
        }
        return result
    }

    /// Shows a text as a notification of an app; warns if that is not possible.
    func show(_ text: String, of app: String) {
        do throws(ControlRefusal) {
            _ = try show(.ofApp(app, message: text))
        } catch {
            devices.events.warn("notAlerted", error.message)
        }
    }
}

extension AppTarget {
    /// Returns the player of the app to which a notification belongs, or `nil` if there is none.
    func app(of players: [DevicePlayer]) -> DevicePlayer? {
        switch self {
        case .named(let label), .phone(let label): players.first { $0.memory.device.label == label }
        case .peripheral: nil
        case .lastInFront, .every: players.first
        }
    }
}
