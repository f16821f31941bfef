import MynahCore
import MynahHCI
import MynahSupport

/// Scans and connects, as the Generic Access Profile defines (Vol 3, Part C).
///
/// This driver uses the state machines of the controller's session. Callers pass in the bonds, which are
/// needed to resolve private addresses. The driver is confined to the radio's executor.
final class GenericAccess {
    struct Connection {
        var continuation: CheckedContinuation<Result<Peer, RadioError>, Never>
        /// The error of the call if its timeout elapses.
        var overdue: RadioError
    }

    /// A request for a connection, which becomes invalid when the controller is stopped.
    struct Request: Sendable {
        fileprivate var number: UInt64
        /// The controller's `epoch` at the time of the request, because a later request may have the same
        /// number.
        fileprivate var epoch: Int
        fileprivate var address: DeviceAddress
        fileprivate var overdue: RadioError
    }

    private let environment: Environment
    private let timer: HostTimer
    private let sinks: RadioSinks
    private let controller: ControllerDriver
    /// Advertises the device.
    let advertising: AdvertisingDriver
    private var reports = ReportAssembler()
    var peers = PeerAddresses()
    /// Calls that wait for a connection, by the number of the request.
    private(set) var connections: [UInt64: Connection] = [:]

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
        advertising = AdvertisingDriver(environment, timer, sinks, controller)
    }

    /// Clears the incomplete reports, and the addresses of peers and of sets.
    func reset() {
        reports = ReportAssembler()
        peers = PeerAddresses()
        advertising.reset()
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

    /// Continues advertising and scanning on a controller that was recovered or turned on.
    ///
    /// Reports the new state of the radio. If `afterLoss` is `true`, also reports the recovery.
    func goOn(afterLoss: Bool = false) async {
        let scan = controller.session.scanner.number
        controller.change { _, _, _ in }
        await controller.settled(.advertiser)
        await controller.settled(.scanner)
        guard controller.isRunning else { return }
        controller.drive { session, _, _ in session.announceAddress() }
        advertising.reportLostAdvertisement()
        if let scan, case .refused(let step, let status) = controller.session.scanner.verdict(on: scan) {
            let error = controller.session.refusal(step.purpose, status)
            sinks.tellCentral(.warning(RadioWarning("scanLost", "scanning could not be resumed: \(error)")))
        }
        sinks.tell(.stateChanged(.poweredOn))
        if afterLoss { sinks.tell(.recovered) }
        // Advertising was reported as off when the controller was lost.
        advertising.addressChanged()
        sinks.tellCentral(.capabilitiesChanged(controller.session.profile.states.capabilities))
        sinks.tellCentral(.stateChanged(.poweredOn))
        if afterLoss { sinks.tellCentral(.recovered) }
    }

    // MARK: Scanning

    /// Starts a scan, or changes the options of the current one.
    func scan(_ options: ScanOptions) async throws(RadioError) {
        guard controller.isRunning else { throw controller.unavailable() }
        guard options.synchronization != .required || controller.session.profile.canSynchronize else {
            throw RadioError(
                .unsupported, "\(environment.options.controller) does not receive periodic advertising",
                remedy: "scan without it, or use another controller")
        }
        let number = controller.change { _, scanner, _ in scanner.want(options) }
        await controller.settled(.scanner)
        switch controller.session.scanner.verdict(on: number) {
        case .scanning, .replaced: break
        case .refused(let step, let status): throw controller.session.refusal(step.purpose, status)
        case .lost:
            // The caller gets an error, so scanning must not begin later.
            controller.change { _, scanner, _ in scanner.stop() }
            throw controller.loss
        }
    }

    func stopScan() async {
        guard controller.session.scanner.wanted != nil else { return }
        reports = ReportAssembler()
        controller.change { _, scanner, _ in scanner.stop() }
        await controller.settled(.scanner)
    }

    /// Handles an advertising report.
    ///
    /// A bonded peripheral is reported under its identity address; requests to connect use its current
    /// address.
    func hear(_ report: LEAdvertisingReport, _ bonds: BondStore) {
        noteTrain(of: report)
        let scanner = controller.session.scanner
        let isWanted = scanner.wanted != nil
        guard isWanted || scanner.isFollowing, var whole = reports.add(report) else { return }
        let (identity, hasMoved) = peers.heard(whole.address, bonds)
        if hasMoved { controller.change { $2.moved(identity, to: peers.current(of: identity)) } }
        if identity != whole.address { whole.resolvedAddress = whole.address }
        whole.address = identity
        if isWanted { sinks.tellCentral(.heard(whole)) }
    }

    private func noteTrain(of report: LEAdvertisingReport) {
        guard controller.session.synchronizer.isWanted, report.periodicInterval != nil, let set = report.set
        else { return }
        controller.drive {
            $0.synchronize(at: $1, &$2) { $0.heard(.init(address: report.address, set: set)) }
        }
    }

    /// Handles a report of periodic advertising, and reports the data to the `CentralSink` when it is
    /// complete.
    func hear(_ report: LEPeriodicReport, _ bonds: BondStore) {
        let received = controller.drive { $0.synchronize(at: $1, &$2) { $0.received(report) } }
        guard let (train, data) = received else { return }
        let (identity, _) = peers.heard(train.address, bonds)
        var whole = ScanReport(
            address: identity, kind: .nonConnectable, data: data, rssi: report.rssi, isExtended: true)
        whole.set = train.set
        whole.isPeriodic = true
        sinks.tellCentral(.heard(whole))
    }

    /// Starts or ends the scan for the new private addresses of bonded peripherals.
    ///
    /// The scan is on while a connection to such a peripheral is requested.
    ///
    /// The host resolves addresses itself, without the controller's resolving list: not every controller has
    /// one, it is small, and it cannot change while the controller advertises, scans or initiates (Core
    /// Specification, Vol 4, Part E, 7.8.38).
    private func follow(_ bonds: BondStore) {
        let isWanted = controller.session.connector.addresses.contains {
            bonds[$0]?.identityResolvingKey != nil
        }
        guard isWanted != controller.session.scanner.isFollowing else { return }
        controller.change { _, scanner, _ in scanner.follow(isWanted) }
    }

    // MARK: Connecting

    /// Requests a connection to a peripheral by its identity address; several requests can be open at once.
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

    /// Waits for the result of a request.
    func connection(of request: Request) async -> Result<Peer, RadioError> {
        await withCheckedContinuation {
            connections[request.number] = Connection(continuation: $0, overdue: request.overdue)
        }
    }

    /// Cancels a request; returns its number, or `nil` if the controller was stopped meanwhile.
    func cancel(_ request: Request, _ bonds: BondStore) -> UInt64? {
        guard request.epoch == controller.epoch else { return nil }
        let error = RadioError(.timedOut, "connecting to \(request.address) was cancelled")
        giveUp(request.number, error, bonds)
        return request.number
    }

    /// Ends a request whose timeout elapsed; returns `false` if the request has already ended.
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

    /// Handles a new link; returns the request for it, or `nil` if there is none.
    func linkBegan(
        _ connection: LEConnection, identity: DeviceAddress?, _ bonds: BondStore
    ) -> Connector.Request? {
        if let identity { peers.connected(identity, by: connection.addressOnAir) }
        let request = controller.drive { $0.linkBegan(connection, identity: identity, at: $1, &$2) }
        follow(bonds)
        return request
    }

    /// Makes a connection request again, because its link was lost before the peripheral sent anything.
    func connectAgain(_ request: Connector.Request, _ bonds: BondStore) {
        controller.change { _, _, connector in connector.wantAgain(request) }
        follow(bonds)
    }

    /// Ends requests whose connections have failed.
    func connectionsFailed(_ numbers: [UInt64], _ error: RadioError, _ bonds: BondStore) {
        for number in numbers { ended(number, .failure(error)) }
        follow(bonds)
    }

    /// Ends the connection request with this number: the waiting call returns the peer, or throws the error.
    func ended(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        timer[.connect(number)] = nil
        connections.removeValue(forKey: number)?.continuation.resume(returning: result)
    }
}
