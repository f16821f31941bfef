/// Identifies a central manager of a phone, by its own number and that of its app.
///
/// A manager that was made without an app counts as a separate app that is always in the foreground.
package struct ManagerKey: Hashable, Sendable {
    /// The number of the app.
    package let app: UInt64
    /// The number of the manager, which is unique on the phone.
    package let manager: UInt64

    /// Makes the key of an app's manager.
    package init(app: UInt64, manager: UInt64) {
        self.app = app
        self.manager = manager
    }
}
