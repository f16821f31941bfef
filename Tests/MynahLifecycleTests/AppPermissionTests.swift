import MynahCore
import Testing

@testable import MynahLifecycle

@Suite struct AppPermissionTests {
    private typealias Change = AppPermission.Change

    /// A permission as it is before, for an app that has made a manager if `isAsked`.
    private static func permission(_ authorization: BluetoothAuthorization, isAsked: Bool) -> AppPermission {
        var permission = AppPermission(authorization)
        if isAsked { _ = permission.madeManager() }
        return permission
    }

    @Test func `each change of a permission has its effect`() {
        for before in BluetoothAuthorization.allCases {
            for new in BluetoothAuthorization.allCases {
                for isAsked in [false, true] {
                    var permission = Self.permission(before, isAsked: isAsked)
                    let change = permission.change(to: new)
                    let expected: Change =
                        switch (before, new, isAsked) {
                        case (let before, let new, _) where before == new: .none
                        case (.notDetermined, .restricted, _): .changedInSettings
                        case (.notDetermined, _, false): .notAsked
                        case (.notDetermined, _, true): .answered
                        default: .changedInSettings
                        }
                    #expect(change == expected, "\(before) to \(new), asked \(isAsked)")
                    #expect(permission.authorization == (change == .notAsked ? before : new))
                }
            }
        }
    }

    @Test func `the first manager asks once, and again after the end of its app`() {
        var permission = AppPermission(.notDetermined)
        let asked = [permission.madeManager(), permission.madeManager()]
        permission.processEnded()
        let early = permission.change(to: .allowedAlways)
        let askedAgain = permission.madeManager()
        let answered = permission.change(to: .allowedAlways)
        let askedLater = permission.madeManager()
        #expect(asked == [true, false] && askedAgain && !askedLater)
        #expect(early == .notAsked && answered == .answered)
    }

    @Test func `an app that is not allowed is unauthorized where the phone has a state above it`() {
        let states: [RadioState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        for state in states {
            #expect(AppPermission(.allowedAlways).state(on: state) == state)
            let own: RadioState = [.poweredOff, .poweredOn].contains(state) ? .unauthorized : state
            for authorization in BluetoothAuthorization.allCases where authorization != .allowedAlways {
                #expect(AppPermission(authorization).state(on: state) == own)
            }
        }
    }
}
