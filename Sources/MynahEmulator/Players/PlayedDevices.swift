import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// The devices that an emulator plays, their players, and how far the run is.
///
/// Belongs to its emulator, and runs on the phone's executor. The rooms of the emulator share it.
final class PlayedDevices {
    private var devices: [EmulatedDevice]
    private let ownDevice: EmulatedDevice?
    private let phone: Phone
    private let clock: RunClock
    private let link: EmulatorLink
    private let faulted: Lock<[DeliveredValue]>?
    /// Reports the events of the phone, which name all of its devices.
    private(set) var events: EventReporter
    /// The number of devices so far.
    private var count = 0
    private(set) var players: [DevicePlayer] = []
    /// The player of what the phone has in its GATT server by itself, or `nil` if that is nothing.
    private(set) var own: DevicePlayer?
    /// The number of the app that was on the screen last.
    var lastInFront: Int?
    var stage = RunStage.idle

    /// `own` is what the phone of apps has in its GATT server by itself, and `faulted` what the radio's layer
    /// of faults made of the value that was sent last.
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

    /// Whether the run is under way.
    var isRunning: Bool { stage == .running }

    /// `true` if the run has not started, or is starting.
    var isStarting: Bool { stage == .idle || stage == .starting }

    /// The names of the devices in events.
    var labels: [String] { devices.map(\.label) }

    /// The names of the devices for people.
    var names: [String] { devices.map(\.name) }

    /// The first device, whose phone has its name and settings.
    var first: EmulatedDevice? { devices.first }

    /// The first of the passkeys that the devices know.
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

    /// A player of one more app; events of the phone name all its apps from now on.
    func join(_ device: EmulatedDevice) -> DevicePlayer {
        devices.append(device)
        let player = makePlayer(device, label: device.label)
        players.append(player)
        events.device = labels.joined(separator: ", ")
        return player
    }

    /// A player has stopped, and its device is forgotten.
    func leave(_ player: DevicePlayer) {
        devices.removeAll { $0.label == player.device.label }
        players.removeAll { $0 === player }
        events.device = labels.joined(separator: ", ")
    }

    /// The radio does not play what the phone has by itself.
    func removeOwn() { own = nil }

    /// The run is over.
    func removeAll() {
        players = []
        own = nil
    }

    // MARK: Finding one

    /// Returns the player with this number, or `nil` after its end.
    ///
    /// Every request asks. Numbers ascend, so a player is at the place of its number, or before it if others
    /// have left.
    func player(_ index: Int) -> DevicePlayer? {
        if let own, own.link.index == index { return own }
        var place = min(index, players.count - 1)
        while place >= 0, players[place].link.index != index { place -= 1 }
        return place < 0 ? nil : players[place]
    }

    /// The player of a device, by its name in events; `nil` if there is none.
    func player(called label: String) -> DevicePlayer? { players.first { $0.device.label == label } }

    /// The player of a device; throws unless the run is under way.
    func player(named label: String) throws(ControlRefusal) -> DevicePlayer {
        guard isRunning else { throw .conflict("the run of \(label) is not under way") }
        if let player = player(called: label) { return player }
        throw .notFound("there is no device \"\(label)\"; the devices are \(labels.quoted)")
    }

    func player(with attribute: AttributeKey) -> DevicePlayer? {
        players.first { $0.table.contains(attribute) } ?? own
    }

    /// The player of the app that was on the screen last, or `nil` if there was none.
    var last: DevicePlayer? { lastInFront.flatMap { player($0) } }

    /// The players of the apps to which an action is done.
    func players(for action: UserAction, _ target: AppTarget) -> [DevicePlayer] {
        if case .phone = target { return concerns(target) ? players(for: action, .every) : [] }
        let last = (last ?? players.first).map { [$0] } ?? []
        return switch (target, action) {
        case (.named(let label), _): players.filter { $0.device.label == label }
        case (.peripheral, _), (.phone, _): []
        case (.lastInFront, _), (.every, .transition(.enterForeground)): last
        case (.every, _): action.isOnScreen ? last : players
        }
    }

    /// Returns whether the emulator plays the device.
    func concerns(_ target: AppTarget) -> Bool {
        switch target {
        case .named(let label), .phone(let label), .peripheral(_, let label): player(called: label) != nil
        case .lastInFront, .every: true
        }
    }

    /// A device that an app of the phone is connected to, as events have it.
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
