import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Carries out what the users of apps and of their phone do, now or at a time that is planned.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class UserActions {
    private let devices: PlayedDevices
    private let phone: Phone
    private let clock: RunClock
    private let link: EmulatorLink
    private let user: PhoneUser
    private let pairings: PhonePairings
    private let links: LinkControl
    private let accessories: AccessoryControl
    private let notifications: NotificationControl
    private var planned = PlannedActions<RunClock.Instant>()
    private var planning: Task<Void, Never>?

    init(
        of devices: PlayedDevices, on phone: Phone, clock: RunClock, link: EmulatorLink,
        user: PhoneUser, pairings: PhonePairings, links: LinkControl, accessories: AccessoryControl,
        notifications: NotificationControl
    ) {
        self.devices = devices
        self.phone = phone
        self.clock = clock
        self.link = link
        self.user = user
        self.pairings = pairings
        self.links = links
        self.accessories = accessories
        self.notifications = notifications
    }

    /// Does this to apps, or to their phone.
    func carryOut(_ action: UserAction, on target: AppTarget = .every) async {
        guard devices.isRunning else { return }
        let players = devices.players(for: action, target)
        if action.opensApp, !players.isEmpty { await user.pickUp() }
        switch action {
        case .openAlert: if !players.isEmpty, !pairings.open() { await phone.openAlert() }
        case .dismissAlert:
            if !players.isEmpty, !pairings.dismiss() { await phone.dismissAlert() }
        case .answerPairing(let agrees):
            if !players.isEmpty, !pairings.answer(agrees: agrees) {
                devices.events.warn("noPairing", "no pairing asks the user")
            }
        case .setPower(let isOn) where !players.isEmpty:
            await warn(ifNotTurned: isOn) { () async throws(RadioError) in try await user.setPower(isOn) }
        case .phone(let change) where !players.isEmpty:
            await warn(ifNotTurned: false) { () async throws(RadioError) in try await user.carryOut(change) }
        case .setPower, .phone: break
        case .forget: if devices.concerns(target) { await links.forget(target) }
        case .setAccessory(let isWanted):
            if devices.concerns(target) { await accessories.set(isWanted, target) }
        case .alert(let text):
            if let app = target.app(of: players) { notifications.show(text, of: app.device.label) }
        default: for player in players { await AppUser(of: player).carryOut(action) }
        }
    }

    /// Carries out an action on the app that plays a device, or on its phone; of an accessory, only its power
    /// can be changed, and its bonds deleted.
    ///
    /// `peripheral` names the one that its phone forgets, or that the app's user picks or removes.
    func carryOut(
        _ action: UserAction, of label: String, peripheral: String? = nil
    ) async throws(ControlRefusal) {
        let player = try devices.player(named: label)
        if case .forget = action {
            guard let peripheral else { return try await links.forget(in: label) }
            return try await links.forget(peripheral: peripheral, in: label)
        }
        if case .setAccessory(let isWanted) = action {
            return try await accessories.set(isWanted, peripheral: peripheral, in: label)
        }
        if case .setPower(let isOn) = action {
            return try await ControlRefusal.attempt { () async throws(RadioError) in
                try await user.setPower(isOn)
            }
        }
        guard player.device.app != nil else {
            throw .conflict("\(label) is an accessory: no app plays it")
        }
        if case .phone(let change) = action {
            return try await ControlRefusal.attempt { () async throws(RadioError) in
                try await user.carryOut(change)
            }
        }
        await carryOut(action, on: action.isForPhone ? .phone(of: label) : .named(label))
    }

    // MARK: Plans

    /// Does this to apps, or to their phone, after a time from now on; of two at one time first what was
    /// planned first.
    func plan(_ action: UserAction, on target: AppTarget = .every, after delay: Duration) {
        guard devices.isRunning else { return }
        planned.add(action, on: target, due: clock.now.advanced(by: delay))
        waitForPlanned()
    }

    /// Runs `body` after a time from now on, unless the run is over by then.
    private func plan(after delay: Duration, _ body: @escaping @Sendable (isolated Emulator) async -> Void) {
        guard devices.isRunning else { return }
        _ = link.enqueue(at: clock.now.advanced(by: delay), on: clock, body)
    }

    private func waitForPlanned() {
        planning?.cancel()
        guard let due = planned.next else { return }
        planning = link.enqueue(at: due, on: clock) { await $0.control.actions.carryOutPlanned() }
    }

    private func carryOutPlanned() async {
        while let next = planned.removeNext(at: clock.now) { await carryOut(next.action, on: next.target) }
        waitForPlanned()
    }

    /// Calls `move` after a time from now on with the address on the air of a peripheral that the profile of
    /// an app names.
    ///
    /// If no device was found for it by then, that is a warning.
    func find(
        _ peripheral: String, of label: String, after delay: Duration,
        _ move: @escaping @Sendable (DeviceAddress) -> Void
    ) {
        plan(after: delay) { emulator in
            guard let player = emulator.devices.player(called: label) else { return }
            guard let address = player.centrals.lazy.compactMap({ $0.devices.address(of: peripheral) }).first
            else {
                return player.events.warn(
                    "peripheralUnknown",
                    "\(label) has not found \(peripheral) yet; its range is unchanged")
            }
            // A bonded device is known by its identity address, and may use another on the air.
            move(await emulator.phone.addressOnAir(of: address))
        }
    }

    /// The run is over, and nothing is planned any more.
    func end() {
        planned.removeAll()
        planning?.cancel()
    }

    // MARK: Trouble

    private func warn(
        ifNotTurned isOn: Bool, _ turn: () async throws(RadioError) -> Void
    ) async {
        do throws(RadioError) {
            try await turn()
        } catch {
            guard devices.isRunning else { return }
            devices.events.warn("powerNotSet", "Bluetooth is not turned \(isOn ? "on" : "off"): \(error)")
        }
    }
}
