import MynahCore
import MynahHCI
import MynahSupport

/// Makes a controller carry out the host's requests.
///
/// This state machine has no I/O: its driver sends the commands that it returns, and passes the controller's
/// events to it. It owns the command queue and the machines that use the queue: bring-up, own address,
/// advertiser, scanner and connector. When a controller is lost, its state is discarded, and requests for
/// connections fail. Requests for advertising and scanning remain for the next controller.
struct ControllerSession: Sendable {
    /// The part of the host that sent a command and handles its result.
    enum Sender: Hashable, Sendable {
        case bringUp
        case address
        case advertiser
        case scanner
        case synchronizer
        case connector
        /// A call that waits for the result.
        case call(UInt64)
        /// A command about a link; when the result comes, another link may have the same handle.
        case link(LinkCommand, handle: ConnectionHandle, Peer.ID)
        /// No part of the host handles the result; a refusal is only logged.
        case nobody
    }

    /// A command about a link whose refusal must be handled.
    enum LinkCommand: Hashable, Sendable {
        case readFeatures
        case encrypt
        case updateParameters

        /// The command as a verb phrase for messages, as in "refused reading the features of a peer".
        var purpose: String {
            switch self {
            case .readFeatures: "reading the features of a peer"
            case .encrypt: "starting encryption"
            case .updateParameters: "changing the parameters of a connection"
            }
        }
    }

    /// An action for the driver.
    enum Action: Sendable {
        case send(HCICommand)
        /// The public address and the features were read; the driver must call `choose` next.
        case chooseAddress(publicAddress: DeviceAddress?)
        /// The controller is ready.
        case broughtUp
        case bringUpFailed(RadioError)
        /// The own address on the air has changed.
        case addressChanged(DeviceAddress)
        /// The given part of the host, which is the advertiser or the scanner, has no unanswered command.
        case settled(Sender)
        case connectionsFailed([UInt64], RadioError)
        case answered(call: UInt64, Result<[UInt8], RadioError>)
        case refused(purpose: String, HCIStatus)
        case linkCommandRefused(LinkCommand, handle: ConnectionHandle, Peer.ID)
    }

    private enum Stage {
        /// No controller is available.
        case absent
        case bringingUp(BringUp)
        /// The first random address is being set.
        case addressing
        case running
    }

    /// The name of the controller and its transport, for messages.
    let name: String
    /// The time in which the controller must answer a command.
    let timeout: Duration
    private(set) var profile = ControllerProfile()
    private(set) var address = OwnAddress()
    /// The number of connected centrals.
    private var centralCount = 0
    private(set) var advertiser = HostAdvertisingSets()
    private(set) var scanner = HostScanner()
    /// Receives the periodic advertising that a scan finds, if the scan options request it.
    private(set) var synchronizer = PeriodicSynchronizer()
    private(set) var connector = Connector()
    /// `true` if the radio is also a central, or if an advertisement needs the extended commands.
    var prefersExtendedCommands = false
    private var port = CommandPort<Sender>()
    private var stage = Stage.absent
    private var cancelDeadline: Duration?
    /// `true` while the controller is being turned off, so that nothing may be started.
    private var isTurningOff = false
    private var lastCall: UInt64 = 0

    init(name: String, timeout: Duration) {
        self.name = name
        self.timeout = timeout
    }

    /// The time by which the oldest unanswered command must be answered, or `nil` if there is none.
    var commandDeadline: Duration? { port.deadline }
    /// The time by which the controller must report the end of a cancelled attempt, or `nil` if none was
    /// cancelled.
    var connectionCancelDeadline: Duration? { cancelDeadline }

    /// Selects the extended commands.
    ///
    /// Throws `advertisementRefused` if the controller has none, or if legacy commands were already sent.
    /// `need` is the feature that requires extended commands, for the error message.
    mutating func useExtendedCommands(for need: String) throws(RadioError) {
        prefersExtendedCommands = true
        let problem: String
        if !profile.hasExtendedCommands {
            problem = "\(name) has no extended advertising"
        } else if profile.style == .legacy {
            problem =
                "\(name) is used with legacy commands until it is reset; name it in the profile at the start"
        } else {
            return
        }
        throw RadioError(.advertisementRefused, "\(need) cannot be advertised: \(problem)")
    }

    // MARK: The controller comes and goes

    /// Starts the bring-up after the transport was opened.
    mutating func bringUp(at now: Duration, _ actions: inout [Action]) {
        stage = .bringingUp(BringUp())
        isTurningOff = false
        continueBringUp(at: now, &actions)
    }

    /// Handles the loss of the controller: waiting calls and requested connections fail.
    ///
    /// `error` is the reason, or `nil` if the transport gave none.
    mutating func end(_ error: RadioError?, _ actions: inout [Action]) {
        stage = .absent
        cancelDeadline = nil
        centralCount = 0
        advertiser.ended()
        scanner.ended()
        synchronizer.ended()
        address.ended()
        let requests = connector.ended()
        for entry in port.removeAll() {
            guard case .call(let number) = entry.sender else { continue }
            actions.append(.answered(call: number, .failure(error ?? loss(while: entry.purpose))))
        }
        if !requests.isEmpty { actions.append(.connectionsFailed(requests, error ?? loss())) }
        actions.append(.settled(.advertiser))
        actions.append(.settled(.scanner))
    }

    /// Stops advertising, scanning and initiating before the controller is reset.
    ///
    /// The requests for advertising and scanning remain for the next bring-up.
    mutating func turnOff(at now: Duration, _ actions: inout [Action]) {
        isTurningOff = true
        hold()
        run(at: now, &actions)
    }

    private mutating func hold() {
        advertiser.hold()
        scanner.hold()
        connector.hold()
    }

    /// Chooses the own address, and continues the bring-up.
    ///
    /// The bring-up fails with `unsupported` if the controller cannot have the address that the policy
    /// requires.
    mutating func choose(
        _ source: OwnAddress.Source, at now: Duration, _ actions: inout [Action]
    ) {
        do throws(RadioError) {
            try address.choose(source, at: now)
        } catch {
            return actions.append(.bringUpFailed(error))
        }
        stage = .addressing
        if let first = address.next(isQuiet: true) {
            issue(.setRandomAddress(first), "setting its random address", .address, now, &actions)
        } else {
            becomeReady(&actions)
        }
    }

    private mutating func becomeReady(_ actions: inout [Action]) {
        stage = .running
        centralCount = 0
        advertiser.began(address.current, identity: address.identity)
        scanner.began()
        connector.began()
        actions.append(.broughtUp)
    }

    private mutating func continueBringUp(at now: Duration, _ actions: inout [Action]) {
        guard case .bringingUp(let machine) = stage else { return }
        guard let (command, purpose) = machine.next() else {
            profile = machine.profile
            return actions.append(.chooseAddress(publicAddress: machine.publicAddress))
        }
        issue(command, purpose, .bringUp, now, &actions)
    }

    // MARK: Commands

    /// Sends a command for a call, and returns the number with which the result is reported.
    mutating func call(
        _ command: HCICommand, _ purpose: String, at now: Duration, _ actions: inout [Action]
    ) -> UInt64 {
        lastCall += 1
        issue(command, purpose, .call(lastCall), now, &actions)
        return lastCall
    }

    /// Sends a command whose refusal is only logged.
    mutating func send(
        _ command: HCICommand, _ purpose: String, at now: Duration, _ actions: inout [Action]
    ) {
        issue(command, purpose, .nobody, now, &actions)
    }

    /// Sends a command about a link; a refusal is reported as `linkCommandRefused`.
    mutating func send(
        _ purpose: LinkCommand, of handle: ConnectionHandle, _ peer: Peer.ID, _ command: HCICommand,
        at now: Duration,
        _ actions: inout [Action]
    ) {
        issue(command, purpose.purpose, .link(purpose, handle: handle, peer), now, &actions)
    }

    private mutating func issue(
        _ command: HCICommand, _ purpose: String, _ sender: Sender, _ now: Duration, _ actions: inout [Action]
    ) {
        port.add(.init(command: command, purpose: purpose, sender: sender, deadline: now + timeout))
        sendReady(&actions)
    }

    private mutating func sendReady(_ actions: inout [Action]) {
        while let command = port.takeNext() { actions.append(.send(command)) }
    }

    /// Handles the result of a command; the parameters follow the status.
    mutating func answered(
        _ opcode: HCIOpcode, credits: Int, _ status: HCIStatus, _ parameters: [UInt8], at now: Duration,
        _ actions: inout [Action]
    ) {
        let entry = port.answered(opcode, credits: credits)
        sendReady(&actions)
        guard let entry else { return }
        let outcome: CommandOutcome = status == .success ? .done : .refused(status)
        switch entry.sender {
        case .bringUp: bringUpAnswered(status, parameters, now, &actions)
        case .address: addressAnswered(outcome, now, &actions)
        case .advertiser: advertiser.finished(outcome)
        case .scanner: scanner.finished(outcome)
        case .synchronizer: synchronizer.finished(outcome)
        case .connector:
            if let failure = connector.finished(outcome) { actions.append(failed(failure)) }
            if connector.isCancelling { cancelDeadline = now + timeout }
        case .call(let number):
            let result: Result<[UInt8], RadioError> =
                status == .success ? .success(parameters) : .failure(refusal(entry.purpose, status))
            return actions.append(.answered(call: number, result))
        case .link(let command, let handle, let peer):
            if status != .success { actions.append(.linkCommandRefused(command, handle: handle, peer)) }
            return
        case .nobody:
            if status != .success { actions.append(.refused(purpose: entry.purpose, status)) }
            return
        }
        run(at: now, &actions)
    }

    private mutating func bringUpAnswered(
        _ status: HCIStatus, _ parameters: [UInt8], _ now: Duration, _ actions: inout [Action]
    ) {
        guard case .bringingUp(var machine) = stage else { return }
        do throws(BringUp.Failure) {
            try machine.finished(status, parameters)
            stage = .bringingUp(machine)
            continueBringUp(at: now, &actions)
        } catch {
            actions.append(.bringUpFailed(self.error(of: error)))
        }
    }

    private mutating func addressAnswered(
        _ outcome: CommandOutcome, _ now: Duration, _ actions: inout [Action]
    ) {
        let isChanged = address.finished(outcome, at: now)
        switch (stage, outcome) {
        case (.addressing, .done): becomeReady(&actions)
        case (.addressing, .refused(let status)):
            actions.append(.bringUpFailed(refusal("setting its random address", status)))
        default:
            advertiser.release(address.current)
            scanner.release()
            connector.release()
            // Turning off may have begun while the address was being set.
            if isTurningOff { hold() }
            advertiser.announceAddress()
            if isChanged, let current = address.current { actions.append(.addressChanged(current)) }
        }
    }

    // MARK: Requests of the host

    /// Changes the requests to the advertiser, the scanner and the connector, and sends the resulting
    /// commands.
    mutating func change<Result>(
        at now: Duration, _ actions: inout [Action],
        _ change: (inout HostAdvertisingSets, inout HostScanner, inout Connector) -> Result
    ) -> Result {
        let result = change(&advertiser, &scanner, &connector)
        run(at: now, &actions)
        return result
    }

    /// Stores the reports of the sets that an advertising request has put on the air; sends nothing.
    mutating func announce(_ reports: [AdvertisingReport], of number: HostAdvertisingSets.Number) {
        advertiser.announce(reports, of: number)
    }

    /// Whether connectable sets are off because as many centrals as allowed are connected.
    var isFull: Bool { advertiser.largestCentralCount.map { centralCount >= $0 } ?? false }

    /// The stored report of the advertisement, or `nil` if none is stored.
    ///
    /// If as many centrals as allowed are connected, the connectable sets are left out.
    var announced: AdvertisingReport? {
        guard let report = advertiser.announced, isFull else { return advertiser.announced }
        var first = report
        first.otherSets = []
        let all = [first] + report.otherSets
        var kept = all.filter { !$0.isConnectable }
        guard kept.count < all.count else { return report }
        var changed = kept.isEmpty ? AdvertisingReport.silent : kept.removeFirst()
        changed.otherSets = kept
        let centrals = centralCount == 1 ? "a central is" : "\(centralCount) centrals are"
        changed.omitted.append(
            .init(
                item: AdvertisingReport.Omission.centrals,
                reason:
                    "\(centrals) connected, and the device takes no more; it advertises after a disconnection"
            ))
        return changed
    }

    /// Updates the own address in the stored report of the advertisement.
    mutating func announceAddress() {
        advertiser.announceAddress()
    }

    /// Returns the error because of which the advertisement with the stored report is no longer on the air.
    ///
    /// The result is `nil` if there is no such error, or if it was returned before.
    mutating func takeLostAnnouncement() -> RadioError? {
        advertiser.takeLostAnnouncement().map { refusal($0.step.purpose, $0.status, .advertisementRefused) }
    }

    /// Handles a new connection; returns the request for it, or `nil` if there is none.
    ///
    /// `identity` is the identity address of a bonded peer, under which a connection may have been requested.
    mutating func linkBegan(
        _ connection: LEConnection, identity: DeviceAddress?, at now: Duration, _ actions: inout [Action]
    ) -> Connector.Request? {
        if connection.role == .peripheral { centralCount += 1 }
        advertiser.linkBegan(connection.role)
        let wanted = identity.flatMap { connector.wants($0) ? $0 : nil } ?? connection.peer
        let request =
            connection.role == .central ? connector.connected(to: wanted) : connector.fulfil(wanted)
        cancelDeadline = connector.isCancelling ? cancelDeadline : nil
        run(at: now, &actions)
        return request
    }

    /// Sets the number of connected centrals at which advertising stops, or `nil` for no limit.
    mutating func setLargestCentralCount(_ count: Int?) { advertiser.largestCentralCount = count }

    /// Handles the end of a link.
    ///
    /// `role` is this side's role on the link, or `nil` if the controller never reported the link's
    /// beginning.
    mutating func linkEnded(_ role: LEConnection.Role?, at now: Duration, _ actions: inout [Action]) {
        if role == .peripheral { centralCount = max(0, centralCount - 1) }
        advertiser.linkEnded(role)
        run(at: now, &actions)
    }

    /// Handles an Advertising Set Terminated event: the controller stopped a set because of a connection.
    mutating func advertisingStopped(_ handle: UInt8, at now: Duration, _ actions: inout [Action]) {
        advertiser.stopped(handle)
        run(at: now, &actions)
    }

    /// Handles the end of an attempt to connect, without a connection.
    mutating func attemptEnded(_ status: HCIStatus, at now: Duration, _ actions: inout [Action]) {
        cancelDeadline = nil
        if let failure = connector.attemptEnded(status) { actions.append(failed(failure)) }
        run(at: now, &actions)
    }

    // MARK: Periodic advertising

    /// Changes the machine that receives periodic advertising, and sends the resulting commands.
    mutating func synchronize<Result>(
        at now: Duration, _ actions: inout [Action], _ change: (inout PeriodicSynchronizer) -> Result
    ) -> Result {
        let result = change(&synchronizer)
        run(at: now, &actions)
        return result
    }

    // MARK: Time

    /// Starts to change the own address if the time for it has come.
    mutating func expireAddress(at now: Duration, _ actions: inout [Action]) {
        guard case .running = stage else { return }
        address.expire(at: now)
        guard address.needsQuiet else { return }
        hold()
        run(at: now, &actions)
    }

    /// Assumes that a cancelled attempt has ended if the controller's report is overdue.
    mutating func expireConnectionCancel(at now: Duration, _ actions: inout [Action]) {
        guard let cancelDeadline, now >= cancelDeadline else { return }
        self.cancelDeadline = nil
        connector.cancelOverdue()
        run(at: now, &actions)
    }

    // MARK: Steps

    private mutating func run(at now: Duration, _ actions: inout [Action]) {
        guard case .running = stage else { return }
        while let (handle, step) = advertiser.next() {
            let style = profile.style(prefersExtended: prefersExtendedCommands)
            guard let command = HCICommand(step, of: handle, style: style) else {
                advertiser.finished(.done)
                continue
            }
            issue(command, step.purpose, .advertiser, now, &actions)
        }
        if !advertiser.isBusy { actions.append(.settled(.advertiser)) }
        let isExclusive = !profile.states.contains(.scanningBesideInitiating)
        scanner.pause(isExclusive && connector.isActive)
        if let step = scanner.next() {
            let style = profile.style(prefersExtended: prefersExtendedCommands)
            let command = HCICommand(step, style: style, address: address.current)
            issue(command, step.purpose, .scanner, now, &actions)
        }
        if !scanner.isBusy { actions.append(.settled(.scanner)) }
        let synchronization = scanner.wanted?.synchronization ?? .none
        synchronizer.want(synchronization != .none && profile.canSynchronize)
        if let step = synchronizer.next() {
            issue(HCICommand(step), step.purpose, .synchronizer, now, &actions)
        }
        if !isExclusive || scanner.isQuiet, let step = connector.next() {
            let style = profile.style(prefersExtended: prefersExtendedCommands)
            let command = HCICommand(step, style: style, address: address.current)
            issue(command, step.purpose, .connector, now, &actions)
        }
        let isQuiet = advertiser.isQuiet && scanner.isQuiet && connector.isQuiet
        if let next = address.next(isQuiet: isQuiet) {
            issue(.setRandomAddress(next), "setting its random address", .address, now, &actions)
        }
    }

    // MARK: Errors

    private func failed(_ failure: Connector.Failure) -> Action {
        let code: RadioError.Code? =
            failure.status == .connectionLimitExceeded
            ? .connectionLimit : failure.status.isForNow ? .disconnected : nil
        let error =
            failure.step.map { refusal($0.purpose, failure.status, code ?? .protocolViolation) }
            ?? RadioError(
                code ?? .disconnected, "connecting failed: status \(failure.status.hexadecimal)",
                reason: failure.status.code)
        return .connectionsFailed(failure.numbers, error)
    }

    /// The error for a refused command; `purpose` is a verb phrase after "refused".
    func refusal(
        _ purpose: String, _ status: HCIStatus, _ code: RadioError.Code = .protocolViolation
    ) -> RadioError {
        RadioError(code, "\(name) refused \(purpose): status \(status.hexadecimal)")
    }

    /// The error for the loss of the controller.
    func loss(while purpose: String? = nil) -> RadioError {
        RadioError(
            .lost, "\(name) is gone: its transport was closed" + (purpose.map { " while \($0)" } ?? ""))
    }

    /// The error for the oldest pending command, which the controller did not answer in time.
    var timeoutError: RadioError {
        let purpose = port.oldest?.purpose
        return RadioError(
            .timedOut,
            "\(name) did not answer within \(timeout.text)" + (purpose.map { " while \($0)" } ?? ""))
    }

    private func error(of failure: BringUp.Failure) -> RadioError {
        switch failure {
        case .refused(let purpose, let status): refusal(purpose, status)
        case .hasNoLE(let why):
            RadioError(
                .noAdapter, "\(name) does not support LE: \(why)",
                remedy: "use a controller for Bluetooth 4.0 or later")
        case .tooShort(let what): RadioError(.protocolViolation, "\(name) returned no \(what)")
        }
    }
}

extension HCICommand {
    /// LE Set Random Address (Core Specification, Vol 4, Part E, 7.8.4).
    fileprivate static func setRandomAddress(_ address: DeviceAddress) -> HCICommand {
        var writer = ByteWriter(capacity: 6)
        writer.write(address)
        return HCICommand(.leSetRandomAddress, writer.bytes)
    }
}

extension HCIStatus {
    /// Whether this error of a connection attempt is temporary, so that another attempt may succeed.
    var isForNow: Bool {
        [.limitedResources, .memoryCapacityExceeded, .commandDisallowed, .connectionAlreadyExists].contains(
            self)
    }

    /// The status for messages, as in "status 0x0C".
    var hexadecimal: String { "0x\(Hex.encode([code]))" }
}
