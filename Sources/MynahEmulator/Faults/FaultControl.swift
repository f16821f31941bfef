import Mynah
import MynahCore
import MynahFaults
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// The faults of devices, which a `FaultyRadio` applies to the radio that it wraps.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class FaultControl {
    private let devices: PlayedDevices
    private let phone: Phone
    /// The `FaultyRadio` that wraps the radio, or `nil` if there is none.
    private let faultyRadio: FaultyRadio?
    private var faultOwners = FaultOwners()

    init(of devices: PlayedDevices, on phone: Phone, _ faultyRadio: FaultyRadio?) {
        self.devices = devices
        self.phone = phone
        self.faultyRadio = faultyRadio
    }

    /// Wraps a radio in a `FaultyRadio`, or returns `nil` if the devices have no faults and tests cannot add
    /// any.
    static func layer(
        around radio: any PeripheralRadio, _ devices: [EmulatedDevice], _ clock: RunClock,
        _ link: EmulatorLink
    ) -> FaultyRadio? {
        let isNeeded = devices.contains { !$0.faults.isEmpty || $0.requestNumbers != nil }
        guard isNeeded, let radio = radio as? any VanishingRadio else { return nil }
        return FaultyRadio(
            radio, seed: devices[0].seed, clock: clock,
            owner: FaultyRadioOwner(
                holds: { condition, fault in
                    link.run { $0.control.faults.holds(condition, of: fault) } ?? false
                },
                applied: { firing in link.run { $0.control.faults.report(firing) } }))
    }

    /// Adds the faults of a device to the radio.
    func add(of device: EmulatedDevice) async throws(RadioError) {
        guard let faultyRadio else {
            guard device.faults.isEmpty else {
                throw RadioError(.unsupported, "this radio does not support faults; remove faults")
            }
            return
        }
        for declared in device.faults {
            let fault = faultOwners.add(device.fault(declared), of: device.label)
            do throws(RadioError) {
                try await faultyRadio.add(fault)
            } catch {
                faultOwners.remove([fault.name], of: device.label)
                throw error
            }
        }
    }

    /// Replaces the keys of attributes in a device's faults by the keys that the attributes have now.
    func rekey(_ mapping: [AttributeKey: AttributeKey]) async {
        await faultyRadio?.rekey(mapping)
    }

    /// Removes the faults of a device from the radio.
    func removeAll(of label: String) async {
        guard let faultyRadio else { return }
        let names = faultOwners.radioNames(of: label)
        for name in names { await faultyRadio.remove(name) }
        faultOwners.remove(names, of: label)
    }

    /// Waits until every device that disappeared because of a fault is on the air again.
    func settle() async { await faultyRadio?.settle() }

    /// Resets the count of connections to zero.
    func countConnectionsAnew() async { await faultyRadio?.countConnectionsAnew() }

    /// Updates the list of connected centrals, whose names appear in reports of faults.
    func note(_ event: PhoneEvent) {
        if faultyRadio != nil { faultOwners.note(event) }
    }

    // MARK: A test's requests

    /// Returns the faults of a device: those of its profile, then those added by tests, each in order.
    func faults(of label: String) async throws(ControlRefusal) -> [DeviceFault] {
        await faults(of: try devices.player(named: label))
    }

    func faults(of player: DevicePlayer) async -> [DeviceFault] {
        let entries =
            await faultyRadio?.faults(named: faultOwners.radioNames(of: player.memory.device.label)) ?? []
        return entries.compactMap(fault)
    }

    private func fault(_ entry: FaultRules.Entry) -> DeviceFault? {
        faultOwners[entry.fault.name].map {
            DeviceFault(name: $0.name, isOff: !entry.isOn, applied: entry.timesApplied)
        }
    }

    /// Adds a fault, written as in a profile.
    ///
    /// Throws `invalid` with a line for each mistake. Throws `conflict` if the radio cannot apply the fault,
    /// if the device already has a fault with this name, or if it has as many faults as a profile may have.
    func add(_ json: JSON, to label: String) async throws(ControlRefusal) -> DeviceFault {
        let player = try devices.player(named: label)
        let declared: ProfileFault
        do throws(ProfileIssues) {
            declared = try ProfileLoader.fault(json, name: "fault", in: player.memory.device.faultScope)
        } catch {
            let messages = error.issues.filter { $0.severity == .error }.map(\.message)
            throw .invalid(messages.isEmpty ? "the fault cannot be read" : messages.joined(separator: "\n"))
        }
        let name = declared.fault.name
        guard faultOwners.radioName(of: name, of: label) == nil else {
            throw .conflict("there is a fault \"\(name)\" already; remove it first")
        }
        let limit = ProfileLimit.faults.count
        guard faultOwners.radioNames(of: label).count < limit else {
            throw .conflict("\(label) has \(limit) faults, the most that a device can have; remove one first")
        }
        guard let faultyRadio else { throw .conflict("this radio does not support faults") }
        if let shortcoming = await phone.capabilities?.shortcoming(
            of: declared.fault, properties: declared.properties, with: faultyRadio.support)
        {
            throw .conflict("the fault \"\(name)\": \(shortcoming)")
        }
        let fault = faultOwners.add(player.memory.device.fault(declared), of: label)
        do throws(RadioError) {
            try await faultyRadio.add(fault)
        } catch {
            faultOwners.remove([fault.name], of: label)
            throw ControlRefusal(error)
        }
        return DeviceFault(name: name, isOff: fault.isOff, applied: 0)
    }

    /// Turns a fault of a device on or off.
    ///
    /// Turning a fault on resets its counter to zero.
    func turn(
        _ name: String, isOn: Bool, of label: String
    ) async throws(ControlRefusal) -> DeviceFault {
        let (radio, radioName) = try await fault(name, of: label)
        try await ControlRefusal.attempt { () async throws(RadioError) in
            _ = try await radio.turn(radioName, isOn: isOn)
        }
        guard let found = await radio.faults(named: [radioName]).first.flatMap(fault) else {
            throw .notFound("the fault \"\(name)\" was removed")
        }
        return found
    }

    /// Removes a fault of a device, and ends its effect; a reset restores a fault of the profile.
    func remove(_ name: String, of label: String) async throws(ControlRefusal) {
        let (radio, radioName) = try await fault(name, of: label)
        await radio.remove(radioName)
        faultOwners.remove([radioName], of: label)
    }

    /// Returns the `FaultyRadio`, and the name of a device's fault on it.
    private func fault(
        _ name: String, of label: String
    ) async throws(ControlRefusal) -> (radio: FaultyRadio, radioName: String) {
        let player = try devices.player(named: label)
        if let faultyRadio, let radioName = faultOwners.radioName(of: name, of: label) {
            return (faultyRadio, radioName)
        }
        throw .unknown("fault", name, of: label, among: await faults(of: player).map(\.name))
    }

    // MARK: The layer

    private func holds(_ condition: FaultCondition, of fault: String) -> Bool {
        guard let owner = faultOwners[fault],
            let player = devices.player(called: owner.label)
        else { return false }
        return Self.holds(condition, for: player)
    }

    private static func holds(_ condition: FaultCondition, for player: DevicePlayer) -> Bool {
        switch condition {
        case .appState(let state): PlayedState(of: player).app.rawValue == state
        case .variable(let name, let comparison, let constant):
            VariableCondition(name, comparison, constant).holds(player.memory.table.variables)
        case .all(let conditions): conditions.allSatisfy { holds($0, for: player) }
        }
    }

    private func report(_ firing: FaultFiring) {
        guard let owner = faultOwners[firing.fault],
            let player = devices.player(called: owner.label)
        else { return }
        let central = firing.central.flatMap(faultOwners.central)
        player.events.report(
            .faultApplied,
            .fault(
                .init(owner.name, on: firing.trigger.rawValue, by: central.map { EventCentral($0) })))
    }
}
