import MynahCore
import MynahHCI

/// Makes a controller initiate the requested connections.
///
/// This state machine has no I/O. A controller initiates one connection at a time, to one address or to any
/// address in its filter accept list (Core Specification, Vol 4, Part E, 7.8.12). So a further request
/// cancels the current attempt and starts one for all addresses: a peripheral that never appears does not
/// block the others.
struct Connector {
    /// One command to the controller.
    enum Step: Hashable {
        case clearAcceptList
        case accept(DeviceAddress)
        /// Initiate to one address, or to those in the filter accept list if the address is `nil`.
        case create(DeviceAddress?)
        /// Cancel the attempt; the controller then reports that the attempt ended.
        case cancel
    }

    /// A requested connection.
    struct Request: Hashable {
        var number: UInt64
        /// The peripheral's identity address, or its only known address.
        var address: DeviceAddress
        /// The address with which the peripheral advertises now.
        var onAir: DeviceAddress
    }

    /// Requests that failed.
    struct Failure: Hashable {
        var numbers: [UInt64]
        var status: HCIStatus
        /// The step that the controller refused, or `nil` if the attempt to connect began and failed.
        var step: Step?
    }

    private enum Controller: Hashable {
        /// No controller is available.
        case absent
        case idle
        /// The addresses are being added to the filter accept list.
        ///
        /// `done` is the number of addresses in the list, or `nil` before the list is cleared.
        case filling([DeviceAddress], done: Int?)
        /// The command to initiate was sent to the controller, which has not answered it yet.
        case asked([DeviceAddress])
        case initiating([DeviceAddress])
        /// The command to cancel was sent, and the controller has not reported the end of the attempt yet.
        case cancelling
    }

    /// The largest number of addresses in one attempt: the filter accept list of any controller holds eight.
    static let limit = 8

    private var controller = Controller.absent
    private var requests: [Request] = []
    private var underWay: Step?
    private var isHeld = false
    private var lastNumber: UInt64 = 0

    /// The addresses of the requested connections.
    var addresses: [DeviceAddress] { requests.map(\.address) }
    /// Whether the controller does not initiate, and no command waits for its answer.
    var isQuiet: Bool { underWay == nil && (controller == .idle || controller == .absent) }
    /// Whether the controller initiates.
    var isInitiating: Bool { if case .initiating = controller { true } else { false } }
    /// Whether the controller has not yet reported the end of a cancelled attempt.
    var isCancelling: Bool { controller == .cancelling }

    /// Whether a connection is requested, or the controller initiates.
    var isActive: Bool { !requests.isEmpty || !isQuiet }

    func wants(_ address: DeviceAddress) -> Bool { requests.contains { $0.address == address } }

    // MARK: Requests of the host

    /// Requests a connection, and returns the number of the request.
    mutating func want(_ address: DeviceAddress, onAir: DeviceAddress) -> UInt64 {
        lastNumber += 1
        requests.append(Request(number: lastNumber, address: address, onAir: onAir))
        return lastNumber
    }

    /// Adds a request again, because its connection was lost before the peripheral sent anything.
    mutating func wantAgain(_ request: Request) {
        requests.append(request)
    }

    /// Withdraws a request; returns `false` if there is no such request any longer.
    mutating func giveUp(_ number: UInt64) -> Bool {
        guard let index = requests.firstIndex(where: { $0.number == number }) else { return false }
        requests.remove(at: index)
        return true
    }

    /// Sets the address with which the peripheral of a request advertises; `nil` means its identity address.
    mutating func moved(_ address: DeviceAddress, to onAir: DeviceAddress?) {
        for index in requests.indices where requests[index].address == address {
            requests[index].onAir = onAir ?? address
        }
    }

    /// Stops initiating until `release`.
    ///
    /// The own address cannot change while the controller initiates (Vol 4, Part E, 7.8.4).
    mutating func hold() {
        isHeld = true
    }

    /// Lets the controller initiate again after `hold`.
    mutating func release() {
        isHeld = false
    }

    // MARK: Events of the controller

    /// Handles the end of bring-up: the controller is available and does not initiate.
    mutating func began() {
        controller = .idle
        underWay = nil
        isHeld = false
    }

    /// Handles the loss of the controller; returns the numbers of the requests, which have failed.
    mutating func ended() -> [UInt64] {
        defer { requests = [] }
        controller = .absent
        underWay = nil
        return requests.map(\.number)
    }

    /// Handles a new connection; returns the request for it, or `nil` if there is none.
    mutating func connected(to address: DeviceAddress) -> Request? {
        if controller != .absent { controller = .idle }
        return fulfil(address)
    }

    /// Removes and returns the request for a device that is connected now, or `nil` if there is none.
    ///
    /// The device itself may have connected, as a central.
    mutating func fulfil(_ address: DeviceAddress) -> Request? {
        guard let index = requests.firstIndex(where: { $0.address == address || $0.onAir == address }) else {
            return nil
        }
        return requests.remove(at: index)
    }

    /// Handles the end of an attempt to connect, without a connection.
    ///
    /// Returns the requests that failed because of it, or `nil` if there are none. If the attempt was
    /// cancelled, no request fails.
    mutating func attemptEnded(_ status: HCIStatus) -> Failure? {
        defer { if controller != .absent { controller = .idle } }
        switch controller {
        case .asked(let targets), .initiating(let targets): return fail(targets, status, nil)
        case .absent, .idle, .filling, .cancelling: return nil
        }
    }

    /// Assumes that a cancelled attempt has ended, because the controller did not report its end in time.
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

    /// The next step, or `nil` if there is nothing to do or a step is waiting for its answer.
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
        // A refused cancellation means that a connection was made first, which the controller will report.
        case (.cancelling, _), (.absent, _), (.idle, _), (.initiating, _): break
        }
        return nil
    }
}
