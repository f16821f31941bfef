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
/// document it. Assumptions: iOS terminates the app for any change that is not an answer; the app is
/// `unauthorized` while the user is asked; if the app ends before the answer, its next launch asks again.
package struct AppPermission: Sendable {
    /// The effect of a change of the permission.
    package enum Change: Hashable, Sendable {
        /// The permission did not change.
        case none
        /// The app has not asked, so the change has no effect.
        case notAsked
        /// The user answered the app's question.
        case answered
        /// The user changed the permission in Settings, so iOS terminates the app.
        case changedInSettings
    }

    /// The permission.
    package private(set) var authorization: BluetoothAuthorization
    /// Whether the user is being asked.
    private var isAsking = false

    package init(_ authorization: BluetoothAuthorization) {
        self.authorization = authorization
    }

    /// Whether the app may use Bluetooth.
    package var isAllowed: Bool { authorization == .allowedAlways }

    /// Handles the creation of the app's first manager; returns whether iOS asks the user now.
    package mutating func madeManager() -> Bool {
        guard authorization == .notDetermined, !isAsking else { return false }
        isAsking = true
        return true
    }

    /// Handles the end of the app's process, which also ends the question to the user.
    package mutating func processEnded() {
        isAsking = false
    }

    /// Changes the permission, as the user or the phone's restrictions do.
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

    /// The Bluetooth state of the app's managers while the phone is in the given state.
    package func state(on phone: RadioState) -> RadioState {
        switch phone {
        case .poweredOn, .poweredOff, .unauthorized: isAllowed ? phone : .unauthorized
        // In Apple's order of states, these come before unauthorized.
        case .unknown, .resetting, .unsupported: phone
        }
    }
}
