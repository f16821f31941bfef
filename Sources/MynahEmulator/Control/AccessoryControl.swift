import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// Picks and removes the accessories of apps that use AccessorySetupKit, as the phone's user would.
struct AccessoryControl {
    let devices: PlayedDevices
    let phone: Phone
    let link: EmulatorLink

    /// Picks an accessory for an app or, if `isWanted` is `false`, removes it, as the user would.
    ///
    /// `name` is the name of a peripheral in the app's profile, and may be `nil` if there is only one. To
    /// pick, the picker is shown, and the result is the event `accessory.added` or a warning. A removal takes
    /// effect at once, and deletes the phone's bond.
    func set(
        _ isWanted: Bool, peripheral name: String? = nil, in label: String
    ) async throws(ControlRefusal) {
        let player = try devices.player(named: label)
        guard let app = player.memory.device.app else {
            throw .conflict("\(label) is an accessory: no app plays it")
        }
        guard !player.memory.device.centrals.isEmpty else {
            throw .conflict("\(label) is no central, so it has no accessories: its profile has no central:")
        }
        guard !app.accessorySetup.isEmpty, let access = player.memory.appSide.app?.access else {
            throw .conflict(
                "\(label) does not use AccessorySetupKit: that needs app.accessorySetup, and iOS: 18 or later"
            )
        }
        let names = player.memory.device.centrals.flatMap(\.peripherals).map(\.name)
        guard let name = name ?? (names.count == 1 ? names[0] : nil) else {
            throw .invalid("\(label) has \(names.count) peripherals: name one")
        }
        guard let central = player.centrals.first(where: { $0.devices.entry(named: name) != nil }) else {
            throw .unknown("peripheral", name, of: label, among: names)
        }
        guard isWanted else { return try await remove(name, of: central, access) }
        if let device = central.devices.device(of: name), access.accessories.contains(device) {
            throw .conflict("\(name) is an accessory of \(label) already; remove it first (removeAccessory)")
        }
        guard await phone.radioState == .poweredOn else {
            throw .conflict("Bluetooth is not on, and the picker needs it: turn it on first (poweredOn)")
        }
        try await pick(name, for: central, of: player, app.accessorySetup, access)
    }

    /// Picks or, if `isWanted` is `false`, removes an accessory as planned by `--at`; warns if that is not
    /// possible.
    func set(_ isWanted: Bool, _ target: AppTarget) async {
        let apps: [(label: String, name: String?)] =
            switch target {
            case .peripheral(let name, let label): [(label, name)]
            case .named(let label), .phone(let label): [(label, nil)]
            case .lastInFront, .every:
                devices.players.filter { $0.memory.device.app?.accessorySetup.isEmpty == false }.map {
                    ($0.memory.device.label, nil)
                }
            }
        if apps.isEmpty { warnOfAccessory(isWanted, "no app of the run uses AccessorySetupKit") }
        for app in apps {
            do throws(ControlRefusal) {
                try await set(isWanted, peripheral: app.name, in: app.label)
            } catch {
                guard devices.isRunning else { return }
                warnOfAccessory(isWanted, error.message)
            }
        }
    }

    private func warnOfAccessory(_ isWanted: Bool, _ message: String) {
        devices.events.warn(isWanted ? "accessoryNotAdded" : "accessoryNotRemoved", message)
    }

    // MARK: The picker

    private func pick(
        _ name: String, for central: CentralPlayer, of player: DevicePlayer,
        _ descriptors: [Profile.App.AccessoryDescriptor],
        _ access: AppAccess
    ) async throws(ControlRefusal) {
        guard let match = central.devices.entry(named: name)?.match else { return }
        let (index, number) = (player.link.index, central.number)
        let link = link
        try await ControlRefusal.attempt { () async throws(RadioError) in
            try access.pickAccessory { advertisement in
                descriptors.contains { $0.matches(advertisement) } && match.isOf(advertisement)
            } then: { pick in
                link.run { $0.control.accessories.picked(pick, name, for: $0.central(index, number)) }
            }
        }
    }

    /// Handles the result of the picker.
    private func picked(_ pick: AccessoryPick, _ name: String, for central: CentralPlayer?) {
        guard devices.isRunning, let central else { return }
        guard case .picked(let device, let address, let called) = pick else {
            let problem = pick.problem(of: central.memory.device.label, name)
            return central.memory.events.warn("accessoryNotAdded", problem)
        }
        central.picked(device, at: address, for: name, called: called)
        central.memory.appSide.app?.access.add(accessory: device, at: address)
    }

    // MARK: Removal

    private func remove(
        _ name: String, of central: CentralPlayer, _ access: AppAccess
    ) async throws(ControlRefusal) {
        guard let device = central.devices.device(of: name), access.accessories.contains(device) else {
            throw .conflict("\(name) is no accessory of \(central.memory.device.label)")
        }
        let address = central.devices.address(of: name) ?? access.address(ofAccessory: device)
        if let address {
            _ = await PhoneControl.forgetBond(ofPeripheralAt: address, on: phone)
        }
        // The accessory may have been removed in the meantime.
        guard access.accessories.contains(device) else { return }
        central.remove(device, for: name, at: address)
    }

    /// Removes all accessories of an app for a reset; bonds are reset separately.
    func removeAll(of player: DevicePlayer) {
        guard let access = player.memory.appSide.app?.access else { return }
        for device in access.accessories {
            for central in player.centrals {
                guard let name = central.devices.name(of: device) else { continue }
                central.remove(device, for: name, at: access.address(ofAccessory: device))
            }
            _ = access.remove(accessory: device)
        }
    }
}

extension Profile.Central.Match {
    /// Whether the picker selects a device with this advertisement; the picker ignores the RSSI.
    fileprivate func isOf(_ advertisement: AdvertisementData) -> Bool {
        services.allSatisfy(advertisement.serviceUUIDs.contains)
            && (localName == nil || localName == advertisement.localName)
    }
}

extension AccessoryPick {
    /// The message that explains why the picker added no accessory for a peripheral of an app.
    fileprivate func problem(of label: String, _ peripheral: String) -> String {
        switch self {
        case .picked: ""
        case .notFound:
            """
            the picker has found no device in 30 s that matches the peripheral \(peripheral) and a \
            descriptor of accessorySetup
            """
        case .poweredOff: "Bluetooth was turned off while the picker was shown"
        case .ended: "\(label) has ended, and the picker that it showed with it"
        }
    }
}
