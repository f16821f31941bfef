import MynahCore
import MynahHCI

/// The drivers of a radio, and the connections between them.
///
/// Each driver refers only to those declared before it. Packets, actions and deadlines for later drivers go
/// through this class. The drivers are confined to the radio's executor.
final class HostDrivers {
    let sinks = RadioSinks()
    let timer: HostTimer
    let controller: ControllerDriver
    let access: GenericAccess
    let acl: ACLDriver
    let channels: ChannelDriver
    let security: SecurityDriver
    let links: LinkDriver

    init(_ environment: Environment) {
        timer = HostTimer(environment)
        controller = ControllerDriver(environment, timer, sinks)
        access = GenericAccess(environment, timer, sinks, controller)
        acl = ACLDriver(environment, controller)
        channels = ChannelDriver(environment, timer, sinks, controller, acl)
        security = SecurityDriver(environment, timer, sinks, controller, acl)
        links = LinkDriver(environment, timer, sinks, controller, access, acl, security, channels)
        sinks.served = { [weak links] peer in links?.change { $0.served(peer, &$1) } }
        controller.act = { [weak self] action in self?.carryOut(action) }
        controller.addressSource = { [weak security] in security?.addressSource($0) }
        access.advertising.setAddresses.makeStatic = { [weak security] in security?.newStaticAddress() }
        access.advertising.setAddresses.makeRotation = { [weak security] in security?.newRotation(at: $0) }
        security.act = { [weak links] action in links?.carryOut(action) }
    }

    /// Handles a packet of the transport that was opened with this epoch number.
    func receive(_ packet: H4Packet, _ epoch: Int) {
        switch controller.receive(packet, epoch, continuing: { acl.channel(of: $0) }) {
        case .data(let packet): links.receive(packet)
        case .completed(let packets): links.completed(packets)
        case .advertising(let reports): for report in reports { access.hear(report, security.bonds) }
        case .periodic(let report): access.hear(report, security.bonds)
        case .event(let event): links.handle(event)
        case nil: break
        }
    }

    private func carryOut(_ action: ControllerAction) {
        switch action {
        case .configure(let profile): links.configure(on: profile)
        case .addressChanged: access.advertising.addressChanged()
        case .advertiserSettled: access.advertising.reportLostAdvertisement()
        case .connectionsFailed(let numbers, let error):
            access.connectionsFailed(numbers, error, security.bonds)
        case .refused(let command, let link, let peer): links.refused(command, link, peer)
        case .stopWaitingForEnd: links.stopWaitingForEnd()
        case .lost(let error): links.controllerLost(error)
        case .reportRoom: links.reportRoom()
        }
    }

    /// Handles a deadline that has passed.
    func expire(_ deadline: HostDeadline) {
        switch deadline {
        case .command: controller.loseSilent()
        case .addressRotation: controller.drive { $0.expireAddress(at: $1, &$2) }
        case .setAddressRotation: access.advertising.rotateSetAddresses()
        case .connectionCancel: controller.drive { $0.expireConnectionCancel(at: $1, &$2) }
        case .linksEnd: links.stopWaitingForEnd()
        case .connect(let number): links.overdue(number)
        case .confirmation(let link): links.confirmationDue(link)
        case .signal(let link, let identifier): channels.signalDue(link, identifier)
        case .request(let link): links.requestDue(link)
        case .pairing(let link): security.pairingDue(link)
        }
    }
}
