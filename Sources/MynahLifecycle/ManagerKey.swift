/// A central manager of a phone, by the numbers that the phone gave it and its app.
///
/// A manager that no app made counts as a separate app that is always in the foreground.
package struct ManagerKey: Hashable, Sendable {
    /// The number of the app.
    package let app: UInt64
    /// The number of the manager, which no other manager of the phone has.
    package let manager: UInt64

    /// A manager of an app.
    package init(app: UInt64, manager: UInt64) {
        self.app = app
        self.manager = manager
    }
}
