import Logging
import MynahCore
import MynahHCI
import MynahSupport

/// Drives the links: passes received frames to the server, the client, the security manager and L2CAP, and
/// carries out the actions that they return.
///
/// The driver is confined to the radio's executor.
final class LinkDriver {
    /// How long `endAll` waits for links to end.
    static let endTimeout = Duration.seconds(1)

    let environment: Environment
    let timer: HostTimer
    let sinks: RadioSinks
    let controller: ControllerDriver
    let access: GenericAccess
    /// The actor that it belongs to, for answers that come later.
    weak var radio: HostRadio?
    /// Calls that wait for a link to be secured, by number.
    var pairings: [UInt64: CheckedContinuation<Result<Void, RadioError>, Never>] = [:]
    var lastPairing: UInt64 = 0
    /// Calls that wait for all links to end.
    private(set) var linksEnded: [CheckedContinuation<Void, Never>] = []
    var outbound: Outbound
    var table = LinkTable()
    var server: GATTServer
    /// Empty, with room for actions, so that a request costs no array.
    var serverActions: [GATTServer.Action] = []
    var security: SecurityManager
    var client: GATTClient
    /// L2CAP on the links.
    private(set) lazy var channels = ChannelDriver(environment, timer, sinks, controller, of: self)

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver,
        _ access: GenericAccess
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
        self.access = access
        let options = environment.options
        outbound = Outbound(limit: options.queueLimit)
        server = GATTServer(timeout: options.transactionTimeout)
        security = SecurityManager(
            .init(
                isPairable: options.isPairable, hasSecureConnections: options.hasSecureConnections,
                file: options.bonds?.path),
            random: environment.random)
        client = GATTClient(timeout: options.transactionTimeout)
    }

    // MARK: Beginning and end

    /// Begins to serve a device that publishes nothing yet.
    func begin(as identity: DeviceIdentity) {
        security.begin(as: identity)
        controller.drive { session, _, _ in session.setLargestCentralCount(identity.largestCentralCount) }
        server.begin(as: identity)
        client.confirmsIndications = identity.confirmsIndications
        channels.begin(as: identity)
    }

    /// Configures the links for the buffers and capabilities of the controller.
    func configure(on profile: ControllerProfile) {
        outbound.configure(profile.buffers)
        channels.configure(on: profile)
    }

    /// Ends every link and waits until they are gone: without that the other sides wait for their supervision
    /// timeouts.
    func endAll() async {
        for handle in table.handles { end(handle) }
        guard controller.isAttached, !table.isEmpty else { return }
        await withCheckedContinuation { continuation in
            linksEnded.append(continuation)
            timer[.linksEnd] = environment.now() + Self.endTimeout
        }
        timer[.linksEnd] = nil
    }

    /// Ends the wait for the links to end: they have, or it took too long.
    func stopWaitingForEnd() {
        let all = linksEnded
        linksEnded = []
        for waiter in all { waiter.resume() }
    }

    /// Clears links, services and waiting calls when the radio stops.
    func reset() {
        loseAll(controller.loss)
        outbound = Outbound(limit: environment.options.queueLimit)
        server = GATTServer(timeout: environment.options.transactionTimeout)
        channels.reset()
    }

    /// Removes all links, because the controller is gone; `error` ends calls for connections.
    func controllerLost(_ error: RadioError) {
        loseAll(error)
        outbound.controllerEnded()
    }

    private func loseAll(_ error: RadioError) {
        change { $0.removeAll(error, &$1) }
        stopWaitingForEnd()
    }

    // MARK: Data

    /// Receives a packet of ACL data.
    func receive(_ packet: [UInt8]) {
        guard let (index, frame) = table.receive(packet) else { return }
        let handle = table[at: index].handle
        if table[at: index].isUnheard { heard(handle) }
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
            secure(handle) { $0.receive(frame.payload, handle, at: $1, &$2) }
        case L2CAPFrame.Channel.signalling, L2CAPFrame.Channel.dynamic:
            channels.receive(frame, on: handle)
        default: break
        }
    }

    /// The controller has sent packets, and has room for others.
    func completed(_ packets: [HCIEventContent.CompletedPackets]) {
        for entry in packets { outbound.completed(entry.handle, entry.count) }
        sendData()
    }

    func send(_ frame: L2CAPFrame, to handle: ConnectionHandle) {
        if !outbound.send(frame, to: handle) {
            environment.logger.debug(
                "dropped, because too many PDUs wait for the link", metadata: ["link": "\(handle)"])
        }
        sendData()
    }

    /// Sends the PDUs that the controller has room for, and reports room to those that were refused.
    func sendData() {
        var isMore = true
        while isMore {
            while let packet = outbound.takeNext() {
                table.sent(packet)
                controller.transmit(packet)
            }
            isMore = channels.hasChannels && channels.fill()
        }
        reportRoom()
    }

    /// Reports that there is room again after a refused value.
    func reportRoom() {
        sinks.tell(outbound.takeReady { server.takesIndications($0) }, of: table)
    }
}
