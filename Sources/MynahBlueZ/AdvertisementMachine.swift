import MynahCore

/// Decides how to register the requested advertisement with bluetoothd, and how to replace the registered
/// one.
///
/// This state machine does no I/O. Its driver asks `next(at:)` for a step, carries it out, and reports the
/// answer to a registration with `registered` or `refused`, one step at a time.
///
/// A live change replaces the properties of the registered advertisement in one signal, which bluetoothd does
/// not confirm. Version 5.66 terminates if an advertisement is unregistered during a live change, so an
/// unregistration waits for `settlingTime` after a change.
struct AdvertisementMachine {
    /// One exchange with bluetoothd.
    enum Step: Hashable {
        /// There is nothing to do before the next event.
        case rest
        case register(BlueZAdvertising)
        case unregister
        /// Send the changed properties in one signal.
        case change(from: BlueZAdvertising, to: BlueZAdvertising)
        /// Call `next(at:)` again after this time.
        case wait(Duration)
    }

    /// The consequence of a refused registration for the request.
    enum Refusal: Hashable {
        /// bluetoothd never accepted the advertisement, and its request is withdrawn.
        case givenUp
        /// bluetoothd accepted the advertisement before.
        ///
        /// Nothing is advertised until a link ends or the adapter can be used again. The machine then
        /// registers the advertisement again.
        case postponed
        /// The adapter was turned off or disappeared during the registration, which is repeated when the
        /// adapter can be used again.
        case overtaken
    }

    private enum Adapter {
        case absent
        case present
    }

    /// An event that occurred while the driver waited for the answer to a registration.
    private enum Interruption: Hashable {
        /// A central connected, so the kernel stopped advertising.
        case linkBegan
        /// The adapter was turned off, which may be the reason for a refusal.
        case poweredOff
        /// bluetoothd or the adapter disappeared, so that the answer to the registration is ignored.
        case lost
    }

    /// The state of the registration of an advertisement with bluetoothd.
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
        /// Whether bluetoothd has accepted this advertisement, or an earlier one that it replaces.
        var isProven = false
        /// Whether bluetoothd refused or released the advertisement.
        ///
        /// A new attempt follows after a link ends or the adapter can be used again.
        var isWaiting = false
    }

    /// The longest time that bluetoothd needs for a live change.
    ///
    /// Usually it needs milliseconds, but more on a slow machine.
    static let settlingTime: Duration = .milliseconds(300)

    private var adapter = Adapter.absent
    private var registration = Registration.none
    private var request: Request?
    /// Whether the last report was that nothing is advertised.
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

    /// Handles a new link to a central, for which the kernel has stopped advertising.
    mutating func linkBegan() {
        switch registration {
        case .none, .offAir: break
        case .underWay(let advertising, nil): registration = .underWay(advertising, .linkBegan)
        case .underWay: break
        case .onAir(let advertising, let changedAt):
            registration = .offAir(advertising, changedAt: changedAt)
        }
    }

    /// Handles the end of a link, after which the controller may accept a refused advertisement.
    mutating func linkEnded() {
        request?.isWaiting = false
    }

    /// Handles the return of bluetoothd and the adapter: both can be used.
    mutating func reached() {
        adapter = .present
        request?.isWaiting = false
    }

    /// Handles a report that the adapter was turned off, which has ended advertising.
    mutating func poweredOff() {
        adapter = .absent
        switch registration {
        case .none, .offAir, .underWay(_, .lost): break
        case .underWay(let advertising, _): registration = .underWay(advertising, .poweredOff)
        case .onAir(let advertising, let changedAt):
            registration = .offAir(advertising, changedAt: changedAt)
        }
    }

    /// Handles the loss of bluetoothd or the adapter, and of the registration with it.
    mutating func lost() {
        adapter = .absent
        if case .underWay(let advertising, _) = registration {
            registration = .underWay(advertising, .lost)
        } else {
            registration = .none
        }
    }

    /// Handles the release of the advertisement by bluetoothd; returns whether one was registered.
    ///
    /// The advertisement is registered again after a link ends, or when the adapter can be used again.
    mutating func released() -> Bool {
        guard held != nil else { return false }
        registration = .none
        request?.isWaiting = true
        isReportedSilent = true
        return true
    }

    // MARK: Steps

    /// Returns the next step; any step but `rest` and `wait` counts as started.
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

    /// Handles bluetoothd's acceptance of the registration.
    ///
    /// Returns the advertisement if the driver must report that it is on the air again, or else `nil`.
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

    /// Handles bluetoothd's refusal of the registration, and returns the consequence for the request.
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
