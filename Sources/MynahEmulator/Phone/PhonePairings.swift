import Mynah
import MynahCore
import MynahProfiles

/// The phone's pairings, which its user accepts, declines, or completes with a passkey.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class PhonePairings {
    private let devices: PlayedDevices
    private let phone: Phone
    private let passkey: PasskeyEntry
    private let questions = PairingDialogs()
    /// The peripheral whose pairing last asked for a passkey.
    private var asking: (address: DeviceAddress, link: Peer.ID)?

    init(of devices: PlayedDevices, on phone: Phone, _ passkey: PasskeyEntry) {
        self.devices = devices
        self.phone = phone
        self.passkey = passkey
    }

    // MARK: Steps

    /// Returns the answer to a step of the pairing with a central.
    func answer(_ step: PairingStep, to central: Central) -> RadioAnswer {
        answer(step, of: central.id, .init(EventCentral(central), .init(), step))
    }

    /// Returns the answer to a step of the pairing with a peripheral.
    func answer(_ step: PairingStep, to peer: Peer) -> RadioAnswer {
        let device = peer.address.map { devices.eventPeripheral(at: $0) } ?? .init()
        asking = peer.address.map { ($0, peer.id) }
        return answer(step, of: peer.id, .init(nil, device, step))
    }

    private func answer(
        _ step: PairingStep, of peer: Peer.ID, _ pairing: EventPayload.Pairing
    ) -> RadioAnswer {
        let known = devices.passkey
        let answer: RadioAnswer =
            switch step {
            case .display: .none
            case .compare, .agree: agree(peer, pairing)
            // The wait begins before the event is reported, because the passkey may be entered at once.
            case .enter: known.map { .pairing(.passkey($0)) } ?? .pairingLater(passkey.ask(for: peer))
            }
        if step != .agree {
            var pairing = pairing
            pairing.isEntered = step == .enter ? known != nil : nil
            devices.events.report(.pairingPasskey, .pairing(pairing))
        }
        return answer
    }

    /// Returns the answer of the phone's user to a pairing.
    ///
    /// The answer is set by the profile of the app that uses the peripheral. If a central pairs, it is that
    /// of the app that was last in the foreground.
    private func agree(_ peer: Peer.ID, _ pairing: EventPayload.Pairing) -> RadioAnswer {
        let address = pairing.peripheral.address
        let user = devices.players.first { player in
            address.map { at in player.centrals.contains { $0.devices.peripheral(at: at) != nil } } ?? false
        }
        guard let asked = user ?? devices.last ?? devices.players.first,
            let app = asked.memory.device.app
        else { return .pairing(.agreed) }
        switch app.pairing {
        case .accept: return .pairing(.agreed)
        case .decline: return .pairing(.declined)
        case .ask where questions.hasAccepted(peer): return .pairing(.agreed)
        case .ask:
            var link = EventPayload.PeripheralLink(pairing.peripheral, app: asked.memory.device.label)
            link.central = pairing.central
            let isInFront = asked.memory.appSide.app?.access.state == .foreground
            return .pairingLater(questions.ask(peer, link, isInFront: isInFront, devices.events))
        }
    }

    // MARK: Ends

    /// Stops waiting for the passkey of a central that has paired.
    func paired(_ central: Central) { passkey.end(for: central.id) }

    /// Removes the pairing questions (`PairingDialogs`) about a central whose link has ended.
    func disconnected(_ central: Central) { end(for: central.id) }

    /// Removes the pairing questions (`PairingDialogs`) about a peripheral whose link has ended.
    func linkEnded(to address: DeviceAddress) {
        if let asking, asking.address == address { end(for: asking.link) }
    }

    private func end(for peer: Peer.ID) {
        passkey.end(for: peer)
        questions.end(for: peer, devices.events)
    }

    /// Declines all pairings that wait for the user's answer, at the end of the run.
    func end() {
        passkey.end()
        questions.end()
    }

    // MARK: The user

    /// Opens the newest pairing notification; returns `false` if there is none, or if a dialog is on top of
    /// it.
    func open() -> Bool { questions.open(devices.events) }

    /// Dismisses the newest pairing dialog or notification, which declines the pairing.
    ///
    /// Returns `false` if there is none.
    func dismiss() -> Bool { questions.dismiss(devices.events) }

    /// Answers the newest pairing dialog or notification; returns `false` if there is none.
    func answer(agrees: Bool) -> Bool { questions.answer(agrees: agrees, devices.events) }

    /// Enters the passkey that the pairing with a peer asks for.
    func enter(
        passkey number: UInt32, for peer: String, in label: String
    ) async throws(ControlRefusal) {
        _ = try devices.player(named: label)
        guard number <= 999_999 else { throw .invalid("a passkey has six digits at most") }
        guard let asked = passkey.peer else { throw .conflict("no pairing asks for a passkey") }
        let name: String
        if let asking, asking.link == asked {
            name = asking.address.description
        } else {
            name = EventCentral(await phone.central(asked)).description
        }
        guard name.isCalled(peer) else {
            throw .conflict("the pairing that asks for a passkey is with \(name), not with \(peer)")
        }
        guard passkey.enter(number, for: asked) else { throw .conflict("no pairing asks for a passkey") }
    }
}
