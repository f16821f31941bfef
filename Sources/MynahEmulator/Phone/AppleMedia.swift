import MynahCore
import MynahProfiles

/// The Apple Media Service of a phone: a state machine without I/O (AMS Specification).
struct AppleMedia: ServiceBehavior {
    static let service = AppleServices.media
    static let remoteCommand: BluetoothUUID = "9B3C81D8-57B1-4A8A-B8DF-0E56F7CA51C2"
    static let entityUpdate: BluetoothUUID = "2F7CABCE-808D-411F-9A0C-BB92BA96C102"
    static let entityAttribute: BluetoothUUID = "C6B2F38C-23AB-46D8-A6AB-A3A870BBD5D7"

    /// The EntityUpdateFlags bit for a truncated value.
    private static let truncated: UInt8 = 1 << 0

    /// The attributes that a central has registered for or selected.
    private struct Client {
        var wanted: [MediaPlayer.Attribute] = []
        /// The attribute that the central has selected to read, or `nil` if there is none.
        var selected: MediaPlayer.Attribute?
    }

    let handled = [remoteCommand, entityUpdate, entityAttribute]
    let sent = [remoteCommand, entityUpdate]
    private let media: Profile.PhoneMedia?
    private(set) var player: MediaPlayer
    private var clients: [Peer.ID: Client] = [:]

    init(_ media: Profile.PhoneMedia?) {
        self.media = media
        player = MediaPlayer(media)
    }

    /// Resets the player to its initial state.
    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        let first = MediaPlayer(media, at: service.now)
        return changing(service) { $0 = first }
    }

    mutating func disconnected(_ central: Peer.ID) {
        clients[central] = nil
    }

    /// Sends the supported commands to a new subscriber of the Remote Command characteristic.
    mutating func subscribed(
        _ central: Peer.ID?, to characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard let central, characteristic == Self.remoteCommand else { return [] }
        return [.send(player.commands.map(\.rawValue), of: Self.remoteCommand, to: central)]
    }

    mutating func unsubscribed(_ central: Peer.ID?, from characteristic: BluetoothUUID) {
        if let central, characteristic == Self.entityUpdate { clients[central] = nil }
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        switch characteristic {
        case Self.remoteCommand: return try perform(value, service)
        case Self.entityUpdate: return try want(value, central, service)
        default:
            try select(value, central, service)
            return []
        }
    }

    /// Carries out a write to the Remote Command characteristic.
    ///
    /// An unsupported command gets the error for an invalid command, which is an assumption.
    private mutating func perform(
        _ value: [UInt8], _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard value.count == 1, let command = MediaPlayer.Command(rawValue: value[0]),
            player.commands.contains(command)
        else { throw .amsInvalidCommand }
        return changing(service) { _ = $0.perform(command, at: service.now) }
    }

    /// Changes the state of the player, and returns the notifications of the changed attributes.
    private mutating func changing(
        _ service: some ServiceState, _ change: (inout MediaPlayer) -> Void
    ) -> [ServiceEffect] {
        let before = player
        change(&player)
        let changed = MediaPlayer.Attribute.allCases.filter {
            before.state(of: $0) != player.state(of: $0)
        }
        guard !changed.isEmpty else { return [] }
        return clients.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { central, client in
            changed.filter(client.wanted.contains).map { update($0, for: central, service) }
        }
    }

    private mutating func want(
        _ value: [UInt8], _ central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard service.isSubscribed(central, to: Self.entityUpdate) else { throw .amsInvalidState }
        guard let entity = value.first, MediaPlayer.entities.contains(entity) else {
            throw .amsInvalidCommand
        }
        var wanted: [MediaPlayer.Attribute] = []
        for code in value.dropFirst() {
            guard let attribute = MediaPlayer.Attribute(entity: entity, attribute: code) else {
                throw .amsInvalidCommand
            }
            if !wanted.contains(attribute) { wanted.append(attribute) }
        }
        var client = clients[central] ?? Client()
        client.wanted.removeAll { $0.codes.entity == entity }
        client.wanted += wanted
        clients[central] = client
        return wanted.map { update($0, for: central, service) }
    }

    /// Makes an Entity Update notification for a central.
    private func update(
        _ attribute: MediaPlayer.Attribute, for central: Peer.ID, _ service: some ServiceState
    ) -> ServiceEffect {
        let text = player.value(of: attribute, at: service.now)
        let value = [UInt8](text, longest: service.longestUpdate(to: central) - 3)
        let flags = value.count < text.utf8.count ? Self.truncated : 0
        return .send(
            [attribute.codes.entity, attribute.codes.attribute, flags] + value, of: Self.entityUpdate,
            to: central)
    }

    private mutating func select(
        _ value: [UInt8], _ central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) {
        guard service.isSubscribed(central, to: Self.entityUpdate) else { throw .amsInvalidState }
        guard value.count == 2,
            let attribute = MediaPlayer.Attribute(entity: value[0], attribute: value[1])
        else { throw .amsInvalidCommand }
        guard !player.value(of: attribute, at: service.now).isEmpty else { throw .amsAbsentAttribute }
        clients[central, default: Client()].selected = attribute
    }

    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]? {
        guard characteristic == Self.entityAttribute else { return nil }
        guard let attribute = clients[central]?.selected else { throw .amsInvalidState }
        let value = player.value(of: attribute, at: service.now)
        guard !value.isEmpty else { throw .amsAbsentAttribute }
        return [UInt8](value, longest: GATT.maximumValueLength)
    }
}

extension ATTError {
    /// The error codes of AMS.
    static let amsInvalidState = ATTError(code: 0xA0)
    static let amsInvalidCommand = ATTError(code: 0xA1)
    static let amsAbsentAttribute = ATTError(code: 0xA2)
}
