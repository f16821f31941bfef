import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Carries out the actions of the users of apps and their phone, at once or at a planned time.
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

    /// Carries out an action on apps, or on their phone.
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
            if let app = target.app(of: players) { notifications.show(text, of: app.memory.device.label) }
        default: for player in players { await AppUser(of: player).carryOut(action) }
        }
    }

    /// Carries out an action on the app that plays a device, or on its phone.
    ///
    /// For an accessory, the only possible actions are turning Bluetooth off or on, and deleting bonds.
    /// `peripheral` names the peripheral that the phone forgets, or that the app's user picks or removes.
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
        guard player.memory.device.app != nil else {
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

    /// Carries out an action on apps, or on their phone, after a delay.
    ///
    /// Actions for the same time are carried out in the order of the calls.
    func plan(_ action: UserAction, on target: AppTarget = .every, after delay: Duration) {
        guard devices.isRunning else { return }
        planned.add(action, on: target, due: clock.now.advanced(by: delay))
        waitForPlanned()
    }

    /// Runs `body` after a delay, unless the run ends before.
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

    /// Finds the device for a peripheral of an app's profile after a delay, and calls `move` to change its
    /// distance.
    ///
    /// The argument of `move` is the device's current address on the air. Warns if no device has been found
    /// for the peripheral by then.
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
            // A bonded device is stored with its identity address, and may use another one on the air.
            move(await emulator.phone.addressOnAir(of: address))
        }
    }

    /// Cancels all planned actions at the end of the run.
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
