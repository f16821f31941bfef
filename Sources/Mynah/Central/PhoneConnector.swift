import MynahCore
import MynahLifecycle

/// Has a phone's radio connect to the devices that managers wait for, when they are heard.
///
/// Drives `LinkInitiator`, and returns what that asks for. Belongs to a phone, and runs on the phone's
/// executor.
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
    private let radio: (any CentralRadio)?
    private let centrals: CentralTable
    private let memory: CentralMemory
    private let work: PhoneWork

    init(_ radio: (any CentralRadio)?, _ common: PhoneCommon) {
        self.radio = radio
        (centrals, memory, work) = (common.memory.centrals, common.central, common.work)
    }

    // MARK: Requests

    /// These devices are waited for now.
    func listen(for addresses: [DeviceAddress]) -> [LinkInitiator.Action] {
        guard memory.radioState == .poweredOn else { return [] }
        if !identities.isEmpty { identities = identities.filter { addresses.contains($0.key) } }
        for address in addresses where address.isResolvable && identities[address] == nil {
            // A bonded device is reported by its identity address, whichever private address it uses.
            identities[address] = address
            work.start(.resolve(address))
        }
        let listened = addresses.map { identities[$0] ?? $0 }
        awaited = Dictionary(zip(listened, addresses)) { first, _ in first }
        return change { $0.want(listened, into: &$1) }
    }

    /// The radio knows the identity address of a device; returns whether that is new, and another address.
    func resolved(_ address: DeviceAddress, _ identity: DeviceAddress) -> Bool {
        guard identity != address, identities[address] == address else { return false }
        identities[address] = identity
        return true
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
    func heard(_ report: ScanReport) -> [LinkInitiator.Action] {
        change { $0.heard(report, into: &$1) }
    }

    /// A link of either role began or ended.
    func linksChanged() -> [LinkInitiator.Action] {
        let links = memory.links
        let others = centrals.all.filter { links[$0.id] == nil }
        return change {
            $0.has(links: links.count + others.count, madeBy: others.compactMap(\.address), into: &$1)
        }
    }

    /// A link began.
    ///
    /// Returns the address that the ledger knows its device by, or `nil` if nobody asked for it and it has
    /// none.
    func device(of peer: Peer) -> (address: DeviceAddress, [LinkInitiator.Action])? {
        guard let address = peer.answers(attempt?.address) else { return nil }
        let device = device(at: address)
        if attempt?.address == address { attempt = nil }
        return (device, change { $0.connected(to: address, into: &$1) })
    }

    /// The address that the ledger knows a device by.
    func device(at address: DeviceAddress) -> DeviceAddress { awaited[address] ?? address }

    /// An attempt has ended.
    func ended(_ number: UInt64, _ outcome: LinkInitiator.Outcome) -> [LinkInitiator.Action] {
        if attempt?.number == number { attempt = nil }
        return change { $0.ended(number, outcome, into: &$1) }
    }

    // MARK: The initiator

    private func change(
        _ body: (inout LinkInitiator, inout [LinkInitiator.Action]) -> Void
    ) -> [LinkInitiator.Action] {
        var actions: [LinkInitiator.Action] = []
        body(&initiator, &actions)
        return actions
    }

    /// Asks the radio to connect, under a number.
    func connect(to address: DeviceAddress, _ number: UInt64, timeout: Duration) {
        guard let radio else { return }
        // It keeps the radio and not the phone, which may go meanwhile.
        let task = Task(executorPreference: radio.preferredExecutor) { [work] in
            let outcome: LinkInitiator.Outcome
            do throws(RadioError) {
                _ = try await radio.connect(address, timeout: timeout)
                outcome = .connected
            } catch {
                outcome = LinkInitiator.Outcome(error)
            }
            await work.tellSoon(.attemptEnded(number, outcome))
        }
        attempt = Attempt(number: number, address: address, task: task)
    }

    /// Cancels an attempt that the radio has not answered.
    func cancel(_ number: UInt64) {
        if attempt?.number == number { attempt?.task.cancel() }
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
