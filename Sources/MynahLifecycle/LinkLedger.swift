package import MynahCore

/// Which central manager of a phone holds or waits for which link.
///
/// The phone drives it, and routes each event of a link by it. It gives what managers ask for, each link that
/// its radio reports and each that ends, the end of managers, and the loss of the Bluetooth state. Devices
/// are named by their identity address, or by the only address that is known; `moved` says that a device has
/// turned out to have another one.
///
/// | a link is | connect | cancel | link up | link down |
/// |---|---|---|---|---|
/// | absent | wanted | – | it has no holder, so it is ended | – |
/// | wanted | one more waits | one fewer waits, or absent | up, for all who wait | – |
/// | up | one holder more | one holder fewer, or ending | ends the second link | absent, or wanted again |
/// | ending | one more waits | one fewer waits | up, for all that wait | absent, or wanted by all that wait |
///
/// A link that is up ends when its last holder cancels. When it goes down, managers that asked to reconnect
/// want it again.
///
/// There is one link between two devices (Core Specification, Vol 6, Part B, 4.5). One that the device has
/// made, as a central of this phone, is shared: it is up for waiting managers as one that another app holds,
/// and when its last holder cancels it is left to the device and absent here, an assumption.
///
/// An app that cancels is told at once, and the link ends on the air when no app holds it
/// (cancelPeripheralConnection). Assumptions: a start delay delays only the phone's own attempt, so an app
/// that asks for a device that is or becomes connected for another app has it at once; when Bluetooth goes
/// off, apps get no callback, as several projects report.
package struct LinkLedger: Sendable {
    /// The request of one manager for a connection.
    struct Claim: Sendable {
        var manager: ManagerKey
        var options: ConnectOptions
        var request: UInt64
        /// `true` until the start delay is over.
        var isDelayed = false
    }

    enum Link: Sendable {
        case wanted(by: [Claim])
        case up(Peer.ID, heldBy: [Claim])
        case ending(Peer.ID, wantedBy: [Claim])
    }

    /// A device that managers wait for.
    package struct Want: Hashable, Sendable {
        /// The device.
        package var address: DeviceAddress
        /// Those who wait, in the order in which they asked.
        package var managers: [ManagerKey]
    }

    private var links: [DeviceAddress: Link] = [:]
    /// The device of each link on the air, also of a second one to a device.
    private var addresses: [Peer.ID: DeviceAddress] = [:]
    /// The links that their devices made.
    private var shared: Set<Peer.ID> = []
    private var lastRequest: UInt64 = 0

    /// No links.
    package init() {}

    // MARK: State

    /// The devices to listen for, in the order in which they were asked for, without those whose start delay
    /// runs.
    package var wanted: [Want] {
        var found: [(request: UInt64, want: Want)] = []
        for (address, link) in links {
            guard case .wanted(let claims) = link else { continue }
            let open = claims.filter { !$0.isDelayed }
            guard let first = open.first else { continue }
            found.append((first.request, Want(address: address, managers: open.map(\.manager))))
        }
        return found.sorted { $0.request < $1.request }.map(\.want)
    }

    /// The devices that are connected, whichever app connected them
    /// (retrieveConnectedPeripherals(withServices:)).
    package var connected: [DeviceAddress] {
        let held = addresses.filter { id, address in
            if case .up(id, _) = links[address] { true } else { false }
        }
        return held.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    /// Whether a device is connected, waited for, or being disconnected.
    package func concerns(_ address: DeviceAddress) -> Bool { links[address] != nil }

    /// The managers that a link's events are for, in the order in which they asked for it.
    package func holders(of link: Peer.ID) -> [ManagerKey] {
        guard let address = addresses[link], case .up(link, let claims)? = links[address] else { return [] }
        return claims.map(\.manager)
    }

    /// The managers that hold a link to a device or wait for one, in the order in which they asked for it.
    package func claimants(of address: DeviceAddress) -> [ManagerKey] {
        links[address]?.claims.map(\.manager) ?? []
    }

    /// The device of a link.
    package func address(of link: Peer.ID) -> DeviceAddress? { addresses[link] }

    /// The link to a device, whichever app holds it; `nil` if there is none.
    package func link(to address: DeviceAddress) -> Peer.ID? {
        if case .up(let peer, _)? = links[address] { peer } else { nil }
    }

    /// The link that a manager holds to a device; `nil` if it holds none.
    package func link(to address: DeviceAddress, of manager: ManagerKey) -> Peer.ID? {
        guard case .up(let peer, let claims)? = links[address], claims.has(manager) else { return nil }
        return peer
    }

    /// The state of a manager's peripheral.
    package func state(of address: DeviceAddress, for manager: ManagerKey) -> PeripheralState {
        guard let link = links[address], link.claims.has(manager) else { return .disconnected }
        if case .up = link { return .connected }
        return .connecting
    }

    /// A manager's options for its connection, or `nil` if it has none.
    package func options(of address: DeviceAddress, for manager: ManagerKey) -> ConnectOptions? {
        links[address]?.claims.first { $0.manager == manager }?.options
    }

    /// The manager of a request that is open; `nil` if it is not.
    package func manager(of request: UInt64) -> ManagerKey? {
        links.values.lazy.flatMap(\.claims).first { $0.request == request }?.manager
    }

    /// Whether a request waits for the end of its start delay.
    package func isDelayed(_ request: UInt64) -> Bool {
        links.values.contains { $0.claims.contains { $0.request == request && $0.isDelayed } }
    }

    /// The devices that a manager has connected or waits for, in the order in which it asked for them.
    package func devices(of manager: ManagerKey) -> [DeviceAddress] {
        links.compactMap { address, link in
            link.claims.first { $0.manager == manager }.map { (address, $0.request) }
        }
        .sorted { $0.1 < $1.1 }.map(\.0)
    }

    // MARK: Requests of managers

    /// A manager asks for a connection, which never times out.
    ///
    /// If it has or waits for one already, the options are the new ones from now on, and nothing else
    /// happens.
    package mutating func connect(
        _ manager: ManagerKey, to address: DeviceAddress, _ options: ConnectOptions = ConnectOptions(),
        into actions: inout [LinkAction]
    ) {
        guard links[address]?.claims.has(manager) != true else {
            links[address]?.changeOptions(of: manager, to: options)
            return
        }
        actions.append(.connecting(manager, address))
        add(manager, address, options, into: &actions)
    }

    /// Restores a manager's connections of another process.
    ///
    /// A connection that was held or pending is now pending.
    package mutating func restore(
        _ manager: ManagerKey, to address: DeviceAddress, _ options: ConnectOptions = ConnectOptions(),
        into actions: inout [LinkAction]
    ) {
        guard links[address]?.claims.has(manager) != true else { return }
        var options = options
        // It was waited for once, before the process ended.
        options.startDelay = .zero
        add(manager, address, options, into: &actions)
    }

    private mutating func add(
        _ manager: ManagerKey, _ address: DeviceAddress, _ options: ConnectOptions,
        into actions: inout [LinkAction]
    ) {
        lastRequest += 1
        var claim = Claim(manager: manager, options: options, request: lastRequest)
        if case .up(let peer, let claims)? = links[address] {
            links[address] = .up(peer, heldBy: claims + [claim])
            actions.append(.connected(manager, address, peer, isLocal: true))
            return
        }
        claim.isDelayed = options.startDelay > .zero
        if case .ending(let peer, let claims)? = links[address] {
            links[address] = .ending(peer, wantedBy: claims + [claim])
        } else {
            links[address] = .wanted(by: (links[address]?.claims ?? []) + [claim])
        }
        actions.append(
            claim.isDelayed ? .waitForStart(request: lastRequest, options.startDelay) : .wantedChanged)
    }

    /// The start delay of a request is over; a request that is no longer open changes nothing.
    package mutating func delayElapsed(_ request: UInt64, into actions: inout [LinkAction]) {
        for (address, link) in links {
            guard let index = link.claims.firstIndex(where: { $0.request == request }) else { continue }
            guard link.claims[index].isDelayed else { return }
            var claims = link.claims
            claims[index].isDelayed = false
            links[address] = link.with(claims)
            return actions.append(.wantedChanged)
        }
    }

    /// A manager cancels its connection, active or pending.
    package mutating func cancel(
        _ manager: ManagerKey, to address: DeviceAddress, into actions: inout [LinkAction]
    ) {
        release(manager, address, isTold: true, into: &actions)
    }

    /// A manager no longer waits for a connection.
    ///
    /// This is not reported: its request itself returns the outcome of it.
    package mutating func withdraw(
        _ manager: ManagerKey, from address: DeviceAddress, into actions: inout [LinkAction]
    ) {
        release(manager, address, isTold: false, into: &actions)
    }

    /// A manager is gone, and with it what it held or waited for.
    ///
    /// This is not called for a manager whose links the system keeps: its app was terminated or crashed,
    /// declares `bluetooth-central`, and the manager has a restore identifier.
    package mutating func end(_ manager: ManagerKey, into actions: inout [LinkAction]) {
        for address in devices(of: manager) { release(manager, address, isTold: false, into: &actions) }
    }

    private mutating func release(
        _ manager: ManagerKey, _ address: DeviceAddress, isTold: Bool, into actions: inout [LinkAction]
    ) {
        guard let link = links[address], link.claims.has(manager) else { return }
        let rest = link.claims.filter { $0.manager != manager }
        switch link {
        case .wanted, .ending:
            if isTold {
                actions.append(.disconnected(manager, address, .init(isLocal: true, wasPending: true)))
            }
            if case .wanted = link, rest.isEmpty {
                links[address] = nil
            } else {
                links[address] = link.with(rest)
            }
            actions.append(.wantedChanged)
        case .up(let peer, _):
            let isKept = !rest.isEmpty || shared.contains(peer)
            if isTold { actions.append(.disconnected(manager, address, .init(isLocal: isKept))) }
            if rest.isEmpty, isKept {
                links[address] = nil
                leave(peer, address, into: &actions)
            } else if rest.isEmpty {
                links[address] = .ending(peer, wantedBy: [])
                actions.append(.endLink(peer))
            } else {
                links[address] = .up(peer, heldBy: rest)
                actions.append(.linkKept(address, heldBy: rest.apps))
            }
        }
    }

    // MARK: Events of the radio

    /// A link to a device began; a link that no request waits for is ended.
    ///
    /// With `isShared` the device made it; such a link is not ended.
    package mutating func linkUp(
        _ peer: Peer.ID, to address: DeviceAddress, isShared: Bool = false, into actions: inout [LinkAction]
    ) {
        guard addresses[peer] == nil else { return }
        addresses[peer] = address
        if isShared { shared.insert(peer) }
        switch links[address] {
        case .wanted(let claims)?: attach(peer, address, claims, into: &actions)
        case .ending(_, let claims)? where !claims.isEmpty: attach(peer, address, claims, into: &actions)
        case .up? where isShared, .ending? where isShared, nil where isShared:
            leave(peer, address, into: &actions)
        case .up?: actions.append(.endLink(peer))
        case .ending?, nil:
            links[address] = .ending(peer, wantedBy: [])
            actions.append(.endLink(peer))
        }
    }

    private mutating func attach(
        _ peer: Peer.ID, _ address: DeviceAddress, _ claims: [Claim], into actions: inout [LinkAction]
    ) {
        links[address] = .up(peer, heldBy: claims.map { Claim(held: $0) })
        let isLocal = shared.contains(peer)
        for claim in claims { actions.append(.connected(claim.manager, address, peer, isLocal: isLocal)) }
        actions.append(.wantedChanged)
    }

    /// Nobody here holds a link that the device made.
    private mutating func leave(
        _ peer: Peer.ID, _ address: DeviceAddress, into actions: inout [LinkAction]
    ) {
        addresses[peer] = nil
        shared.remove(peer)
        actions.append(.leaveLink(address, peer))
    }

    /// A link ended; `error` is `nil` if it was ended from here.
    ///
    /// With the radio gone, no request waits for the device again.
    package mutating func linkDown(
        _ peer: Peer.ID, _ error: RadioError?, into actions: inout [LinkAction]
    ) {
        guard let address = addresses.removeValue(forKey: peer) else { return }
        shared.remove(peer)
        defer { actions.append(.linkEnded(address, peer)) }
        var waiting: [Claim]
        switch links[address] {
        case .up(peer, let claims)?:
            waiting = []
            for claim in claims {
                let isReconnecting =
                    error.map { $0.code != .lost } == true && claim.options.autoReconnect
                actions.append(
                    .disconnected(
                        claim.manager, address, .init(error: error, isReconnecting: isReconnecting)))
                if isReconnecting { waiting.append(claim) }
            }
        case .ending(peer, let claims)?: waiting = claims
        case .up?, .ending?, .wanted?, nil: return
        }
        links[address] = waiting.isEmpty ? nil : .wanted(by: waiting)
        if !waiting.isEmpty { actions.append(.wantedChanged) }
    }

    /// The radio refuses for good to connect to a device.
    package mutating func failed(
        _ address: DeviceAddress, _ error: RadioError, into actions: inout [LinkAction]
    ) {
        guard case .wanted(let claims)? = links[address] else { return }
        links[address] = nil
        for claim in claims { actions.append(.failedToConnect(claim.manager, address, error)) }
        actions.append(.wantedChanged)
    }

    /// A device has turned out to have another address: it paired, and its identity is known now.
    ///
    /// Managers that waited for it there hold the link at once. If another link is at the new address, both
    /// stay as they are.
    package mutating func moved(
        _ peer: Peer.ID, to new: DeviceAddress, into actions: inout [LinkAction]
    ) {
        guard let old = addresses[peer], old != new, let link = links[old], link.peer == peer else { return }
        let waiting: [Claim]
        switch links[new] {
        case .up?, .ending?: return
        case .wanted(let claims)?: waiting = claims.filter { !link.claims.has($0.manager) }
        case nil: waiting = []
        }
        let wereWanted = links[new] != nil
        links[old] = nil
        addresses[peer] = new
        switch link {
        case .up(_, let claims):
            links[new] = .up(peer, heldBy: claims + waiting.map { Claim(held: $0) })
            for claim in waiting { actions.append(.connected(claim.manager, new, peer, isLocal: true)) }
        case .ending(_, let claims): links[new] = .ending(peer, wantedBy: claims + waiting)
        case .wanted: break
        }
        if wereWanted { actions.append(.wantedChanged) }
    }

    /// Bluetooth is not powered on any more: every link and pending connection is gone, without a callback.
    ///
    /// Only the pending connections stay of a manager whose app the system has terminated and that it keeps:
    /// a link that is up is a request that was completed, so the phone does not connect again by itself. If
    /// it restarted, it does, an assumption: `keepsLinks` says so.
    package mutating func powerLost(
        keepingFor isKept: (ManagerKey) -> Bool, links keepsLinks: (ManagerKey) -> Bool = { _ in false },
        into actions: inout [LinkAction]
    ) {
        let before = links
        let ended = addresses.sorted { $0.key.rawValue < $1.key.rawValue }
        addresses = [:]
        shared = []
        func stays(_ claim: Claim, _ link: Link) -> Bool {
            if case .up = link, !keepsLinks(claim.manager) { false } else { isKept(claim.manager) }
        }
        links = before.compactMapValues { link in
            let kept = link.claims.filter { stays($0, link) }
            return kept.isEmpty ? nil : .wanted(by: kept)
        }
        let lost = before.flatMap { address, link in
            link.claims.filter { !stays($0, link) }.map { (address, $0) }
        }
        for (address, claim) in lost.sorted(by: { $0.1.request < $1.1.request }) {
            actions.append(.forgotten(claim.manager, address))
        }
        for (peer, address) in ended { actions.append(.linkEnded(address, peer)) }
        if !before.isEmpty { actions.append(.wantedChanged) }
    }
}

extension LinkLedger.Claim {
    /// A claim that is fulfilled.
    init(held claim: Self) {
        self = claim
        isDelayed = false
    }
}

extension LinkLedger.Link {
    var claims: [LinkLedger.Claim] {
        switch self {
        case .wanted(let claims), .up(_, let claims), .ending(_, let claims): claims
        }
    }

    var peer: Peer.ID? {
        switch self {
        case .wanted: nil
        case .up(let peer, _), .ending(let peer, _): peer
        }
    }

    func with(_ claims: [LinkLedger.Claim]) -> Self {
        switch self {
        case .wanted: .wanted(by: claims)
        case .up(let peer, _): .up(peer, heldBy: claims)
        case .ending(let peer, _): .ending(peer, wantedBy: claims)
        }
    }

    mutating func changeOptions(of manager: ManagerKey, to options: ConnectOptions) {
        self = with(
            claims.map { claim in
                var claim = claim
                if claim.manager == manager { claim.options = options }
                return claim
            })
    }
}

extension [LinkLedger.Claim] {
    func has(_ manager: ManagerKey) -> Bool { contains { $0.manager == manager } }

    /// Their apps, each once.
    var apps: [UInt64] {
        var seen: Set<UInt64> = []
        return map(\.manager.app).filter { seen.insert($0).inserted }
    }
}

/// The state of a peripheral for one central manager (CBPeripheralState).
public enum PeripheralState: String, Hashable, Sendable, CaseIterable {
    /// There is no connection for this manager.
    case disconnected
    /// A connection is pending.
    case connecting
    /// The manager holds the link.
    case connected
}
