import Mynah
import MynahFaults
import MynahSupport

/// The parts of an emulator that control its devices.
///
/// Each part holds the other parts that it needs, and none holds the emulator. The parts belong to the
/// emulator, and run on the phone's executor.
struct EmulatorParts {
    let changes: RunChanges
    let user: PhoneUser
    let pairings: PhonePairings
    let faults: FaultControl
    let links: LinkControl
    let advertising: AdvertisingControl
    let scenarios: ScenarioControl
    let reader: DeviceReader
    let values: ValueControl
    let accessories: AccessoryControl
    let notifications: NotificationControl
    let apps: AppControl
    let reset: ResetControl
    let actions: UserActions
    let parameters: ParameterRequests
    let meter: RadioUseReports

    /// The part that types on keyboards.
    var typing: TypingControl { TypingControl(devices: reader.devices) }

    /// The part that ends links and changes advertising after a characteristic's rule.
    var rules: RuleEnd { RuleEnd(links: links, advertising: advertising) }

    /// Makes the parts.
    ///
    /// `playsApps` is `true` if apps play the devices. `isPlaying` holds whether a scenario is being played
    /// or waits for its device.
    init(
        of devices: PlayedDevices, playsApps: Bool, on phone: Phone, _ faultyRadio: FaultyRadio?,
        clock: RunClock, link: EmulatorLink, passkey: PasskeyEntry, isPlaying: Lock<Bool>
    ) {
        changes = RunChanges(of: devices, clock: clock, link: link)
        user = PhoneUser(of: devices, on: phone, playsApps: playsApps)
        pairings = PhonePairings(of: devices, on: phone, passkey)
        faults = FaultControl(of: devices, on: phone, faultyRadio)
        links = LinkControl(devices: devices, phone: phone, changes: changes)
        advertising = AdvertisingControl(devices: devices)
        accessories = AccessoryControl(devices: devices, phone: phone, link: link)
        notifications = NotificationControl(devices: devices)
        actions = UserActions(
            of: devices, on: phone, clock: clock, link: link, user: user, pairings: pairings, links: links,
            accessories: accessories, notifications: notifications)
        scenarios = ScenarioControl(
            devices: devices, player: ScenarioPlayer(clock, link, isPlaying: isPlaying), changes: changes,
            faults: faults, actions: actions, link: link)
        reader = DeviceReader(devices: devices, phone: phone, faults: faults, scenarios: scenarios)
        values = ValueControl(devices: devices, reader: reader, links: links, changes: changes)
        apps = AppControl(
            devices: devices, phone: phone, playsApps: playsApps, changes: changes, user: user,
            faults: faults, scenarios: scenarios.player)
        reset = ResetControl(
            devices: devices, phone: phone, changes: changes, user: user, faults: faults, links: links,
            advertising: advertising, values: values, accessories: accessories,
            scenarios: scenarios.player)
        parameters = ParameterRequests(of: devices, on: phone, clock: clock, link: link)
        meter = RadioUseReports(of: devices, on: phone, clock: clock, link: link)
    }
}
