package import MynahCore

/// Records the links and the connection requests of a phone's central managers.
///
/// The phone drives this state machine, and uses it to route each event of a link. It passes in the requests
/// of managers, each link that begins or ends, the end of managers, and that Bluetooth was turned off.
/// Devices are identified by their identity address, or by their only known address; `moved` replaces that
/// address.
///
/// A manager waits for a link after it has requested a connection, and holds the link while it is connected.
/// A link is wanted while managers wait for it.
///
/// | a link is | connect | cancel | link up | link down |
/// |---|---|---|---|---|
/// | absent | wanted | – | it has no holder, so it is ended | – |
/// | wanted | one more waits | one fewer waits, or absent | up, for all that wait | – |
/// | up | one holder more | one holder fewer, or ending | ends the second link | absent, or wanted again |
/// | ending | one more waits | one fewer waits | up, for all that wait | absent, or wanted by all that wait |
///
/// A link that is up ends when its last holder cancels. When it goes down, managers that requested to
/// reconnect wait for it again.
///
/// There is only one link between two devices (Core Specification, Vol 6, Part B, 4.5). A link that the
/// device has made, as a central of this phone, is shared: for waiting managers it is up, like a link that
/// another app holds. When its last holder cancels, the link stays and is absent in this table, which is an
/// assumption.
///
/// A cancellation is reported to the app at once, and the link ends on the air when no app holds it
/// (cancelPeripheralConnection). Assumptions: a start delay affects only the phone's own attempt, so a device
/// that is or becomes connected for another app is connected at once; when Bluetooth is turned off, apps get
/// no callback, as several projects report.
package struct LinkLedger: Sendable {
    /// A manager's request for a connection, pending or fulfilled.
    struct Claim: Sendable {
        var manager: ManagerKey
        var options: ConnectOptions
        var request: UInt64
        /// `true` while the start delay of the request is running.
        var isDelayed = false
    }

    enum Link: Sendable {
        case wanted(by: [Claim])
        case up(Peer.ID, heldBy: [Claim])
        case ending(Peer.ID, wantedBy: [Claim])
    }

    /// A device that managers wait for, because they requested a connection.
    package struct Want: Hashable, Sendable {
        /// The address of the device.
        package var address: DeviceAddress
        /// The managers that wait, in the order of their requests.
        package var managers: [ManagerKey]
    }

    private var links: [DeviceAddress: Link] = [:]
    /// The device of each link on the air, including a second link to a device.
    private var addresses: [Peer.ID: DeviceAddress] = [:]
    /// The links that their devices made, as centrals of this phone.
    private var shared: Set<Peer.ID> = []
    private var lastRequest: UInt64 = 0

    /// Makes a ledger without links.
    package init() {}

    // MARK: State

    /// The devices whose advertising the phone has to receive for pending connections, in the order of the
    /// requests.
    ///
    /// Devices whose start delay is running are left out.
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

    /// The devices that are connected for any app (retrieveConnectedPeripherals(withServices:)).
    package var connected: [DeviceAddress] {
        let held = addresses.filter { id, address in
            if case .up(id, _) = links[address] { true } else { false }
        }
        return held.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    /// Whether a device is connected, waited for, or being disconnected.
    package func concerns(_ address: DeviceAddress) -> Bool { links[address] != nil }

    /// The managers that use a link, in the order of their requests.
    package func holders(of link: Peer.ID) -> [ManagerKey] {
        guard let address = addresses[link], case .up(link, let claims)? = links[address] else { return [] }
        return claims.map(\.manager)
    }

    /// The managers that use a link to a device or wait for one, in the order of their requests.
    package func claimants(of address: DeviceAddress) -> [ManagerKey] {
        links[address]?.claims.map(\.manager) ?? []
    }

    /// The device of a link.
    package func address(of link: Peer.ID) -> DeviceAddress? { addresses[link] }

    /// The link to a device, for any app, or `nil` if there is none.
    package func link(to address: DeviceAddress) -> Peer.ID? {
        if case .up(let peer, _)? = links[address] { peer } else { nil }
    }

    /// The link to a device, if the manager uses it, or else `nil`.
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

    /// The options of a manager's connection to a device, or `nil` if it has neither a link nor a request.
    package func options(of address: DeviceAddress, for manager: ManagerKey) -> ConnectOptions? {
        links[address]?.claims.first { $0.manager == manager }?.options
    }

    /// The manager of a connection request, or `nil` if the request has ended.
    package func manager(of request: UInt64) -> ManagerKey? {
        links.values.lazy.flatMap(\.claims).first { $0.request == request }?.manager
    }

    /// Whether the start delay of a request is running.
    package func isDelayed(_ request: UInt64) -> Bool {
        links.values.contains { $0.claims.contains { $0.request == request && $0.isDelayed } }
    }

    /// The devices that a manager has connected or waits for, in the order of its requests.
    package func devices(of manager: ManagerKey) -> [DeviceAddress] {
        links.compactMap { address, link in
            link.claims.first { $0.manager == manager }.map { (address, $0.request) }
        }
        .sorted { $0.1 < $1.1 }.map(\.0)
    }

    // MARK: Requests of managers

    /// Requests a connection for a manager; the request never times out.
    ///
    /// If the manager already has a link or a request, only the options change.
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

    /// Restores, as a pending connection, a connection that the manager had in an earlier process of its app.
    package mutating func restore(
        _ manager: ManagerKey, to address: DeviceAddress, _ options: ConnectOptions = ConnectOptions(),
        into actions: inout [LinkAction]
    ) {
        guard links[address]?.claims.has(manager) != true else { return }
        var options = options
        // The delay has elapsed, or was interrupted when the process ended, and does not start again.
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

    /// Handles the end of a request's start delay; a request that has ended is ignored.
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

    /// Cancels a manager's connection, active or pending.
    package mutating func cancel(
        _ manager: ManagerKey, to address: DeviceAddress, into actions: inout [LinkAction]
    ) {
        release(manager, address, isTold: true, into: &actions)
    }

    /// Withdraws a manager's request for a connection, without reporting that to the manager.
    ///
    /// The call that made the request returns the result instead.
    package mutating func withdraw(
        _ manager: ManagerKey, from address: DeviceAddress, into actions: inout [LinkAction]
    ) {
        release(manager, address, isTold: false, into: &actions)
    }

    /// Ends a manager, with its links and requests.
    ///
    /// Do not call it for a manager whose links the system keeps. The app of such a manager was terminated or
    /// crashed, and declares `bluetooth-central`, and the manager has a restore identifier.
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

    /// Handles a new link to a device; a link that nobody requested is ended.
    ///
    /// With `isShared`, the device made the link, and the link is not ended.
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

    /// Stops using a link that the device made, because no manager uses it any longer.
    private mutating func leave(
        _ peer: Peer.ID, _ address: DeviceAddress, into actions: inout [LinkAction]
    ) {
        addresses[peer] = nil
        shared.remove(peer)
        actions.append(.leaveLink(address, peer))
    }

    /// Handles the end of a link; `error` is `nil` if this side ended it.
    ///
    /// A manager whose connection has the option `autoReconnect` waits for the device again, unless the radio
    /// was lost.
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

    /// Handles a connection that the radio refuses, and would refuse again.
    package mutating func failed(
        _ address: DeviceAddress, _ error: RadioError, into actions: inout [LinkAction]
    ) {
        guard case .wanted(let claims)? = links[address] else { return }
        links[address] = nil
        for claim in claims { actions.append(.failedToConnect(claim.manager, address, error)) }
        actions.append(.wantedChanged)
    }

    /// Handles the identity address of a device, which became known when the device paired.
    ///
    /// Managers that waited for the new address get the link at once. If there is another link at the new
    /// address, both stay as they are.
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

    /// Ends all links and pending connections without a callback, because Bluetooth is no longer powered on.
    ///
    /// A manager's pending connections stay if `isKept` returns `true`, because the system keeps the manager
    /// although its app has ended. If `keepsLinks` also returns `true`, after a restart of the phone, the
    /// manager's active links become pending connections, which is an assumption. Otherwise they end, because
    /// a connected link has fulfilled its request.
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
    /// Makes a fulfilled request from a pending one.
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

    /// The apps of the managers, without duplicates.
    var apps: [UInt64] {
        var seen: Set<UInt64> = []
        return map(\.manager.app).filter { seen.insert($0).inserted }
    }
}

/// The state of a peripheral for one central manager (CBPeripheralState).
public enum PeripheralState: String, Hashable, Sendable, CaseIterable {
    /// There is no connection for the manager.
    case disconnected
    /// A connection is pending.
    case connecting
    /// The manager uses a link to the peripheral.
    case connected
}
