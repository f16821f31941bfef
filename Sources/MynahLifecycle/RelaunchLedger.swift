package import MynahCore

/// Records the causes that prevent a phone's system from relaunching apps until their user opens them.
///
/// Causes are numbered as they happen. A cause concerns each app that has not run since then, even an app
/// that is not part of this run. The phone saves the ledger for later runs.
package struct RelaunchLedger: Hashable, Sendable {
    /// The last cause of one kind.
    package struct Cause: Hashable, Sendable {
        /// The kind.
        package var kind: RelaunchCause
        /// The cause's number.
        package var number: Int

        /// Makes a cause.
        package init(_ kind: RelaunchCause, _ number: Int) {
            (self.kind, self.number) = (kind, number)
        }
    }

    /// An app, with the number of the last cause before it ran.
    package struct KnownApp: Hashable, Sendable {
        /// The app's name.
        package var name: String
        /// The number of the last cause before the app ran.
        package var number: Int

        /// Makes an app.
        package init(_ name: String, _ number: Int) {
            (self.name, self.number) = (name, number)
        }
    }

    /// The largest number of apps in the ledger.
    ///
    /// Above it, the apps that ran the longest ago are forgotten, and then count as not opened.
    package static let limit = 1000

    /// The ways in which Bluetooth was turned off since it was last on, in order.
    package private(set) var turnedOff: [RelaunchCause] = []
    /// The last cause of each kind, the most recent one last.
    package private(set) var causes: [Cause] = []
    /// The apps, the one that ran most recently last.
    package private(set) var apps: [KnownApp] = []

    /// Makes an empty ledger.
    package init() {}

    /// Makes a ledger with saved data; if there are too many apps, the later ones are kept.
    package init(turnedOff: [RelaunchCause], causes: [Cause], apps: [KnownApp]) {
        (self.turnedOff, self.causes, self.apps) = (turnedOff, causes, apps.suffix(Self.limit))
    }

    /// The number of the last cause, or 0 if there was none.
    private var number: Int { causes.last?.number ?? 0 }

    /// Records a way in which Bluetooth was turned off; there may be several until it is on again.
    package mutating func turnOff(by cause: RelaunchCause) {
        if !turnedOff.contains(cause) { turnedOff.append(cause) }
    }

    /// Removes a way of turning Bluetooth off that failed.
    package mutating func cancelTurnOff(by cause: RelaunchCause) { turnedOff.removeAll { $0 == cause } }

    /// Records the causes for the ways in which Bluetooth was turned off, because it is on again.
    package mutating func turnOn() {
        for cause in turnedOff { note(cause) }
        turnedOff = []
    }

    /// Removes the ways in which Bluetooth was turned off, without recording causes, because it is on.
    package mutating func forgetTurnedOff() { turnedOff = [] }

    /// Records a cause that prevents some apps from being relaunched.
    package mutating func note(_ kind: RelaunchCause) {
        let next = number + 1
        causes.removeAll { $0.kind == kind }
        causes.append(Cause(kind, next))
    }

    /// Records that an app runs, so that earlier causes no longer concern it.
    package mutating func runs(_ name: String) {
        let index = apps.firstIndex { $0.name == name }
        guard number > index.map({ apps[$0].number }) ?? 0 else { return }
        if let index { apps.remove(at: index) } else if apps.count >= Self.limit { apps.removeFirst() }
        apps.append(KnownApp(name, number))
    }

    /// The first cause, since an app ran, that prevents the system from relaunching it, or `nil` if there is
    /// none.
    package func cause(
        forbidding name: String, on version: IOSVersion, withAccessorySetup usesIt: Bool = false
    ) -> RelaunchCause? {
        let last = apps.first { $0.name == name }?.number ?? 0
        return causes.first {
            $0.number > last && !version.relaunch(after: $0.kind).allowsRelaunch(withAccessorySetup: usesIt)
        }?.kind
    }
}
