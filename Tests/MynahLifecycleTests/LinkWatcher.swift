import MynahCore
import MynahLifecycle
import MynahTestSupport

/// Lives random histories of three apps and four devices, and judges them by what apps and radio were told.
///
/// It keeps what each app believes of each device, and which links are on the air, and looks nothing up in
/// the ledger but what it compares.
struct LinkWatcher {
    private enum Belief: Hashable { case disconnected, connecting, connected }

    private struct Pair: Hashable {
        var manager: ManagerKey
        var address: DeviceAddress
    }

    private var ledger = LinkLedger()
    private var beliefs: [Pair: Belief] = [:]
    private var onAir: [Peer.ID: DeviceAddress] = [:]
    /// The links that the device made, which the phone leaves and never ends.
    private var shared: Set<Peer.ID> = []
    /// The links that the radio was asked to end.
    private var ending: Set<Peer.ID> = []
    private var delayed: [UInt64] = []
    private var lastPeer: UInt32 = 0
    /// The manager whose app is gone: nothing is told to it.
    private var ended: ManagerKey?
    private(set) var faults: [String] = []
    private(set) var seen: Set<String> = []

    private static let managers = (1...3).map { ManagerKey.app($0) }
    private static let devices = (1...4).map { DeviceAddress.device($0) }

    mutating func step(_ random: inout SeededGenerator) {
        let manager = Self.managers.randomElement(using: &random) ?? .a
        let address = Self.devices.randomElement(using: &random) ?? .device(1)
        switch Int.random(in: 0..<16, using: &random) {
        case 0...3: connect(manager, address, &random)
        case 4, 5: run { $0.cancel(manager, to: address, into: &$1) }
        case 6 where Bool.random(using: &random): end(manager)
        case 7 where !onAir.values.contains(address), 8 where !onAir.values.contains(address):
            linkUp(address, isShared: Bool.random(using: &random))
        case 9, 10: linkDown(Bool.random(using: &random) ? .lostLink : nil, &random)
        case 11: run { $0.failed(address, .lostLink, into: &$1) }
        case 12:
            if let request = delayed.popLast() { run { $0.delayElapsed(request, into: &$1) } }
        case 13 where Int.random(in: 0..<4, using: &random) == 0: powerLost(keeping: manager)
        case 14: move(to: address, &random)
        default:
            if let want = ledger.wanted.first, !onAir.values.contains(want.address) { linkUp(want.address) }
        }
        check()
    }

    /// Links that are to end do, and then nothing is left that nobody holds.
    mutating func finish() {
        for manager in Self.managers { end(manager) }
        for peer in ending.sorted(by: { $0.rawValue < $1.rawValue }) { linkEnded(peer, nil) }
        if !onAir.isEmpty { faults.append("a link stays that nobody holds") }
        if Self.devices.contains(where: { ledger.concerns($0) }) {
            faults.append("the ledger keeps what is over")
        }
    }

    // MARK: Events

    private mutating func connect(
        _ manager: ManagerKey, _ address: DeviceAddress, _ random: inout SeededGenerator
    ) {
        let options: [ConnectOptions] = [.none, .reconnecting, .delayed]
        let chosen = options.randomElement(using: &random) ?? .none
        run { $0.connect(manager, to: address, chosen, into: &$1) }
    }

    private mutating func end(_ manager: ManagerKey) {
        ended = manager
        run { $0.end(manager, into: &$1) }
        ended = nil
        for pair in beliefs.keys where pair.manager == manager { beliefs[pair] = nil }
    }

    private mutating func linkUp(_ address: DeviceAddress, isShared: Bool = false) {
        lastPeer += 1
        let peer = Peer.ID(lastPeer)
        onAir[peer] = address
        if isShared { shared.insert(peer) }
        run { $0.linkUp(peer, to: address, isShared: isShared, into: &$1) }
    }

    private mutating func linkDown(_ error: RadioError?, _ random: inout SeededGenerator) {
        guard let peer = onAir.keys.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &random)
        else {
            return
        }
        linkEnded(peer, error)
    }

    private mutating func linkEnded(_ peer: Peer.ID, _ error: RadioError?) {
        onAir[peer] = nil
        ending.remove(peer)
        run { $0.linkDown(peer, error, into: &$1) }
    }

    private mutating func powerLost(keeping manager: ManagerKey) {
        let before = onAir
        onAir = [:]
        ending = []
        shared = []
        run { $0.powerLost(keepingFor: { $0 == manager }, into: &$1) }
        // Late reports of the radio mean nothing any more.
        for peer in before.keys {
            var actions: [LinkAction] = []
            ledger.linkDown(peer, .lostLink, into: &actions)
            if !actions.isEmpty { faults.append("a link ended twice") }
        }
    }

    private mutating func move(to address: DeviceAddress, _ random: inout SeededGenerator) {
        guard !onAir.values.contains(address),
            let peer = onAir.keys.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &random),
            let old = onAir[peer]
        else { return }
        onAir[peer] = address
        for manager in Self.managers {
            let belief = beliefs.removeValue(forKey: Pair(manager: manager, address: old))
            guard let belief else { continue }
            let there = Pair(manager: manager, address: address)
            // It waited for the device at both addresses, which are one.
            beliefs[there] = beliefs[there] == nil || belief == .connected ? belief : .connecting
        }
        run { $0.moved(peer, to: address, into: &$1) }
    }

    // MARK: Judgement

    private mutating func run(_ body: (inout LinkLedger, inout [LinkAction]) -> Void) {
        var actions: [LinkAction] = []
        let before = ledger.wanted
        body(&ledger, &actions)
        for action in actions { take(action) }
        if ledger.wanted != before, !actions.contains(.wantedChanged) {
            faults.append("others are wanted, and the phone does not know")
        }
    }

    private mutating func take(_ action: LinkAction) {
        switch action {
        case .connecting(let manager, let address):
            change(manager, address, from: [.disconnected], to: .connecting, "connecting")
        case .connected(let manager, let address, let peer, let isLocal):
            if onAir[peer] != address || ending.contains(peer) { faults.append("connected without a link") }
            if shared.contains(peer), !isLocal { faults.append("a link that was there is told as a new one") }
            change(
                manager, address, from: [.connecting], to: .connected,
                isLocal ? "connected:local" : "connected")
        case .failedToConnect(let manager, let address, _):
            change(manager, address, from: [.connecting], to: .disconnected, "failed")
        case .disconnected(let manager, let address, let how):
            let from: Belief = how.wasPending ? .connecting : .connected
            let kind =
                how.isReconnecting
                ? "reconnecting"
                : how.error != nil
                    ? "lost"
                    : "cancelled"
                        + (how.wasPending ? ":pending" : how.isLocal ? ":local" : "")
            change(
                manager, address, from: [from], to: how.isReconnecting ? .connecting : .disconnected, kind)
        case .forgotten(let manager, let address):
            change(manager, address, from: [.connecting, .connected], to: .disconnected, "forgotten")
        case .endLink(let peer):
            seen.insert("end")
            if onAir[peer] == nil || !ending.insert(peer).inserted { faults.append("a link is ended twice") }
            if shared.contains(peer) { faults.append("a link is ended that its device made") }
        case .leaveLink(_, let peer):
            seen.insert("leave")
            if onAir.removeValue(forKey: peer) == nil || !shared.contains(peer) {
                faults.append("a link is left that its device did not make")
            }
        case .linkKept(_, let apps):
            seen.insert("kept")
            if apps.isEmpty { faults.append("a link is kept for nobody") }
        case .linkEnded(_, let peer):
            seen.insert("ended")
            if onAir[peer] != nil { faults.append("a link that is there has ended") }
        case .waitForStart(let request, _):
            seen.insert("wait")
            delayed.append(request)
        case .wantedChanged: seen.insert("wanted")
        }
    }

    private mutating func change(
        _ manager: ManagerKey, _ address: DeviceAddress, from: Set<Belief>, to: Belief, _ kind: String
    ) {
        seen.insert(kind)
        let pair = Pair(manager: manager, address: address)
        if manager == ended { faults.append("an app that is gone is told something") }
        if !from.contains(beliefs[pair] ?? .disconnected) {
            faults.append("\(kind) is delivered out of turn")
        }
        beliefs[pair] = to == .disconnected ? nil : to
    }

    private mutating func check() {
        for peer in onAir.keys {
            if ledger.holders(of: peer).isEmpty != ending.contains(peer) {
                faults.append("a link has a holder, or it is being ended, and never both or neither")
            }
        }
        for manager in Self.managers {
            for address in Self.devices {
                let known: Belief =
                    switch ledger.state(of: address, for: manager) {
                    case .disconnected: .disconnected
                    case .connecting: .connecting
                    case .connected: .connected
                    }
                if known != beliefs[Pair(manager: manager, address: address)] ?? .disconnected {
                    faults.append("the app was told something else than the ledger knows")
                }
            }
        }
    }
}
