import MynahCore
import MynahHCI
import MynahSupport

/// Advertises, scans and asks for connections, as the Generic Access Profile defines (Vol 3, Part C).
///
/// This driver uses the state machines of the controller's session. Its callers pass in the bonds, with which
/// it resolves private addresses. It is confined to the radio's executor.
final class GenericAccess {
    struct Connection {
        var continuation: CheckedContinuation<Result<Peer, RadioError>, Never>
        /// The error if the call's timeout elapses.
        var overdue: RadioError
    }

    /// A request for a connection, valid until the controller is stopped.
    struct Request: Sendable {
        fileprivate var number: UInt64
        /// Distinguishes this request from one with the same number after a stop.
        fileprivate var epoch: Int
        fileprivate var address: DeviceAddress
        fileprivate var overdue: RadioError
    }

    private let environment: Environment
    private let timer: HostTimer
    private let sinks: RadioSinks
    private let controller: ControllerDriver
    private var reports = ReportAssembler()
    /// The request that was reported to wait for the end of a link, or `nil` if none was since the last one
    /// that was advertised.
    private var waiting: HostAdvertisingSets.Number?
    var peers = PeerAddresses()
    /// The advertising sets' own addresses.
    var setAddresses = SetAddresses()
    /// Calls that wait for a connection, by the number of the request.
    private(set) var connections: [UInt64: Connection] = [:]

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
    }

    /// Clears the incomplete reports, and the addresses of peers and of sets.
    func reset() {
        reports = ReportAssembler()
        peers = PeerAddresses()
        setAddresses.reset()
        waiting = nil
    }

    /// Stops advertising and scanning.
    func stop() async {
        controller.change { advertiser, scanner, _ in
            advertiser.stop()
            scanner.stop()
            scanner.follow(false)
        }
        await controller.settled(.scanner)
        await controller.settled(.advertiser)
    }

    /// Restores advertising and scanning on a controller that came back or was turned on, and reports it.
    func goOn(afterLoss: Bool = false) async {
        let scan = controller.session.scanner.number
        controller.change { _, _, _ in }
        await controller.settled(.advertiser)
        await controller.settled(.scanner)
        guard controller.isRunning else { return }
        controller.drive { session, _, _ in session.announceAddress() }
        reportLostAdvertisement()
        if let scan, case .refused(let step, let status) = controller.session.scanner.verdict(on: scan) {
            let error = controller.session.refusal(step.purpose, status)
            sinks.tellCentral(.warning(RadioWarning("scanLost", "scanning could not be resumed: \(error)")))
        }
        sinks.tell(.stateChanged(.poweredOn))
        if afterLoss { sinks.tell(.recovered) }
        // The loss was reported as silence.
        addressChanged()
        sinks.tellCentral(.capabilitiesChanged(controller.session.profile.states.capabilities))
        sinks.tellCentral(.stateChanged(.poweredOn))
        if afterLoss { sinks.tellCentral(.recovered) }
    }

    // MARK: Advertising

    /// Starts advertising, or changes the advertisement.
    ///
    /// Throws `advertisementRefused` if the advertisement is too long or the controller refuses it; nothing
    /// is advertised then.
    func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard controller.isRunning else {
            throw controller.unavailable("a device can be advertised only while the radio runs")
        }
        let wanted = try setAddresses.configurations(of: advertisement.sets)
        if let need = advertisement.needForExtendedCommands { try controller.useExtendedCommands(for: need) }
        let number = controller.change { advertiser, _, _ in advertiser.want(wanted) }
        await controller.settled(.advertiser)
        switch controller.session.advertiser.verdict(on: number) {
        case .onAir: waiting = nil
        case .waitsForLinkEnd:
            if waiting == nil { sinks.warn(.advertisingWaits(environment.options.controller)) }
            waiting = number
        case .refused(let step, let status):
            throw controller.session.refusal(step.purpose, status, .advertisementRefused)
        case .replaced:
            guard controller.session.advertiser.isWanted else {
                throw RadioError(.invalidState, "advertising was stopped before it began")
            }
        case .lost:
            // The caller learns that it failed, so it does not begin later by itself.
            controller.change { advertiser, _, _ in advertiser.stop() }
            throw controller.loss
        }
        let reports = controller.session.advertiser.reports(of: advertisement.sets, wanted)
        controller.drive { session, _, _ in session.announce(reports, of: number) }
        return controller.session.announced ?? AdvertisingReport(reports)
    }

    /// Stops advertising.
    func stopAdvertising() async {
        controller.change { advertiser, _, _ in advertiser.stop() }
        await controller.settled(.advertiser)
    }

    /// Reports that advertising has stopped if the controller refused a change that no caller waits for.
    func reportLostAdvertisement() {
        if let waiting, controller.session.advertiser.verdict(on: waiting) == .onAir { self.waiting = nil }
        let lost = controller.drive { session, _, _ in session.takeLostAnnouncement() }
        guard let lost else { return }
        sinks.warn(RadioWarning("advertisingLost", "advertising stopped: \(lost)"))
        sinks.tell(.advertisingChanged(.silent))
    }

    /// Reports the current advertisement with the new own address, or after a change of the centrals.
    func addressChanged() {
        if let report = controller.session.announced { sinks.tell(.advertisingChanged(report)) }
    }

    // MARK: Scanning

    /// Scans, or changes the options of the scan.
    func scan(_ options: ScanOptions) async throws(RadioError) {
        guard controller.isRunning else { throw controller.unavailable() }
        let number = controller.change { _, scanner, _ in scanner.want(options) }
        await controller.settled(.scanner)
        switch controller.session.scanner.verdict(on: number) {
        case .scanning, .replaced: break
        case .refused(let step, let status): throw controller.session.refusal(step.purpose, status)
        case .lost:
            // The caller learns that it failed, so it does not begin later by itself.
            controller.change { _, scanner, _ in scanner.stop() }
            throw controller.loss
        }
    }

    /// Stops scanning.
    func stopScan() async {
        guard controller.session.scanner.wanted != nil else { return }
        reports = ReportAssembler()
        controller.change { _, scanner, _ in scanner.stop() }
        await controller.settled(.scanner)
    }

    /// Handles an advertising report: a bonded peripheral is reported under its identity address, and
    /// connected under its current address.
    func hear(_ report: LEAdvertisingReport, _ bonds: BondStore) {
        let scanner = controller.session.scanner
        let isWanted = scanner.wanted != nil
        guard isWanted || scanner.isFollowing, var whole = reports.add(report) else { return }
        let (identity, hasMoved) = peers.heard(whole.address, bonds)
        if hasMoved { controller.change { $2.moved(identity, to: peers.current(of: identity)) } }
        if identity != whole.address { whole.resolvedAddress = whole.address }
        whole.address = identity
        if isWanted { sinks.tellCentral(.heard(whole)) }
    }

    /// Scans with a small window while a connection to a bonded peripheral with private addresses is awaited,
    /// to learn its next address.
    ///
    /// The host resolves addresses by itself, and does not use the controller's resolving list: not every
    /// controller has one, it has room for few addresses, and it cannot change while the controller
    /// advertises, scans or initiates (Core Specification, Vol 4, Part E, 7.8.38).
    private func follow(_ bonds: BondStore) {
        let isWanted = controller.session.connector.addresses.contains {
            bonds[$0]?.identityResolvingKey != nil
        }
        guard isWanted != controller.session.scanner.isFollowing else { return }
        controller.change { _, scanner, _ in scanner.follow(isWanted) }
    }

    // MARK: Connecting

    /// Requests a connection to a peripheral by its identity address; several requests can wait at once.
    ///
    /// `stage` is the stage of an existing link to the peripheral, or `nil` if there is no link.
    func want(
        _ address: DeviceAddress, timeout: Duration?, _ stage: Link.Stage?, _ bonds: BondStore
    ) throws(RadioError) -> Request {
        guard controller.isRunning else { throw controller.unavailable() }
        guard stage != .givenUp else {
            throw RadioError(.disconnected, "the previous link to \(address) has not ended yet")
        }
        guard stage == nil, !controller.session.connector.wants(address) else {
            throw RadioError(.invalidState, "\(address) is already connected or connecting")
        }
        let onAir = peers.current(of: address)
        let number = controller.change { _, _, connector in connector.want(address, onAir: onAir) }
        if let timeout { timer[.connect(number)] = environment.now() + timeout }
        follow(bonds)
        let overdue = RadioError(.timedOut, "\(address) did not answer within \((timeout ?? .zero).text)")
        return Request(number: number, epoch: controller.epoch, address: address, overdue: overdue)
    }

    /// Waits until a request ends.
    func connection(of request: Request) async -> Result<Peer, RadioError> {
        await withCheckedContinuation {
            connections[request.number] = Connection(continuation: $0, overdue: request.overdue)
        }
    }

    /// Cancels a request, and returns its number, or `nil` if the controller was stopped since.
    func cancel(_ request: Request, _ bonds: BondStore) -> UInt64? {
        guard request.epoch == controller.epoch else { return nil }
        let error = RadioError(.timedOut, "connecting to \(request.address) was cancelled")
        giveUp(request.number, error, bonds)
        return request.number
    }

    /// Ends a request whose timeout elapsed; returns `false` if it has ended already.
    func overdue(_ number: UInt64, _ bonds: BondStore) -> Bool {
        guard let overdue = connections[number]?.overdue else { return false }
        giveUp(number, overdue, bonds)
        return true
    }

    private func giveUp(_ number: UInt64, _ error: RadioError, _ bonds: BondStore) {
        controller.change { _, _, connector in _ = connector.giveUp(number) }
        ended(number, .failure(error))
        follow(bonds)
    }

    /// Handles a new link; returns the request that it fulfils, or `nil` if it fulfils none.
    func linkBegan(
        _ connection: LEConnection, identity: DeviceAddress?, _ bonds: BondStore
    ) -> Connector.Request? {
        if let identity { peers.connected(identity, by: connection.addressOnAir) }
        let request = controller.drive { $0.linkBegan(connection, identity: identity, at: $1, &$2) }
        follow(bonds)
        return request
    }

    /// Repeats a request whose connection was lost before the peripheral answered on it.
    func connectAgain(_ request: Connector.Request, _ bonds: BondStore) {
        controller.change { _, _, connector in connector.wantAgain(request) }
        follow(bonds)
    }

    /// Fails the requests of connections that the controller cannot make.
    func connectionsFailed(_ numbers: [UInt64], _ error: RadioError, _ bonds: BondStore) {
        for number in numbers { ended(number, .failure(error)) }
        follow(bonds)
    }

    /// Ends a request, with a link or with an error.
    func ended(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        timer[.connect(number)] = nil
        connections.removeValue(forKey: number)?.continuation.resume(returning: result)
    }
}
