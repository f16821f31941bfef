import MynahCore
import MynahHCI

/// Changes a controller's advertising until it matches the host's request.
///
/// A machine without I/O. Its driver asks `next()` for a step, carries it out, and reports the answer with
/// `finished`, one step at a time. A link that begins or ends in between changes only the assumed state of
/// the controller, so no step is sent that the controller would refuse.
struct HostAdvertiser {
    /// The parameters and the data to advertise.
    struct Configuration: Hashable {
        /// Advertising interval, in units of 0.625 ms (Core Specification, Vol 4, Part E, 7.8.5).
        var interval: UInt16
        /// ADV_IND, or ADV_SCAN_IND if centrals cannot connect.
        var isConnectable: Bool
        /// The bytes of the advertising data, without padding.
        var data: [UInt8]
        /// The bytes of the scan response, without padding.
        var scanResponse: [UInt8]
    }

    /// One exchange with the controller.
    enum Step: Hashable {
        case setParameters(interval: UInt16, isConnectable: Bool)
        case setAddress(DeviceAddress)
        case setData([UInt8])
        case setScanResponse([UInt8])
        case enable
        case disable
    }

    /// The outcome of a request, after the last step.
    enum Verdict: Hashable {
        case onAir
        /// The controller cannot advertise while it is connected, and is asked again when a link ends.
        case waitsForLinkEnd
        case refused(Step, HCIStatus)
        /// A later request took its place.
        case replaced
        /// The controller is gone; the request is carried out on the next one.
        case lost
    }

    /// The parameters and data set in the controller since its reset.
    ///
    /// A field is `nil` if it was not set or is unknown.
    private struct Held: Hashable {
        var interval: UInt16?
        var isConnectable: Bool?
        var address: DeviceAddress?
        var data: [UInt8]?
        var scanResponse: [UInt8]?
    }

    private enum Controller: Hashable {
        /// There is no controller.
        case absent
        /// Advertising is off.
        case off(Held)
        /// Advertising is on.
        case on(Held)
    }

    private struct Request: Hashable {
        var number: UInt64
        var configuration: Configuration
        /// The controller refused to advertise while it was connected.
        var isWaiting = false
        /// A step was refused because advertising was on after all, and was tried once more.
        var wasRetried = false
    }

    private struct Exchange: Hashable {
        var step: Step
        /// The request that it serves, or `nil` if none.
        var number: UInt64?
        /// A link began or ended meanwhile: which came first is not known.
        var isDoubtful = false
    }

    private var controller = Controller.absent
    private var request: Request?
    private var address: DeviceAddress?
    private var underWay: Exchange?
    /// Advertising is off for as long as the address changes.
    private var isHeld = false
    private var links = 0
    /// How many centrals are connected.
    private var centrals = 0
    /// With how many centrals nothing is advertised, or `nil` if that has no limit.
    var largestCentralCount: Int?
    private var isFull: Bool { largestCentralCount.map { centrals >= $0 } ?? false }
    private var lastNumber: UInt64 = 0
    private var refusal: (number: UInt64, step: Step, status: HCIStatus)?
    private var announcement: (number: UInt64, report: AdvertisingReport)?

    /// The number of the request that is to be on the air, or `nil` if nothing is.
    var number: UInt64? { request?.number }
    /// `true` while the controller does not yet match the request: a step waits for its answer, or the
    /// address is about to change.
    var isBusy: Bool { underWay != nil || isHeld }
    /// Whether nothing is on and nothing is under way.
    var isQuiet: Bool {
        guard underWay == nil else { return false }
        if case .on = controller { return false }
        return true
    }
    /// The interval and length of data that the controller advertises now, or `nil` if it does not advertise
    /// or that is unknown.
    var sent: (interval: UInt16, dataLength: Int)? {
        guard case .on(let held) = controller, let interval = held.interval, let data = held.data else {
            return nil
        }
        return (interval, data.count)
    }
    /// The last report, or `nil` if it said that nothing is advertised.
    var announced: AdvertisingReport? { announcement?.report }

    // MARK: Requests of the host

    /// Asks for an advertisement in place of any other, and returns the number of the request.
    mutating func want(_ configuration: Configuration) -> UInt64 {
        lastNumber += 1
        request = Request(number: lastNumber, configuration: configuration)
        return lastNumber
    }

    /// Asks for silence.
    mutating func stop() {
        request = nil
        announcement = nil
    }

    /// Notes the report about a request, unless a later request has replaced it.
    mutating func announce(_ report: AdvertisingReport, of number: UInt64) {
        if request?.number == number { announcement = (number, report) }
    }

    /// Notes the address that the announced advertisement has now.
    mutating func announceAddress(_ address: DeviceAddress?) {
        announcement?.report.address = address
    }

    /// Returns, once, why the advertisement that was announced is not on the air any more.
    mutating func takeLostAnnouncement() -> (step: Step, status: HCIStatus)? {
        guard let announcement, case .refused(let step, let status) = verdict(on: announcement.number) else {
            return nil
        }
        self.announcement = nil
        return (step, status)
    }

    /// Switches advertising off until `release`, because the address may not change while it is on (Vol 4,
    /// Part E, 7.8.4).
    mutating func hold() {
        isHeld = true
    }

    /// Goes on after `hold`, with the address that the controller has now.
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

    /// Notes that the controller was reset and brought up, has no data and does not advertise.
    mutating func began(_ address: DeviceAddress?) {
        controller = .off(Held())
        self.address = address
        underWay = nil
        isHeld = false
        (links, centrals) = (0, 0)
        request?.isWaiting = false
        request?.wasRetried = false
    }

    /// The controller is gone.
    mutating func ended() {
        controller = .absent
        underWay = nil
        isHeld = false
        (links, centrals) = (0, 0)
    }

    /// A link began, and if a central made it, the controller has stopped advertising (Vol 6, Part B,
    /// 4.4.2.4).
    mutating func linkBegan(_ role: LEConnection.Role) {
        links += 1
        if role == .peripheral { centrals += 1 }
        underWay?.isDoubtful = true
        if role == .peripheral, case .on(let held) = controller { controller = .off(held) }
    }

    /// A link ended, in which this side had a role, if it was ever reported: a controller that could not
    /// advertise during it may be able to now.
    mutating func linkEnded(_ role: LEConnection.Role?) {
        links = max(0, links - 1)
        if role == .peripheral { centrals = max(0, centrals - 1) }
        underWay?.isDoubtful = true
        request?.isWaiting = false
    }

    // MARK: Steps

    /// The next step, or `nil` if there is nothing to do or one is under way.
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
            guard let wanted else { return .disable }
            return change(of: held, to: wanted.configuration) == nil ? nil : .disable
        case .off(let held):
            guard let wanted else { return nil }
            if let change = change(of: held, to: wanted.configuration) { return change }
            return wanted.isWaiting ? nil : .enable
        }
    }

    /// The first thing that the controller does not hold yet, or `nil` if it holds everything.
    private func change(of held: Held, to wanted: Configuration) -> Step? {
        if held.interval != wanted.interval || held.isConnectable != wanted.isConnectable {
            return .setParameters(interval: wanted.interval, isConnectable: wanted.isConnectable)
        }
        if let address, held.address != address { return .setAddress(address) }
        if held.data != wanted.data { return .setData(wanted.data) }
        if held.scanResponse != wanted.scanResponse { return .setScanResponse(wanted.scanResponse) }
        return nil
    }

    /// Takes the answer to the step under way.
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
        case .setParameters(let interval, let isConnectable):
            held.interval = interval
            held.isConnectable = isConnectable
            // An advertising set may be new with its parameters.
            held.address = nil
        case .setAddress(let address): held.address = address
        case .setData(let data): held.data = data
        case .setScanResponse(let data): held.scanResponse = data
        case .disable: break
        case .enable:
            // The link may have ended advertising. To enable or disable it twice does no harm (Vol 4, Part E,
            // 7.8.9).
            controller = exchange.isDoubtful && !isFull ? .off(held) : .on(held)
            return
        }
        controller = .off(held)
    }

    private mutating func refused(_ exchange: Exchange, _ status: HCIStatus, _ held: Held) {
        guard let request, request.number == exchange.number else {
            // The request was withdrawn. The command may have left any state in the controller.
            controller = .off(Held())
            return
        }
        switch exchange.step {
        case .disable:
            // If advertising is on after all, the next step shows it.
            controller = .off(held)
        case .enable where exchange.isDoubtful:
            break
        case .enable where links > 0 && Self.cannotDoBoth.contains(status):
            self.request?.isWaiting = true
        case .setParameters, .setAddress, .setData, .setScanResponse:
            guard status == .commandDisallowed, !request.wasRetried else {
                return giveUp(request, exchange.step, status)
            }
            // Refused because advertising is on (7.8.5): switch it off, and try once more.
            self.request?.wasRetried = true
            controller = .on(Held())
        case .enable:
            giveUp(request, exchange.step, status)
        }
    }

    private mutating func giveUp(_ request: Request, _ step: Step, _ status: HCIStatus) {
        refusal = (request.number, step, status)
        self.request = nil
        controller = .off(Held())
    }

    /// The error codes of controllers that cannot advertise during their connections.
    private static let cannotDoBoth: Set<HCIStatus> = [
        .commandDisallowed, .connectionLimitExceeded, .limitedResources, .memoryCapacityExceeded,
    ]
}
