import MynahCore

/// Keeps the advertisement that bluetoothd has registered in step with the requested one.
///
/// This state machine does no I/O. Its driver asks `next(at:)` for a step, carries it out, and reports the
/// answer to a registration with `registered` or `refused`, one step at a time.
///
/// bluetoothd does not confirm a live change. Version 5.66 terminates if an advertisement is unregistered
/// during a live change, so an unregistration waits for `settlingTime` after a change.
struct AdvertisementMachine {
    /// One exchange with bluetoothd.
    enum Step: Hashable {
        /// Nothing is to be done before the next event.
        case rest
        case register(BlueZAdvertising)
        case unregister
        /// Send the changed properties in one signal.
        case change(from: BlueZAdvertising, to: BlueZAdvertising)
        /// Call `next(at:)` again after this time.
        case wait(Duration)
    }

    /// The consequence of a refused registration.
    enum Refusal: Hashable {
        /// bluetoothd never accepted the advertisement, and its request is withdrawn.
        case givenUp
        /// bluetoothd accepted the advertisement before.
        ///
        /// Nothing is on the air until a link ends or the adapter is back. The machine then registers it
        /// again.
        case postponed
        /// The adapter was turned off or disappeared during the registration, which is repeated when the
        /// adapter is back.
        case overtaken
    }

    private enum Adapter {
        case absent
        case present
    }

    /// An event during a registration.
    private enum Interruption: Hashable {
        /// A central connected, so the kernel stopped advertising.
        case linkBegan
        /// The adapter was turned off, which may be the reason for a refusal.
        case poweredOff
        /// bluetoothd or the adapter disappeared, so the answer says nothing about the next registration.
        case lost
    }

    /// The advertisement that bluetoothd holds.
    private enum Registration: Hashable {
        case none
        /// The driver waits for the answer to RegisterAdvertisement.
        case underWay(BlueZAdvertising, Interruption?)
        /// The advertisement is on the air.
        ///
        /// `changedAt` is the time of the last live change, or `nil` if there was none.
        case onAir(BlueZAdvertising, changedAt: Duration?)
        /// bluetoothd has the advertisement, but the kernel has stopped advertising.
        case offAir(BlueZAdvertising, changedAt: Duration?)
    }

    private struct Request: Hashable {
        var advertising: BlueZAdvertising
        /// Whether bluetoothd has accepted the advertisement, or one that it replaced.
        var isProven = false
        /// Whether bluetoothd refused or released the advertisement.
        ///
        /// A new attempt follows after a link ends or the adapter is back.
        var isWaiting = false
    }

    /// The longest time that bluetoothd needs for a live change: usually milliseconds, but more on a slow
    /// machine.
    static let settlingTime: Duration = .milliseconds(300)

    private var adapter = Adapter.absent
    private var registration = Registration.none
    private var request: Request?
    /// Whether the driver was told to report silence, and no return to the air since.
    private var isReportedSilent = false

    /// The requested advertisement, or `nil` if there is none.
    var wanted: BlueZAdvertising? { request?.advertising }

    /// The advertisement that bluetoothd has registered, or `nil` if there is none.
    var held: BlueZAdvertising? {
        switch registration {
        case .none, .underWay: nil
        case .onAir(let advertising, _), .offAir(let advertising, _): advertising
        }
    }

    /// Whether nothing is requested, registered or being registered.
    var isIdle: Bool { request == nil && registration == .none }

    /// Whether a central can connect to the advertisement that is registered or being registered.
    var isConnectable: Bool {
        switch registration {
        case .none: false
        case .underWay(let advertising, _), .onAir(let advertising, _), .offAir(let advertising, _):
            advertising.advertisement.isConnectable
        }
    }

    // MARK: Requests

    /// Requests an advertisement, which replaces the previous one.
    mutating func want(_ advertising: BlueZAdvertising) {
        request = Request(advertising: advertising, isProven: request?.isProven ?? false)
    }

    /// Requests that nothing is advertised.
    mutating func stop() {
        request = nil
    }

    // MARK: Events

    /// Notes that a central connected, so the kernel has stopped advertising.
    mutating func linkBegan() {
        switch registration {
        case .none, .offAir: break
        case .underWay(let advertising, nil): registration = .underWay(advertising, .linkBegan)
        case .underWay: break
        case .onAir(let advertising, let changedAt):
            registration = .offAir(advertising, changedAt: changedAt)
        }
    }

    /// Notes that a link ended, after which the controller may have room for a refused advertisement.
    mutating func linkEnded() {
        request?.isWaiting = false
    }

    /// Notes that bluetoothd and the adapter can be used.
    mutating func reached() {
        adapter = .present
        request?.isWaiting = false
    }

    /// Notes that the adapter was turned off: bluetoothd keeps the advertisement, but the kernel does not.
    mutating func poweredOff() {
        adapter = .absent
        switch registration {
        case .none, .offAir, .underWay(_, .lost): break
        case .underWay(let advertising, _): registration = .underWay(advertising, .poweredOff)
        case .onAir(let advertising, let changedAt):
            registration = .offAir(advertising, changedAt: changedAt)
        }
    }

    /// Notes that bluetoothd or the adapter disappeared, and the registration with it.
    mutating func lost() {
        adapter = .absent
        if case .underWay(let advertising, _) = registration {
            registration = .underWay(advertising, .lost)
        } else {
            registration = .none
        }
    }

    /// Notes that bluetoothd released the advertisement by itself; it is not registered again at once.
    ///
    /// Returns whether bluetoothd had registered one.
    mutating func released() -> Bool {
        guard held != nil else { return false }
        registration = .none
        request?.isWaiting = true
        isReportedSilent = true
        return true
    }

    // MARK: Steps

    /// Returns the next step, which counts as started unless it is `rest` or `wait`.
    mutating func next(at now: Duration) -> Step {
        guard adapter == .present else { return .rest }
        switch (registration, request) {
        case (.underWay, _), (.none, nil):
            return .rest
        case (.none, let request?):
            guard !request.isWaiting else { return .rest }
            registration = .underWay(request.advertising, nil)
            return .register(request.advertising)
        case (.onAir(let old, _), let request?) where request.advertising.isLiveChange(of: old):
            let new = request.advertising
            guard old != new else { return .rest }
            registration = .onAir(new, changedAt: now)
            return .change(from: old, to: new)
        case (.onAir(_, let changedAt), _), (.offAir(_, let changedAt), _):
            if let changedAt, now - changedAt < Self.settlingTime {
                return .wait(Self.settlingTime - (now - changedAt))
            }
            registration = .none
            return .unregister
        }
    }

    /// Notes that bluetoothd accepted the registration.
    ///
    /// Returns the advertisement if the driver must report its return to the air.
    mutating func registered() -> BlueZAdvertising? {
        guard case .underWay(let advertising, let interruption) = registration else { return nil }
        switch interruption {
        case .lost:
            registration = .none
            return nil
        case .linkBegan, .poweredOff: registration = .offAir(advertising, changedAt: nil)
        case nil: registration = .onAir(advertising, changedAt: nil)
        }
        request?.isProven = true
        defer { isReportedSilent = false }
        return isReportedSilent ? advertising : nil
    }

    /// Notes that bluetoothd refused the registration, and returns the consequence.
    mutating func refused() -> Refusal {
        guard case .underWay(_, let interruption) = registration else { return .overtaken }
        registration = .none
        guard let request, request.isProven else {
            self.request = nil
            return .givenUp
        }
        guard interruption == nil || interruption == .linkBegan else { return .overtaken }
        self.request?.isWaiting = true
        isReportedSilent = true
        return .postponed
    }
}
