import MynahCore
import MynahLifecycle
import Testing

@Suite struct AlertPolicyTests {
    private static let device = DeviceAddress.device(1)

    private static func options(_ cause: AlertPolicy.Cause?) -> ConnectOptions {
        var options = ConnectOptions()
        options.notifyOnConnection = cause == .connection
        options.notifyOnDisconnection = cause == .disconnection
        options.notifyOnNotification = cause == .notification
        return options
    }

    private static func app(
        _ number: UInt64, _ asked: AlertPolicy.Cause? = .disconnection, state: AppState = .suspended,
        isWoken: Bool = false
    ) -> AlertPolicy.Candidate {
        AlertPolicy.Candidate(app: number, options: options(asked), state: state, isWoken: isWoken)
    }

    private static func alert(
        _ app: UInt64, _ cause: AlertPolicy.Cause = .disconnection, _ address: DeviceAddress = device
    ) -> AlertPolicy.Alert {
        AlertPolicy.Alert(app: app, cause: cause, address: address)
    }

    // MARK: Recipients

    @Test func `an app is shown an alert if it asked for one and is suspended, and only then`() {
        for cause in AlertPolicy.Cause.allCases where cause != .power {
            for asked in AlertPolicy.Cause.allCases + [nil] {
                for state in AppState.allCases {
                    for isWoken in [false, true] {
                        var policy = AlertPolicy()
                        var actions: [AlertPolicy.Action] = []
                        let app = Self.app(1, asked, state: state, isWoken: isWoken)
                        policy.happened(cause, to: Self.device, for: [app], into: &actions)
                        let isDue = asked == cause && state == .suspended && !isWoken
                        #expect(
                            actions == (isDue ? [.shown(Self.alert(1, cause))] : []),
                            "\(cause), \(String(describing: asked)), \(state), \(isWoken)")
                    }
                }
            }
        }
    }

    @Test func `of several apps that asked, the one that was last in the foreground gets the alert`() {
        var policy = AlertPolicy()
        var actions: [AlertPolicy.Action] = []
        for app in [1, 2, 3, 1, 4] as [UInt64] { policy.enteredForeground(app, into: &actions) }
        #expect(actions == [])
        func shown(_ candidates: AlertPolicy.Candidate...) -> [AlertPolicy.Action] {
            var actions: [AlertPolicy.Action] = []
            policy.happened(.disconnection, to: Self.device, for: candidates, into: &actions)
            return actions
        }
        #expect(shown(Self.app(3), Self.app(1), Self.app(2)) == [.shown(Self.alert(1))])
        #expect(shown(Self.app(2), Self.app(3)) == [.shown(Self.alert(3))])
        #expect(shown(Self.app(4, nil), Self.app(2)) == [.shown(Self.alert(2))], "app 4 did not ask")
        #expect(shown(Self.app(4, isWoken: true), Self.app(2)) == [.shown(Self.alert(2))], "app 4 is woken")
        #expect(shown(Self.app(9), Self.app(8)) == [.shown(Self.alert(9))], "neither was in the foreground")
        #expect(shown(Self.app(9), Self.app(2)) == [.shown(Self.alert(2))])
        #expect(shown() == [])
    }

    // MARK: Ends of alerts

    @Test func `the user opens and dismisses the alert on top`() {
        var policy = AlertPolicy()
        var actions: [AlertPolicy.Action] = []
        policy.happened(.disconnection, to: .device(1), for: [Self.app(1)], into: &actions)
        policy.happened(.disconnection, to: .device(2), for: [Self.app(2)], into: &actions)
        policy.happened(.disconnection, to: .device(3), for: [Self.app(3)], into: &actions)
        actions = []
        policy.open(into: &actions)
        policy.dismiss(into: &actions)
        #expect(
            actions == [
                .opened(Self.alert(3, .disconnection, .device(3))),
                .dismissed(Self.alert(2, .disconnection, .device(2))),
            ])
        #expect(policy.alerts.map(\.app) == [1])
        policy.open(into: &actions)
        actions = []
        policy.open(into: &actions)
        policy.dismiss(into: &actions)
        #expect(actions == [] && policy.alerts == [])
    }

    @Test func `each notification is shown, in one alert for each device`() {
        var policy = AlertPolicy()
        var actions: [AlertPolicy.Action] = []
        for device in [1, 2, 1] as [UInt64] {
            policy.happened(
                .notification, to: .device(device), for: [Self.app(1, .notification)], into: &actions)
        }
        #expect(actions.count == 3)
        #expect(policy.alerts.map(\.address) == [.device(2), .device(1)])
    }

    @Test func `an app that comes to the foreground or is quit has no alerts any more`() {
        var policy = AlertPolicy()
        var actions: [AlertPolicy.Action] = []
        for app in [1, 2, 3] as [UInt64] {
            policy.happened(.disconnection, to: .device(app), for: [Self.app(app)], into: &actions)
        }
        policy.happened(.connection, to: .device(1), for: [Self.app(1, .connection)], into: &actions)
        actions = []
        policy.enteredForeground(1, into: &actions)
        policy.enteredForeground(1, into: &actions)
        #expect(
            actions == [
                .dismissed(Self.alert(1, .disconnection, .device(1))),
                .dismissed(Self.alert(1, .connection, .device(1))),
            ])
        actions = []
        policy.quit(2, into: &actions)
        #expect(actions == [.dismissed(Self.alert(2, .disconnection, .device(2)))])
        #expect(policy.alerts.map(\.app) == [3])
        actions = []
        policy.happened(.disconnection, to: Self.device, for: [Self.app(2), Self.app(1)], into: &actions)
        #expect(actions == [.shown(Self.alert(1))])
    }

    @Test func `an app in front is offered to turn Bluetooth on, once until its user answers`() {
        let alert = AlertPolicy.Alert(app: 1, cause: .power, address: nil)
        var policy = AlertPolicy()
        var actions: [AlertPolicy.Action] = []
        policy.madeManager(1, into: &actions)
        policy.madeManager(1, into: &actions)
        policy.enteredForeground(1, into: &actions)
        #expect(actions == [.shown(alert)])
        policy.open(into: &actions)
        policy.madeManager(1, into: &actions)
        policy.quit(1, into: &actions)
        #expect(actions == [.shown(alert), .opened(alert), .shown(alert), .dismissed(alert)])
    }
}
