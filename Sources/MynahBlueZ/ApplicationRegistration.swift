import MynahCore
import MynahDBus

/// Registers one application, and answers bluetoothd's refusals.
struct ApplicationRegistration {
    /// The next step before the application is registered.
    enum Step: Hashable {
        case register
        /// Unregister the remains of an earlier registration, whose answer came too late or not at all, and
        /// register again.
        case registerAgain
        /// Let bluetoothd choose the handles.
        case registerWithoutHandles
    }

    private(set) var step = Step.register
    private let hasHandles: Bool

    /// A registration; `hasHandles` says whether the application asks for its handles.
    init(hasHandles: Bool) {
        self.hasHandles = hasHandles
    }

    /// bluetoothd refused.
    ///
    /// Throws `servicesRefused`, or the reason why bluetoothd cannot be called, if there is nothing left to
    /// try.
    mutating func refused(_ error: DBusError) throws(RadioError) {
        if error.name == "org.bluez.Error.AlreadyExists", step == .register {
            step = .registerAgain
        } else if error.name == "org.bluez.Error.Failed", error.message.contains("database"), hasHandles,
            step != .registerWithoutHandles
        {
            // Another application has one of the handles.
            step = .registerWithoutHandles
        } else {
            throw BlueZErrors.servicesError(error)
        }
    }
}
