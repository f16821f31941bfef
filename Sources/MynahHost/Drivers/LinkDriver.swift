import Logging
import MynahCore
import MynahHCI
import MynahSupport

/// Drives the links: passes received frames to the right component, and carries out the resulting actions.
///
/// The components are the GATT server, the GATT client, the security driver and the channel driver. The
/// driver is confined to the radio's executor.
final class LinkDriver {
    /// The longest time for which `endAll` waits.
    static let endTimeout = Duration.seconds(1)

    let environment: Environment
    let timer: HostTimer
    let sinks: RadioSinks
    let controller: ControllerDriver
    let access: GenericAccess
    let acl: ACLDriver
    let security: SecurityDriver
    let channels: ChannelDriver
    /// The radio that the driver belongs to, for answers that come later.
    weak var radio: HostRadio?
    /// Calls that wait for all links to end.
    private(set) var linksEnded: [CheckedContinuation<Void, Never>] = []
    var server: GATTServer
    /// An empty array with reserved capacity, so that a request need not allocate an array for its actions.
    var serverActions: [GATTServer.Action] = []
    var client: GATTClient

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver,
        _ access: GenericAccess, _ acl: ACLDriver, _ security: SecurityDriver, _ channels: ChannelDriver
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
        self.access = access
        self.acl = acl
        self.security = security
        self.channels = channels
        server = GATTServer(timeout: environment.options.transactionTimeout)
        client = GATTClient(timeout: environment.options.transactionTimeout)
    }

    // MARK: Beginning and end

    /// Starts to serve as a device, without any published services.
    func begin(as identity: DeviceIdentity) {
        security.manager.begin(as: identity)
        controller.drive { session, _, _ in session.setLargestCentralCount(identity.largestCentralCount) }
        server.begin(as: identity)
        client.confirmsIndications = identity.confirmsIndications
        channels.begin(as: identity)
    }

    /// Configures the links for the controller's buffers and capabilities.
    func configure(on profile: ControllerProfile) {
        acl.outbound.configure(profile.buffers)
        channels.configure(on: profile)
    }

    /// Ends every link and waits until they have ended.
    ///
    /// Otherwise the peers would notice only after their supervision timeouts.
    func endAll() async {
        for handle in acl.table.handles { end(handle) }
        guard controller.isAttached, !acl.table.isEmpty else { return }
        await withCheckedContinuation { continuation in
            linksEnded.append(continuation)
            timer[.linksEnd] = environment.now() + Self.endTimeout
        }
        timer[.linksEnd] = nil
    }

    /// Ends all calls of `endAll`, because the links have ended or `endTimeout` has passed.
    func stopWaitingForEnd() {
        let all = linksEnded
        linksEnded = []
        for waiter in all { waiter.resume() }
    }

    /// Clears links, services and waiting calls when the radio stops.
    func reset() {
        loseAll(controller.loss)
        acl.reset()
        server = GATTServer(timeout: environment.options.transactionTimeout)
        channels.reset()
    }

    /// Carries out an action of the security driver.
    func carryOut(_ action: SecurityDriver.Action) {
        switch action {
        case .sendData: sendData()
        case .peerChanged(let peer, let link): server.peerChanged(peer, on: link)
        case .secured(let link, let bond): clientSecured(link, by: bond)
        case .restore(let bond, let link):
            serve { $0.restore(bond, link, at: environment.now(), &$1, &$2) }
        case .bonded(let link):
            security.manager.update(link) {
                server.remember(link, in: &$0)
                $0.serviceChanged = client.serviceChanged(of: link)
            }
        }
    }

    /// Removes all links after the loss of the controller; pending connections fail with `error`.
    func controllerLost(_ error: RadioError) {
        loseAll(error)
        acl.outbound.controllerEnded()
    }

    private func loseAll(_ error: RadioError) {
        change { $0.removeAll(error, &$1) }
        stopWaitingForEnd()
    }

    // MARK: Data

    /// Receives a packet of ACL data.
    func receive(_ packet: [UInt8]) {
        guard let (index, frame) = acl.table.receive(packet) else { return }
        let handle = acl.table[at: index].handle
        if acl.table[at: index].isUnheard { heard(handle) }
        switch frame.channel {
        case L2CAPFrame.Channel.attribute:
            if let opcode = frame.payload.first, ATTClient.takes(opcode) {
                ask(handle) { $0.receive(frame.payload, on: handle, at: environment.now(), into: &$1) }
            } else if sinks.faults?.takes(frame.payload, on: handle, of: self) != true {
                serve {
                    $0.receive(frame.payload, handle, security[handle], at: environment.now(), &$1, &$2)
                }
            }
        case L2CAPFrame.Channel.securityManager:
            security.change(handle) { $0.receive(frame.payload, handle, at: $1, &$2) }
        case L2CAPFrame.Channel.signalling, L2CAPFrame.Channel.dynamic:
            channels.receive(frame, on: handle, security[handle])
        default: break
        }
    }

    /// Handles the controller's report of completed packets, and sends further ones.
    func completed(_ packets: [HCIEventContent.CompletedPackets]) {
        for entry in packets { acl.outbound.completed(entry.handle, entry.count) }
        sendData()
    }

    func send(_ frame: L2CAPFrame, to handle: ConnectionHandle) {
        acl.queue(frame, to: handle)
        sendData()
    }

    /// Sends PDUs until the controller has no more room, and reports if there is room to send again.
    func sendData() {
        channels.sendData()
        reportRoom()
    }

    /// Reports to the sinks that there is room to send again, if a send was refused for lack of room.
    func reportRoom() {
        sinks.tell(acl.outbound.takeReady { server.takesIndications($0) }, of: acl.table)
    }
}
