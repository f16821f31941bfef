import MynahCore
import MynahDBus

/// Decides how to register an application, and what to do after bluetoothd has refused it.
struct ApplicationRegistration {
    /// The next step before the application is registered.
    enum Step: Hashable {
        case register
        /// Remove the registration of an earlier attempt, whose answer was late or missing, and register
        /// again.
        case registerAgain
        /// Register again, with handles that bluetoothd chooses.
        case registerWithoutHandles
    }

    private(set) var step = Step.register
    private let hasHandles: Bool

    /// Makes the state before the first attempt.
    ///
    /// `hasHandles` says whether the application requests explicit handles.
    init(hasHandles: Bool) {
        self.hasHandles = hasHandles
    }

    /// Handles a refusal by bluetoothd.
    ///
    /// If there is nothing left to try, throws `servicesRefused`, or the reason that bluetoothd cannot be
    /// called.
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
