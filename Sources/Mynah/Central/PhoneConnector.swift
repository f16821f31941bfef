import MynahCore
import MynahLifecycle

/// Has a phone's radio connect to the devices that managers wait for, when they are heard.
///
/// A driver of `LinkInitiator`. Belongs to a phone, and runs on the phone's executor.
final class PhoneConnector {
    /// The request that the radio has and has not answered.
    private struct Attempt {
        var number: UInt64
        var address: DeviceAddress
        var task: Task<Void, Never>
    }

    private var initiator = LinkInitiator()
    private var attempt: Attempt?
    /// The devices that are listened for, each with the address that the ledger knows it by.
    private var awaited: [DeviceAddress: DeviceAddress] = [:]
    /// The identity addresses of devices that are waited for by a resolvable private address, as far as the
    /// radio knows.
    private var identities: [DeviceAddress: DeviceAddress] = [:]

    // MARK: Requests

    /// These devices are waited for now.
    func listen(for addresses: [DeviceAddress], on phone: isolated Phone) {
        guard phone.central.radioState == .poweredOn else { return }
        if !identities.isEmpty { identities = identities.filter { addresses.contains($0.key) } }
        for address in addresses where address.isResolvable && identities[address] == nil {
            resolve(address, on: phone)
        }
        let listened = addresses.map { identities[$0] ?? $0 }
        awaited = Dictionary(zip(listened, addresses)) { first, _ in first }
        change(on: phone) { $0.want(listened, into: &$1) }
    }

    /// A bonded device is reported by its identity address, whichever private address it uses.
    private func resolve(_ address: DeviceAddress, on phone: isolated Phone) {
        identities[address] = address
        PhoneLink(phone).enqueue { phone in
            guard let identity = await phone.central.radio?.identity(of: address), identity != address,
                phone.central.connector.identities[address] == address
            else { return }
            phone.central.connector.identities[address] = identity
            phone.central.listen(on: phone)
        }
    }

    /// The radio is gone, and what it was asked for with it.
    func stop() {
        attempt?.task.cancel()
        attempt = nil
        initiator.reset()
        (awaited, identities) = ([:], [:])
    }

    // MARK: Events

    /// A device was heard.
    func heard(_ report: ScanReport, on phone: isolated Phone) {
        change(on: phone) { $0.heard(report, into: &$1) }
    }

    /// A link of either role began or ended.
    func linksChanged(on phone: isolated Phone) {
        let links = phone.central.connections.links
        let others = phone.centrals.all.filter { links[$0.id] == nil }
        change(on: phone) {
            $0.has(links: links.count + others.count, madeBy: others.compactMap(\.address), into: &$1)
        }
    }

    /// The phone uses a link as a central no more that the device made.
    func leave(_ link: Peer.ID, to address: DeviceAddress, on phone: isolated Phone) {
        phone.central.connections.links[link] = nil
        phone.central.linkEnded(link, to: address, on: phone)
        PhoneControl.ask(phone) { $0.leave(link) }
        phone.central.linksChanged(on: phone)
    }

    /// Returns the address that the ledger knows a new link's device by, or `nil` if nobody asked for it and
    /// it has none.
    func device(of peer: Peer, on phone: isolated Phone) -> DeviceAddress? {
        guard let address = peer.answers(attempt?.address) else { return nil }
        let device = awaited[address] ?? address
        if attempt?.address == address { attempt = nil }
        change(on: phone) { $0.connected(to: address, into: &$1) }
        return device
    }

    private func ended(_ number: UInt64, _ outcome: LinkInitiator.Outcome, on phone: isolated Phone) {
        if attempt?.number == number { attempt = nil }
        change(on: phone) { $0.ended(number, outcome, into: &$1) }
    }

    // MARK: The initiator

    private func change(
        on phone: isolated Phone, _ body: (inout LinkInitiator, inout [LinkInitiator.Action]) -> Void
    ) {
        var actions: [LinkInitiator.Action] = []
        body(&initiator, &actions)
        for action in actions { perform(action, on: phone) }
    }

    private func perform(_ action: LinkInitiator.Action, on phone: isolated Phone) {
        let central = phone.central
        switch action {
        case .initiate(let address, let number, let timeout):
            guard let radio = central.radio else { return }
            connect(number, address, timeout, radio, PhoneLink(phone))
        case .cancel(let number): if attempt?.number == number { attempt?.task.cancel() }
        case .listenAnew: central.scanner.listenAnew(on: phone)
        case .linksExhausted(let limit):
            let message =
                """
                the controller is at its limit of \(limit) connections; pending connections are made when \
                one of them ends
                """
            central.warn(RadioWarning("linksExhausted", message), on: phone)
        case .failed(let address, let error):
            let device = awaited[address] ?? address
            central.connections.change(on: phone) { $0.failed(device, error, into: &$1) }
        }
    }

    private func connect(
        _ number: UInt64, _ address: DeviceAddress, _ timeout: Duration, _ radio: any CentralRadio,
        _ link: PhoneLink
    ) {
        // It keeps the radio and not the phone, which may go meanwhile.
        let task = Task(executorPreference: radio.preferredExecutor) {
            let outcome: LinkInitiator.Outcome
            do throws(RadioError) {
                _ = try await radio.connect(address, timeout: timeout)
                outcome = .connected
            } catch {
                outcome = LinkInitiator.Outcome(error)
            }
            await link.perform { $0.central.connector.ended(number, outcome, on: $0) }
        }
        attempt = Attempt(number: number, address: address, task: task)
    }
}

extension LinkInitiator.Outcome {
    /// The outcome of an attempt that ended with a radio's error.
    init(_ error: RadioError) {
        switch error.code {
        // A pending connection does not fail because a link did not come about. A radio that is gone reports
        // that by itself.
        case .timedOut, .disconnected, .lost: self = .notReached
        case .connectionLimit: self = .noRoom
        default: self = .failed(error)
        }
    }
}

extension Peer {
    /// Returns the address that a new link is to, while a radio is asked for one to `asked`.
    ///
    /// Some radios report no address. One that is asked for a resolvable private address may report the
    /// identity address.
    func answers(_ asked: DeviceAddress?) -> DeviceAddress? {
        guard let address else { return asked }
        guard let asked, asked.isResolvable, !address.isResolvable else { return address }
        return asked
    }
}

extension DeviceAddress {
    /// `true` for a resolvable private address (Core Specification, Vol 6, Part B, 1.3.2.2).
    var isResolvable: Bool { kind == .random && value >> 46 & 0b11 == 0b01 }
}
