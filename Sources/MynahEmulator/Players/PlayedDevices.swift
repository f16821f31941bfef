import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// The devices that an emulator plays, with their players, and the stage of the run.
///
/// All parts of the emulator share this object. It belongs to the emulator, and is used on the phone's
/// executor.
final class PlayedDevices {
    private var devices: [EmulatedDevice]
    private let ownDevice: EmulatedDevice?
    private let phone: Phone
    private let clock: RunClock
    private let link: EmulatorLink
    private let faulted: Lock<[DeliveredValue]>?
    /// The reporter of the phone's events, which contain the names of all its devices.
    private(set) var events: EventReporter
    /// The number of devices added so far.
    private var count = 0
    private(set) var players: [DevicePlayer] = []
    /// The player of the phone's own services, or `nil` if it has none.
    private(set) var own: DevicePlayer?
    /// The index of the player whose app was last in the foreground, or `nil` if none was.
    var lastInFront: Int?
    var stage = RunStage.idle

    /// Makes the players.
    ///
    /// `own` has the phone's own services. If a fault changes a sent value, `faulted` receives the changed
    /// value.
    init(
        _ devices: [EmulatedDevice], own: EmulatedDevice?, on phone: Phone, clock: RunClock,
        events: EventReporter, link: EmulatorLink, faulted: Lock<[DeliveredValue]>?
    ) {
        self.devices = devices
        ownDevice = own
        self.phone = phone
        self.clock = clock
        self.events = events
        self.link = link
        self.faulted = faulted
    }

    /// Whether the run has started and is not over.
    var isRunning: Bool { stage == .running }

    /// `true` if the run has not started, or is starting.
    var isStarting: Bool { stage == .idle || stage == .starting }

    /// The names of the devices in events.
    var labels: [String] { devices.map(\.label) }

    /// The names of the devices in messages.
    var names: [String] { devices.map(\.name) }

    /// The first device, which determines the phone's name and settings.
    var first: EmulatedDevice? { devices.first }

    /// The first passkey in the devices' profiles, or `nil` if there is none.
    var passkey: UInt32? { devices.lazy.compactMap(\.passkey).first }

    // MARK: Coming and going

    func makePlayers() {
        players = devices.map { makePlayer($0, label: devices.count > 1 ? $0.label : nil) }
        own = ownDevice.map { makePlayer($0, label: $0.label) }
    }

    private func makePlayer(_ device: EmulatedDevice, label: String?) -> DevicePlayer {
        var events = events
        events.device = label
        defer { count += 1 }
        return DevicePlayer(
            device, on: phone, clock: clock, events: events, link: PlayerLink(link, count), faulted: faulted)
    }

    /// Adds a device and its player; later events of the phone also name this device.
    func join(_ device: EmulatedDevice) -> DevicePlayer {
        devices.append(device)
        let player = makePlayer(device, label: device.label)
        players.append(player)
        events.device = labels.joined(separator: ", ")
        return player
    }

    /// Removes a stopped player and its device.
    func leave(_ player: DevicePlayer) {
        devices.removeAll { $0.label == player.memory.device.label }
        players.removeAll { $0 === player }
        events.device = labels.joined(separator: ", ")
    }

    /// Removes the player of the phone's own services, which the radio does not support.
    func removeOwn() { own = nil }

    /// Removes all players at the end of the run.
    func removeAll() {
        players = []
        own = nil
    }

    // MARK: Finding one

    /// Returns the player with this index (`PlayerLink.index`), or `nil` if the player was removed.
    func player(_ index: Int) -> DevicePlayer? {
        if let own, own.link.index == index { return own }
        var place = min(index, players.count - 1)
        while place >= 0, players[place].link.index != index { place -= 1 }
        return place < 0 ? nil : players[place]
    }

    /// Returns the player of the device with this event name, or `nil` if there is none.
    func player(called label: String) -> DevicePlayer? { players.first { $0.memory.device.label == label } }

    /// Returns the player of a device; throws if there is no such device, or if the run is not in progress.
    func player(named label: String) throws(ControlRefusal) -> DevicePlayer {
        guard isRunning else { throw .conflict("the run of \(label) is not under way") }
        if let player = player(called: label) { return player }
        throw .notFound("there is no device \"\(label)\"; the devices are \(labels.quoted)")
    }

    func player(with attribute: AttributeKey) -> DevicePlayer? {
        players.first { $0.memory.table.contains(attribute) } ?? own
    }

    /// The player of the app that was last in the foreground, or `nil` if none was.
    var last: DevicePlayer? { lastInFront.flatMap { player($0) } }

    /// Returns the players of the apps on which an action is carried out.
    func players(for action: UserAction, _ target: AppTarget) -> [DevicePlayer] {
        if case .phone = target { return concerns(target) ? players(for: action, .every) : [] }
        let last = (last ?? players.first).map { [$0] } ?? []
        return switch (target, action) {
        case (.named(let label), _): players.filter { $0.memory.device.label == label }
        case (.peripheral, _), (.phone, _): []
        case (.lastInFront, _), (.every, .transition(.enterForeground)): last
        case (.every, _): action.isOnScreen ? last : players
        }
    }

    /// Whether the app that the target names is in this emulator; `true` for targets without a name.
    func concerns(_ target: AppTarget) -> Bool {
        switch target {
        case .named(let label), .phone(let label), .peripheral(_, let label): player(called: label) != nil
        case .lastInFront, .every: true
        }
    }

    /// Returns the peripheral at an address as events describe it.
    func eventPeripheral(at address: DeviceAddress) -> EventPeripheral {
        for player in players {
            for central in player.centrals {
                guard let known = central.devices.peripheral(at: address) else { continue }
                return central.devices.eventPeripheral(known)
            }
        }
        return EventPeripheral(address: address)
    }
}
