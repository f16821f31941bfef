package import MynahCore

/// The permission of one app to use Bluetooth.
///
/// iOS asks the user when an app makes its first manager (iOS 13). Until the user has allowed it, the app's
/// managers are `unauthorized`.
///
/// | it is | changed to | what follows |
/// |---|---|---|
/// | `notDetermined`, not asked | `allowedAlways`, `denied` | nothing: Settings do not list the app |
/// | `notDetermined`, being asked | `allowedAlways`, `denied` | the app goes on |
/// | anything | `restricted` | iOS terminates the app |
/// | `restricted`, `denied`, `allowedAlways` | another | iOS terminates the app |
///
/// That iOS terminates an app whose permission is changed in Settings was observed, and Apple does not
/// document it. Assumptions: it does so for any change that is no answer; the app is `unauthorized` while the
/// user is asked; a question whose app ends is asked again by the next launch.
package struct AppPermission: Sendable {
    /// The meaning of a change.
    package enum Change: Hashable, Sendable {
        /// The permission is as it was before.
        case none
        /// The app has not asked, so that there is nothing to answer or to change.
        case notAsked
        /// The user answered the app's question.
        case answered
        /// The user changed the permission in Settings, for which iOS terminates the app.
        case changedInSettings
    }

    /// The permission.
    package private(set) var authorization: BluetoothAuthorization
    /// Whether the user is being asked.
    private var isAsking = false

    /// The permission that an app begins with.
    package init(_ authorization: BluetoothAuthorization) {
        self.authorization = authorization
    }

    /// Whether the app may use Bluetooth.
    package var isAllowed: Bool { authorization == .allowedAlways }

    /// The app made a manager; returns whether iOS asks the user now.
    package mutating func madeManager() -> Bool {
        guard authorization == .notDetermined, !isAsking else { return false }
        isAsking = true
        return true
    }

    /// The app's process is gone, and its question with it.
    package mutating func processEnded() {
        isAsking = false
    }

    /// The user or the phone changes it.
    package mutating func change(to new: BluetoothAuthorization) -> Change {
        guard new != authorization else { return .none }
        if authorization == .notDetermined, new != .restricted {
            guard isAsking else { return .notAsked }
            (authorization, isAsking) = (new, false)
            return .answered
        }
        (authorization, isAsking) = (new, false)
        return .changedInSettings
    }

    /// The Bluetooth state of the app's managers while the phone has this one.
    package func state(on phone: RadioState) -> RadioState {
        switch phone {
        case .poweredOn, .poweredOff, .unauthorized: isAllowed ? phone : .unauthorized
        // Apple's order of states has these before unauthorized.
        case .unknown, .resetting, .unsupported: phone
        }
    }
}
