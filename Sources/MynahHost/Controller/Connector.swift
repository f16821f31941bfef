import MynahCore
import MynahHCI

/// Changes what a controller initiates until it matches the requested connections.
///
/// A machine without I/O. A controller initiates once at a time, for one address or for all in its filter
/// accept list (Core Specification, Vol 4, Part E, 7.8.12). So a further request cancels the current attempt,
/// and starts another one for all addresses: a peripheral that never appears does not block the others.
struct Connector {
    /// One exchange with the controller.
    enum Step: Hashable {
        case clearAcceptList
        case accept(DeviceAddress)
        /// Initiate to one address, or to those in the filter accept list if it is `nil`.
        case create(DeviceAddress?)
        /// The controller then reports the end of the attempt.
        case cancel
    }

    /// A requested connection.
    struct Request: Hashable {
        var number: UInt64
        /// The peripheral's identity, or the only address that is known of it.
        var address: DeviceAddress
        /// The address that it uses now.
        var onAir: DeviceAddress
    }

    /// Requests that failed.
    struct Failure: Hashable {
        var numbers: [UInt64]
        var status: HCIStatus
        /// The step that the controller refused, or `nil` if the attempt itself ended.
        var step: Step?
    }

    private enum Controller: Hashable {
        /// There is no controller.
        case absent
        case idle
        /// The filter accept list is being filled with addresses. `done` counts those that it has, or is
        /// `nil` before the list is emptied.
        case filling([DeviceAddress], done: Int?)
        /// The controller was asked to initiate, and has not answered.
        case asked([DeviceAddress])
        case initiating([DeviceAddress])
        /// The controller was asked to stop, and has not reported the end yet.
        case cancelling
    }

    /// How many addresses are wanted at once; every controller's filter accept list has room for eight.
    static let limit = 8

    private var controller = Controller.absent
    private var requests: [Request] = []
    private var underWay: Step?
    private var isHeld = false
    private var lastNumber: UInt64 = 0

    /// The addresses of the requested connections.
    var addresses: [DeviceAddress] { requests.map(\.address) }
    /// Whether nothing is on and nothing is under way.
    var isQuiet: Bool { underWay == nil && (controller == .idle || controller == .absent) }
    /// Whether the controller listens for a peripheral.
    var isInitiating: Bool { if case .initiating = controller { true } else { false } }
    /// Whether the controller has yet to report that it stopped.
    var isCancelling: Bool { controller == .cancelling }

    /// Whether the controller initiates, or is to.
    var isActive: Bool { !requests.isEmpty || !isQuiet }

    func wants(_ address: DeviceAddress) -> Bool { requests.contains { $0.address == address } }

    // MARK: Requests of the host

    /// Asks for a connection, and returns the number of the request.
    mutating func want(_ address: DeviceAddress, onAir: DeviceAddress) -> UInt64 {
        lastNumber += 1
        requests.append(Request(number: lastNumber, address: address, onAir: onAir))
        return lastNumber
    }

    /// Asks again for a connection that ended before the peripheral was heard.
    mutating func wantAgain(_ request: Request) {
        requests.append(request)
    }

    /// Gives a request up, and returns whether it was still open.
    mutating func giveUp(_ number: UInt64) -> Bool {
        guard let index = requests.firstIndex(where: { $0.number == number }) else { return false }
        requests.remove(at: index)
        return true
    }

    /// A peripheral uses another address now, or its identity address if `onAir` is `nil`.
    mutating func moved(_ address: DeviceAddress, to onAir: DeviceAddress?) {
        for index in requests.indices where requests[index].address == address {
            requests[index].onAir = onAir ?? address
        }
    }

    /// Stops initiating until `release`, because the address may not change meanwhile (Vol 4, Part E, 7.8.4).
    mutating func hold() {
        isHeld = true
    }

    /// Goes on after `hold`.
    mutating func release() {
        isHeld = false
    }

    // MARK: Events of the controller

    /// Notes that the controller was reset and brought up, and does not initiate.
    mutating func began() {
        controller = .idle
        underWay = nil
        isHeld = false
    }

    /// Notes that the controller is gone, and returns the requests, which cannot be fulfilled any more.
    mutating func ended() -> [UInt64] {
        defer { requests = [] }
        controller = .absent
        underWay = nil
        return requests.map(\.number)
    }

    /// A connection was made; returns the request that it fulfils, or `nil` if there is no such request.
    mutating func connected(to address: DeviceAddress) -> Request? {
        if controller != .absent { controller = .idle }
        return fulfil(address)
    }

    /// Returns the request that a link to a device fulfils, or `nil` if there is no such request.
    ///
    /// The device may have made the link.
    mutating func fulfil(_ address: DeviceAddress) -> Request? {
        guard let index = requests.firstIndex(where: { $0.address == address || $0.onAir == address }) else {
            return nil
        }
        return requests.remove(at: index)
    }

    /// The attempt ended without a connection; returns the requests that failed, or `nil` if it was
    /// cancelled.
    mutating func attemptEnded(_ status: HCIStatus) -> Failure? {
        defer { if controller != .absent { controller = .idle } }
        switch controller {
        case .asked(let targets), .initiating(let targets): return fail(targets, status, nil)
        case .absent, .idle, .filling, .cancelling: return nil
        }
    }

    /// Assumes that the controller has stopped, because it did not report so in time.
    mutating func cancelOverdue() {
        if controller == .cancelling, underWay == nil { controller = .idle }
    }

    private mutating func fail(
        _ targets: [DeviceAddress], _ status: HCIStatus, _ step: Step?
    ) -> Failure? {
        let failed = requests.filter { targets.contains($0.onAir) }.map(\.number)
        requests.removeAll { failed.contains($0.number) }
        return failed.isEmpty ? nil : Failure(numbers: failed, status: status, step: step)
    }

    // MARK: Steps

    /// The next step, or `nil` if there is nothing to do or one is under way.
    mutating func next() -> Step? {
        guard underWay == nil else { return nil }
        let targets = isHeld ? [] : requests.prefix(Self.limit).map(\.onAir)
        if case .filling(let filled, _) = controller, filled != targets { controller = .idle }
        underWay = step(to: targets)
        return underWay
    }

    private mutating func step(to targets: [DeviceAddress]) -> Step? {
        switch controller {
        case .absent, .asked, .cancelling: return nil
        case .idle:
            guard let first = targets.first else { return nil }
            guard targets.count > 1 else {
                controller = .asked(targets)
                return .create(first)
            }
            controller = .filling(targets, done: nil)
            return .clearAcceptList
        case .filling(let targets, let done):
            guard let done, done < targets.count else {
                controller = .asked(targets)
                return .create(nil)
            }
            return .accept(targets[done])
        case .initiating(let under):
            guard under != targets else { return nil }
            controller = .cancelling
            return .cancel
        }
    }

    /// Handles the answer to the current step; returns the requests that failed with it, or `nil` if none
    /// did.
    mutating func finished(_ outcome: CommandOutcome) -> Failure? {
        guard let step = underWay else { return nil }
        underWay = nil
        switch (controller, outcome) {
        case (.filling(let targets, let done), .done):
            controller = .filling(targets, done: done.map { $0 + 1 } ?? 0)
        case (.asked(let targets), .done): controller = .initiating(targets)
        case (.filling(let targets, _), .refused(let status)), (.asked(let targets), .refused(let status)):
            controller = .idle
            return fail(targets, status, step)
        // A refused cancellation means that the connection was made first. Its report is on the way.
        case (.cancelling, _), (.absent, _), (.idle, _), (.initiating, _): break
        }
        return nil
    }
}
