import MynahCore
package import MynahHCI

/// The user's options for the radios of a run.
package struct RadioPlan: Sendable {
    package var choice: RadioChoice
    /// The names of BlueZ's adapters, in the order of the radios.
    package var adapters: [String] = []
    /// The kind of address of Mynah's own host.
    ///
    /// With `nil`, phones use private addresses, and accessories use their identity address.
    package var address: AddressChoice?
    /// The target for the capture of HCI packets and the virtual air, or `nil` for no capture.
    package var capture: CaptureTarget?
    /// The largest number of notifications a second on BlueZ, 0 for no limit, or `nil` for the default limit.
    package var notificationRate: Int?
    /// Whether BlueZ must report which central has subscribed.
    package var namesSubscribers = false
    /// The simulated medium (air) of virtual radios, or `nil` for the one that all processes of this user
    /// share.
    package var air: LiveAir?

    /// Makes a plan with a choice of radio, and default options.
    package init(_ choice: RadioChoice, on air: LiveAir? = nil) {
        self.choice = choice
        self.air = air
    }

    /// The names of the given options that only BlueZ supports.
    var optionsForBlueZ: [String] {
        (namesSubscribers ? ["--name-subscribers"] : [])
            + (notificationRate == nil ? [] : ["--notification-rate"])
    }
}

extension RadioMaker.Options {
    /// Makes the options for the radios of a run, after the choice was resolved.
    init(
        _ chosen: ChosenRadio, of radios: RadioPlan, for plan: RunPlan, capture: Capture?,
        notice: @escaping @Sendable (RadioWarning) -> Void
    ) {
        self.init(choice: chosen, capture: capture, notice: notice)
        adapters = radios.adapters
        let rate = radios.notificationRate ?? 2000
        notificationRate = rate == 0 ? nil : rate
        namesSubscribers = radios.namesSubscribers
        address = radios.address
        setsPower = plan.setsPower
        air = radios.air
    }
}
