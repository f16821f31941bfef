import MynahCore
import MynahHCI

/// Changes one advertising set of a controller until it matches the host's request.
///
/// This state machine has no I/O. Its driver gets a step from `next()`, carries it out, and passes the answer
/// to `finished`, one step at a time.
///
/// If a link begins or ends during a step, only the assumed state of the controller changes. The machine
/// returns no step that the controller would refuse in that state.
struct HostAdvertiser {
    /// The advertising parameters of a set.
    struct Parameters: Hashable {
        /// The shortest and the longest advertising interval, in units of 0.625 ms (Core Specification, Vol
        /// 4, Part E, 7.8.5).
        var interval: ClosedRange<UInt16>
        var isConnectable = true
        var isScannable = true
        /// The settings of extended advertising, or `nil` for legacy PDUs.
        var extended: Advertisement.Extended?
        /// The kind of the set's address in HCI: 0 for a public address, 1 for a random one.
        var addressKind: UInt8 = 0
        /// The Advertising SID of an extended set, 0 to 15.
        var identifier: UInt8 = 0

        /// The maximum length of the advertising data, or `nil` if a set with these parameters cannot have
        /// any.
        var dataCapacity: Int? {
            if extended == nil { return ExactAdvertisement.legacyCapacity }
            return isScannable ? nil : ExactAdvertisement.extendedCapacity
        }
    }

    /// The address with which a set is advertised.
    enum Address: Hashable {
        /// The device's current address, which may change over time.
        case ofDevice
        /// The device's identity address.
        case identity
        case own(DeviceAddress)
    }

    /// The periodic advertising of a set.
    struct Periodic: Hashable {
        /// The shortest and the longest interval, in units of 1.25 ms (7.8.61).
        var interval: ClosedRange<UInt16>
        var data: [UInt8]
    }

    /// The parameters and the data to advertise.
    struct Configuration: Hashable {
        /// The name of the set in its profile.
        var name = "1"

        /// The parameters; `addressKind` is replaced by the type of `address`.
        var parameters: Parameters
        var address = Address.ofDevice
        /// The bytes of the advertising data, without padding.
        var data: [UInt8]
        /// The bytes of the scan response, without padding.
        var scanResponse: [UInt8]
        /// The periodic advertising of the set, or `nil` if it has none.
        var periodic: Periodic?
    }

    /// The part of a payload that fits into one command (7.8.54).
    struct Fragment: Hashable {
        enum Operation: UInt8 {
            case intermediate, first, last, complete
        }

        var operation: Operation
        var bytes: [UInt8]

        /// The maximum length of the data in one command, in bytes.
        static let longest = 251

        /// Makes the next fragment of a payload, of which the controller already has the bytes `held`.
        init(of payload: [UInt8], after held: [UInt8]) {
            let isBegun = !held.isEmpty && payload.count > held.count && payload.starts(with: held)
            let rest = isBegun ? payload[held.count...] : payload[...]
            bytes = Array(rest.prefix(Self.longest))
            let isEnd = rest.count <= Self.longest
            operation = isBegun ? (isEnd ? .last : .intermediate) : (isEnd ? .complete : .first)
        }
    }

    /// One command to the controller.
    enum Step: Hashable {
        case setParameters(Parameters)
        case setAddress(DeviceAddress)
        case setData(Fragment)
        case setScanResponse(Fragment)
        case enable
        case disable
        /// Sets the range of the periodic advertising interval.
        case setPeriodicParameters(ClosedRange<UInt16>)
        case setPeriodicData(Fragment)
        case enablePeriodic
        case disablePeriodic

        /// Whether the step concerns only periodic advertising, and may be taken while the set is on.
        var isPeriodic: Bool {
            switch self {
            case .setPeriodicParameters, .setPeriodicData, .enablePeriodic, .disablePeriodic: true
            case .setParameters, .setAddress, .setData, .setScanResponse, .enable, .disable: false
            }
        }
    }

    /// The result of a request for advertising.
    enum Verdict: Hashable {
        case onAir
        /// The controller cannot advertise during a connection; the host tries again when a link ends.
        case waitsForLinkEnd
        case refused(Step, HCIStatus)
        /// A later request replaced this one.
        case replaced
        /// The controller disappeared; the request is carried out on the next controller.
        case lost
    }

    /// The parameters and data that the controller has now.
    ///
    /// A field is `nil` if it was not set since the reset, or is unknown.
    fileprivate struct Held: Hashable {
        var parameters: Parameters?
        var address: DeviceAddress?
        var data = HeldPayload()
        var scanResponse = HeldPayload()
        var periodicInterval: ClosedRange<UInt16>?
        var periodicData = HeldPayload()
        /// Whether periodic advertising is enabled.
        var isPeriodic = false
    }

    /// The state of a payload in the controller.
    fileprivate struct HeldPayload: Hashable {
        /// The complete payload, or `nil` if it is unknown.
        var whole: [UInt8]?
        /// The bytes sent so far of a payload that is not complete yet.
        var begun: [UInt8] = []

        mutating func add(_ fragment: Fragment) {
            switch fragment.operation {
            case .complete: self = HeldPayload(whole: fragment.bytes)
            case .last: self = HeldPayload(whole: begun + fragment.bytes)
            case .first: self = HeldPayload(begun: fragment.bytes)
            case .intermediate: begun += fragment.bytes
            }
        }
    }

    private enum Controller: Hashable {
        /// The host has no controller.
        case absent
        /// Advertising is off.
        case off(Held)
        /// Advertising is on.
        case on(Held)
    }

    private struct Request: Hashable {
        var number: UInt64
        var configuration: Configuration
        /// Whether the controller refused to advertise during a connection.
        var isWaiting = false
        /// Whether a step was already repeated once, because it was refused while advertising was on.
        var wasRetried = false
    }

    private struct Exchange: Hashable {
        var step: Step
        /// The number of the request for which the step was taken, or `nil` if there was none.
        var number: UInt64?
        /// Whether a link began or ended during the step, so that the controller's state afterwards is
        /// uncertain.
        var isDoubtful = false
    }

    private var controller = Controller.absent
    private var request: Request?
    /// The device's address on the air.
    private var address: DeviceAddress?
    /// The device's identity address.
    private var identity: DeviceAddress?
    private var underWay: Exchange?
    /// Whether advertising must be off, because the device's address is about to change.
    private var isHeld = false
    private var links = 0
    /// The number of connected centrals.
    private var centrals = 0
    /// The number of connected centrals at which connectable advertising stops, or `nil` for no limit.
    var largestCentralCount: Int?
    private var isFull: Bool {
        guard request?.configuration.parameters.isConnectable ?? true else { return false }
        return largestCentralCount.map { centrals >= $0 } ?? false
    }
    private var lastNumber: UInt64 = 0
    private var refusal: (number: UInt64, step: Step, status: HCIStatus)?
    private var announcement: (number: UInt64, report: AdvertisingReport)?

    /// The number of the current request, or `nil` if there is none.
    var number: UInt64? { request?.number }
    /// `true` while the controller may not match the request: a step waits for its answer, or the address is
    /// about to change.
    var isBusy: Bool { underWay != nil || isHeld }
    /// `true` if the set is on and connectable.
    var isConnectable: Bool {
        if case .on(let held) = controller { held.parameters?.isConnectable == true } else { false }
    }
    /// Whether advertising is off, and no step waits for its answer.
    var isQuiet: Bool {
        guard underWay == nil else { return false }
        if case .on = controller { return false }
        return true
    }
    /// The advertising on the air.
    ///
    /// The value is `nil` if the controller does not advertise, or if it is unknown.
    var sent: RadioMeter.Activity.Advertising? {
        guard case .on(let held) = controller, let parameters = held.parameters,
            let data = parameters.dataCapacity == nil ? [] : held.data.whole
        else { return nil }
        // In units of 0.625 ms (Core Specification, Vol 4, Part E, 7.8.5).
        var sent = RadioMeter.Activity.Advertising(
            interval: .microseconds(625 * Int(parameters.interval.lowerBound)), dataLength: data.count)
        sent.extended = parameters.extended
        sent.isAnswered = parameters.isConnectable || parameters.isScannable
        if held.isPeriodic, let interval = held.periodicInterval?.lowerBound {
            sent.train = .init(
                interval: .microseconds(1250 * Int(interval)), dataLength: held.periodicData.whole?.count ?? 0
            )
        }
        return sent
    }
    /// The report that `announce` stored for the current request, or `nil` if there is none.
    var announced: AdvertisingReport? { announcement?.report }

    /// A machine for another advertising set of the same controller, with the same address, links and limits.
    var another: HostAdvertiser {
        var other = HostAdvertiser()
        if controller != .absent { other.began(address, identity: identity) }
        (other.isHeld, other.links, other.centrals) = (isHeld, links, centrals)
        other.largestCentralCount = largestCentralCount
        return other
    }

    // MARK: Requests of the host

    /// Requests an advertisement, which replaces the previous one, and returns the number of the request.
    mutating func want(_ configuration: Configuration) -> UInt64 {
        lastNumber += 1
        request = Request(number: lastNumber, configuration: configuration)
        return lastNumber
    }

    /// Requests that nothing is advertised.
    mutating func stop() {
        request = nil
        announcement = nil
    }

    /// Stores the report of a request that is on the air, unless a later request has replaced it.
    mutating func announce(_ report: AdvertisingReport, of number: UInt64) {
        if request?.number == number { announcement = (number, report) }
    }

    /// Updates the address in the stored report.
    mutating func announceAddress() {
        let current = request.flatMap { address(of: $0.configuration) } ?? address
        announcement?.report.address = current
    }

    /// Returns the refused step because of which the advertising with the stored report is no longer on the
    /// air.
    ///
    /// The result is `nil` if there is no such step, or if it was returned before.
    mutating func takeLostAnnouncement() -> (step: Step, status: HCIStatus)? {
        guard let announcement, case .refused(let step, let status) = verdict(on: announcement.number) else {
            return nil
        }
        self.announcement = nil
        return (step, status)
    }

    /// Turns advertising off until `release`.
    ///
    /// The address cannot change while advertising is on (Vol 4, Part E, 7.8.4).
    mutating func hold() {
        isHeld = true
    }

    /// Turns advertising on again after `hold`, with the controller's new address.
    mutating func release(_ address: DeviceAddress?) {
        isHeld = false
        self.address = address
    }

    /// Returns the result of a request, after the last step.
    func verdict(on number: UInt64) -> Verdict {
        if let refusal, refusal.number == number { return .refused(refusal.step, refusal.status) }
        guard let request, request.number == number else { return .replaced }
        if controller == .absent { return .lost }
        return request.isWaiting ? .waitsForLinkEnd : .onAir
    }

    // MARK: Events of the controller

    /// Handles the end of bring-up: the controller has no data and does not advertise.
    mutating func began(_ address: DeviceAddress?, identity: DeviceAddress? = nil) {
        controller = .off(Held())
        self.address = address
        self.identity = identity
        underWay = nil
        isHeld = false
        (links, centrals) = (0, 0)
        request?.isWaiting = false
        request?.wasRetried = false
    }

    /// Handles the loss of the controller.
    mutating func ended() {
        controller = .absent
        underWay = nil
        isHeld = false
        (links, centrals) = (0, 0)
    }

    /// Handles the beginning of a link, on which this side has the given role.
    ///
    /// `isOfSet` is `true` if a central may have connected to this set. The controller has then stopped
    /// advertising the set (Vol 6, Part B, 4.4.2.4).
    mutating func linkBegan(_ role: LEConnection.Role, isOfSet: Bool = true) {
        links += 1
        if role == .peripheral { centrals += 1 }
        underWay?.isDoubtful = true
        if role == .peripheral, isOfSet { stoppedByLink() }
    }

    /// Handles a report that the controller has stopped the set because of a link.
    mutating func stoppedByLink() {
        if case .on(let held) = controller { controller = .off(held) }
    }

    /// Handles the end of a link, after which the controller may be able to advertise again.
    ///
    /// `role` is the role of this side, or `nil` if the controller never reported the link's beginning.
    mutating func linkEnded(_ role: LEConnection.Role?) {
        links = max(0, links - 1)
        if role == .peripheral { centrals = max(0, centrals - 1) }
        underWay?.isDoubtful = true
        request?.isWaiting = false
    }

    // MARK: Steps

    /// Returns the next step, or `nil` if there is nothing to do or a step waits for its answer.
    mutating func next() -> Step? {
        guard underWay == nil, let step = step() else { return nil }
        underWay = Exchange(step: step, number: request?.number)
        return step
    }

    private func step() -> Step? {
        let wanted = isHeld || isFull ? nil : request
        switch controller {
        case .absent: return nil
        case .on(let held):
            guard let wanted, held.parameters == parameters(of: wanted.configuration) else { return .disable }
            switch change(of: held, to: wanted.configuration) {
            case nil: return nil
            // While advertising is on, the controller accepts new data only in one complete fragment (7.8.7,
            // 7.8.54).
            case .setData(let fragment)? where fragment.operation == .complete: return .setData(fragment)
            case .setScanResponse(let fragment)? where fragment.operation == .complete:
                return .setScanResponse(fragment)
            case let step? where step.isPeriodic: return step
            default: return .disable
            }
        case .off(let held):
            // Periodic advertising goes on while only the address changes.
            guard let wanted else { return held.isPeriodic && request == nil ? .disablePeriodic : nil }
            if let change = change(of: held, to: wanted.configuration) { return change }
            return wanted.isWaiting ? nil : .enable
        }
    }

    /// The step for the first difference between the controller's state and a configuration, or `nil` if they
    /// match.
    private func change(of held: Held, to wanted: Configuration) -> Step? {
        let parameters = parameters(of: wanted)
        if held.isPeriodic, held.needsPause(for: wanted.periodic) { return .disablePeriodic }
        if held.parameters != parameters {
            // The controller refuses new parameters that do not allow the set's present data (7.8.53).
            let count = held.data.whole?.count ?? 0
            if count > parameters.dataCapacity ?? 0 { return .setData(Fragment(of: [], after: [])) }
            return .setParameters(parameters)
        }
        if let address = address(of: wanted), held.address != address { return .setAddress(address) }
        if parameters.dataCapacity != nil, held.data.whole != wanted.data {
            return .setData(Fragment(of: wanted.data, after: held.data.begun))
        }
        if held.scanResponse.whole != wanted.scanResponse {
            return .setScanResponse(Fragment(of: wanted.scanResponse, after: held.scanResponse.begun))
        }
        return wanted.periodic.flatMap { held.change(to: $0) }
    }

    /// The parameters with the type of the set's current address.
    private func parameters(of wanted: Configuration) -> Parameters {
        var parameters = wanted.parameters
        parameters.addressKind = address(of: wanted)?.kindCode ?? 0
        return parameters
    }

    /// Returns the set's current address, or `nil` if it is not known yet.
    func address(of wanted: Configuration) -> DeviceAddress? {
        switch wanted.address {
        case .ofDevice: address
        case .identity: identity ?? address
        case .own(let address): address
        }
    }

    /// Handles the answer to the current step.
    mutating func finished(_ outcome: CommandOutcome) {
        guard let exchange = underWay else { return }
        underWay = nil
        let held: Held
        switch controller {
        case .absent: return
        case .off(let known), .on(let known): held = known
        }
        switch outcome {
        case .done: done(exchange, held)
        case .refused(let status): refused(exchange, status, held)
        }
    }

    private mutating func done(_ exchange: Exchange, _ held: Held) {
        var held = held
        switch exchange.step {
        case .setParameters(let parameters):
            held.parameters = parameters
            // The parameters may have created a new advertising set, which has no address.
            held.address = nil
        case .setAddress(let address): held.address = address
        case .setData(let fragment):
            held.data.add(fragment)
            return keepState(with: held)
        case .setScanResponse(let fragment):
            held.scanResponse.add(fragment)
            return keepState(with: held)
        case .setPeriodicParameters(let interval):
            held.periodicInterval = interval
            return keepState(with: held)
        case .setPeriodicData(let fragment):
            held.periodicData.add(fragment)
            return keepState(with: held)
        case .enablePeriodic, .disablePeriodic:
            held.isPeriodic = exchange.step == .enablePeriodic
            return keepState(with: held)
        case .disable: break
        case .enable:
            // The link may have ended advertising. Enabling or disabling it again is harmless (Vol 4, Part E,
            // 7.8.9).
            controller = exchange.isDoubtful && !isFull ? .off(held) : .on(held)
            return
        }
        controller = .off(held)
    }

    private mutating func keepState(with held: Held) {
        if case .on = controller { controller = .on(held) } else { controller = .off(held) }
    }

    private mutating func refused(_ exchange: Exchange, _ status: HCIStatus, _ held: Held) {
        guard let request, request.number == exchange.number else {
            // The request was replaced or withdrawn, and the data in the controller is unknown now.
            return keepState(with: Held())
        }
        switch exchange.step {
        case .disable:
            // If advertising is on after all, the answer to the next step shows it.
            controller = .off(held)
        case .enable where exchange.isDoubtful:
            break
        case .enable where links > 0 && Self.cannotDoBoth.contains(status):
            self.request?.isWaiting = true
        case .setParameters, .setAddress, .setData, .setScanResponse:
            guard status == .commandDisallowed, !request.wasRetried else {
                return giveUp(request, exchange.step, status)
            }
            // The step was refused because advertising is on (7.8.5): disable it, and repeat the step once.
            self.request?.wasRetried = true
            controller = .on(Held())
        case .disablePeriodic:
            var held = held
            held.isPeriodic = false
            keepState(with: held)
        case .enable, .setPeriodicParameters, .setPeriodicData, .enablePeriodic:
            giveUp(request, exchange.step, status)
        }
    }

    private mutating func giveUp(_ request: Request, _ step: Step, _ status: HCIStatus) {
        refusal = (request.number, step, status)
        self.request = nil
        keepState(with: Held())
    }

    /// The error codes of a controller that cannot advertise during a connection.
    private static let cannotDoBoth: Set<HCIStatus> = [
        .commandDisallowed, .connectionLimitExceeded, .limitedResources, .memoryCapacityExceeded,
    ]
}

extension HostAdvertiser.Held {
    /// Whether periodic advertising must be disabled before it can be changed to `periodic`.
    ///
    /// While it is enabled, only data that fits in one command can be set (7.8.62).
    fileprivate func needsPause(for periodic: HostAdvertiser.Periodic?) -> Bool {
        guard let periodic else { return true }
        let isLong = periodic.data.count > HostAdvertiser.Fragment.longest
        return periodicInterval != periodic.interval || isLong && periodicData.whole != periodic.data
    }

    /// Returns the next step that changes the periodic advertising as requested, or `nil` if no step is left.
    fileprivate func change(to periodic: HostAdvertiser.Periodic) -> HostAdvertiser.Step? {
        if periodicInterval != periodic.interval { return .setPeriodicParameters(periodic.interval) }
        if periodicData.whole != periodic.data {
            return .setPeriodicData(.init(of: periodic.data, after: periodicData.begun))
        }
        return isPeriodic ? nil : .enablePeriodic
    }
}
