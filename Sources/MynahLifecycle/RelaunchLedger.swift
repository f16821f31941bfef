package import MynahCore

/// Records the causes that prevent a phone's system from relaunching apps until their user opens them.
///
/// Causes are numbered as they happen. A cause concerns each app that has not run since then, even an app
/// that is not part of this run. The phone saves the ledger for later runs.
package struct RelaunchLedger: Hashable, Sendable {
    /// The last cause of one kind.
    package struct Cause: Hashable, Sendable {
        package var kind: RelaunchCause
        /// The cause's number.
        package var number: Int

        package init(_ kind: RelaunchCause, _ number: Int) {
            (self.kind, self.number) = (kind, number)
        }
    }

    /// An app, with the number of the last cause (see `Cause`) that was recorded before the app ran.
    package struct KnownApp: Hashable, Sendable {
        /// The app's name.
        package var name: String
        /// The number of the last `Cause` that was recorded before the app ran.
        package var number: Int

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

    /// Adds a way in which Bluetooth was turned off to `turnedOff`; there may be several until it is on
    /// again.
    package mutating func turnOff(by cause: RelaunchCause) {
        if !turnedOff.contains(cause) { turnedOff.append(cause) }
    }

    /// Removes a way from `turnedOff`, after an attempt to turn Bluetooth off failed.
    package mutating func cancelTurnOff(by cause: RelaunchCause) { turnedOff.removeAll { $0 == cause } }

    /// Records each way in `turnedOff` as a cause and empties `turnedOff`, after Bluetooth was turned on
    /// again.
    package mutating func turnOn() {
        for cause in turnedOff { note(cause) }
        turnedOff = []
    }

    /// Empties `turnedOff` without recording causes.
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

    /// Returns the first cause that prevents the system from relaunching an app, or `nil` if there is none.
    ///
    /// Only causes that were recorded after the app last ran count.
    package func cause(
        forbidding name: String, on version: IOSVersion, withAccessorySetup usesIt: Bool = false
    ) -> RelaunchCause? {
        let last = apps.first { $0.name == name }?.number ?? 0
        return causes.first {
            $0.number > last && !version.relaunch(after: $0.kind).allowsRelaunch(withAccessorySetup: usesIt)
        }?.kind
    }
}
