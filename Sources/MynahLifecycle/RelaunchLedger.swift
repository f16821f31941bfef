package import MynahCore

/// The events of a phone that may forbid its system to relaunch apps, until their user opens them.
///
/// Causes are numbered as they happen. A cause concerns each app that has not run since, also one that is not
/// part of this run. The phone keeps it over runs.
package struct RelaunchLedger: Hashable, Sendable {
    /// The last cause of one kind.
    package struct Cause: Hashable, Sendable {
        /// The kind.
        package var kind: RelaunchCause
        /// The cause's number.
        package var number: Int

        /// A cause.
        package init(_ kind: RelaunchCause, _ number: Int) {
            (self.kind, self.number) = (kind, number)
        }
    }

    /// An app that has run since a cause.
    package struct KnownApp: Hashable, Sendable {
        /// The app's name.
        package var name: String
        /// The number of the last cause before it ran last.
        package var number: Int

        /// An app.
        package init(_ name: String, _ number: Int) {
            (self.name, self.number) = (name, number)
        }
    }

    /// How many apps it knows at most.
    ///
    /// The ledger forgets those that ran the longest ago, which then count as not opened.
    package static let limit = 1000

    /// The ways in which Bluetooth was turned off since it was on, in order.
    package private(set) var turnedOff: [RelaunchCause] = []
    /// The last cause of each kind, the last of all at the end.
    package private(set) var causes: [Cause] = []
    /// The apps, the one that ran last at the end.
    package private(set) var apps: [KnownApp] = []

    /// A phone to which nothing has happened.
    package init() {}

    /// A phone that was kept; of the apps past the limit, the later ones are kept.
    package init(turnedOff: [RelaunchCause], causes: [Cause], apps: [KnownApp]) {
        (self.turnedOff, self.causes, self.apps) = (turnedOff, causes, apps.suffix(Self.limit))
    }

    /// The number of the last cause, or 0 if there was none.
    private var number: Int { causes.last?.number ?? 0 }

    /// Bluetooth was turned off, or is off and was turned off in another way too.
    package mutating func turnOff(by cause: RelaunchCause) {
        if !turnedOff.contains(cause) { turnedOff.append(cause) }
    }

    /// Bluetooth could not be turned off.
    package mutating func cancelTurnOff(by cause: RelaunchCause) { turnedOff.removeAll { $0 == cause } }

    /// Bluetooth is on again.
    package mutating func turnOn() {
        for cause in turnedOff { note(cause) }
        turnedOff = []
    }

    /// Bluetooth is on, and counts as never turned off.
    package mutating func forgetTurnedOff() { turnedOff = [] }

    /// Something happened that forbids some apps to be relaunched.
    package mutating func note(_ kind: RelaunchCause) {
        let next = number + 1
        causes.removeAll { $0.kind == kind }
        causes.append(Cause(kind, next))
    }

    /// An app runs: no cause until now concerns it any more.
    package mutating func runs(_ name: String) {
        let index = apps.firstIndex { $0.name == name }
        guard number > index.map({ apps[$0].number }) ?? 0 else { return }
        if let index { apps.remove(at: index) } else if apps.count >= Self.limit { apps.removeFirst() }
        apps.append(KnownApp(name, number))
    }

    /// The first cause since an app ran after which the system does not relaunch it, or `nil` if there is
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
