import MynahCore
package import MynahHCI

/// The radios of a run, as its user asks for them.
package struct RadioPlan: Sendable {
    package var choice: RadioChoice
    /// BlueZ's, in order.
    package var adapters: [String] = []
    /// The address policy of Mynah's own host; `nil` means private for a phone and identity for an accessory.
    package var address: AddressChoice?
    /// Where to record our own host's HCI, and the virtual air; `nil` if nowhere.
    package var capture: CaptureTarget?
    /// The most notifications a second that BlueZ gets, or 0 for no limit; `nil` for a usual limit.
    package var notificationRate: Int?
    /// Whether subscribers are named on BlueZ.
    package var namesSubscribers = false
    /// The air of virtual radios; `nil` for the one that this user's processes share.
    package var air: LiveAir?

    /// A choice of radio, with nothing else chosen.
    package init(_ choice: RadioChoice, on air: LiveAir? = nil) {
        self.choice = choice
        self.air = air
    }

    /// The given options that only BlueZ supports.
    var optionsForBlueZ: [String] {
        (namesSubscribers ? ["--name-subscribers"] : [])
            + (notificationRate == nil ? [] : ["--notification-rate"])
    }
}

extension RadioMaker.Options {
    /// The radios of a run, once it is known which.
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
