import MynahCore
package import MynahHCI

/// The user's options for the radios of a run.
package struct RadioPlan: Sendable {
    package var choice: RadioChoice
    /// BlueZ's, in order.
    package var adapters: [String] = []
    /// The address policy of Mynah's own host; with `nil`, it is private for a phone, and identity for an
    /// accessory.
    package var address: AddressChoice?
    /// The target for recording the HCI packets of Mynah's own host and the virtual air, or `nil`.
    package var capture: CaptureTarget?
    /// The largest number of notifications a second on BlueZ, 0 for no limit, or `nil` for the default limit.
    package var notificationRate: Int?
    /// Whether BlueZ is made to report which central subscribed.
    package var namesSubscribers = false
    /// The air of virtual radios, or `nil` for the air that all processes of this user share.
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
    /// Makes the radios of a run, after the choice was resolved.
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
