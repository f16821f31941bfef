import MynahCore
import MynahLifecycle

/// Connects a phone to devices with pending connections when the phone's radio receives their advertising.
///
/// Drives `LinkInitiator`, and returns its actions. Belongs to a phone, and runs on the phone's executor.
final class PhoneConnector {
    /// The connection request that the radio has not answered yet.
    private struct Attempt {
        var number: UInt64
        var address: DeviceAddress
        var task: Task<Void, Never>
    }

    private var initiator = LinkInitiator()
    private var attempt: Attempt?
    /// The address in `LinkLedger` of each device that a manager waits for.
    ///
    /// The key is the address at which the radio listens for the device.
    private var awaited: [DeviceAddress: DeviceAddress] = [:]
    /// The identity address of each device with a pending connection to its resolvable private address.
    ///
    /// The value is the private address itself until the radio reports the identity.
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

    /// Sets the devices to connect when their advertising is received; returns the actions that follow.
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

    /// Records the identity address of a device; returns whether it is new, and differs from `address`.
    func resolved(_ address: DeviceAddress, _ identity: DeviceAddress) -> Bool {
        guard identity != address, identities[address] == address else { return false }
        identities[address] = identity
        return true
    }

    /// Forgets the current connection request and all pending connections, because the radio is off or lost.
    func stop() {
        attempt?.task.cancel()
        attempt = nil
        initiator.reset()
        (awaited, identities) = ([:], [:])
    }

    // MARK: Events

    /// Handles a received advertisement.
    func heard(_ report: ScanReport) -> [LinkInitiator.Action] {
        change { $0.heard(report, into: &$1) }
    }

    /// Handles the beginning or the end of a link in the central or in the peripheral role.
    func linksChanged() -> [LinkInitiator.Action] {
        let links = memory.links
        let others = centrals.all.filter { links[$0.id] == nil }
        return change {
            $0.has(links: links.count + others.count, madeBy: others.compactMap(\.address), into: &$1)
        }
    }

    /// Handles a new link, and returns the address of its device in `LinkLedger`.
    ///
    /// Returns `nil` if the radio reports no address, and no connection was requested.
    func device(of peer: Peer) -> (address: DeviceAddress, [LinkInitiator.Action])? {
        guard let address = peer.answers(attempt?.address) else { return nil }
        let device = device(at: address)
        if attempt?.address == address { attempt = nil }
        return (device, change { $0.connected(to: address, into: &$1) })
    }

    /// The device's address in `LinkLedger`, for the address at which the radio reports the device.
    func device(at address: DeviceAddress) -> DeviceAddress { awaited[address] ?? address }

    /// Handles the outcome of the connection attempt with a number.
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

    /// Requests a connection from the radio, under a number.
    func connect(to address: DeviceAddress, _ number: UInt64, timeout: Duration) {
        guard let radio else { return }
        // The task keeps the radio alive, but not the phone.
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
    /// Makes the outcome of an attempt that ended with a radio's error.
    init(_ error: RadioError) {
        switch error.code {
        // A pending connection stays pending if no link was made. A lost radio reports its loss by itself.
        case .timedOut, .disconnected, .lost: self = .notReached
        case .connectionLimit: self = .noRoom
        default: self = .failed(error)
        }
    }
}

extension Peer {
    /// Returns the address of the device of a new link.
    ///
    /// `asked` is the address that the radio was asked to connect to, or `nil`.
    ///
    /// Some radios report no address. After a request for a resolvable private address, a radio may report
    /// the identity address.
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
