import MynahCore

/// Keeps the advertisement that bluetoothd has registered in step with the requested one.
///
/// A machine without I/O. Its driver asks `next(at:)` for a step, carries it out, and reports the answer to a
/// registration with `registered` or `refused`, one step at a time. bluetoothd does not confirm a live
/// change, and 5.66 ends itself if an advertisement is unregistered while it still carries a change out, so
/// no unregistration follows a change at once.
struct AdvertisementMachine {
    /// One exchange with bluetoothd.
    enum Step: Hashable {
        /// Nothing to do, or nothing until an event.
        case rest
        case register(BlueZAdvertising)
        case unregister
        /// Send the differences in one signal.
        case change(from: BlueZAdvertising, to: BlueZAdvertising)
        /// Ask again after this time.
        case wait(Duration)
    }

    /// The consequence of a refused registration.
    enum Refusal: Hashable {
        /// bluetoothd never accepted the advertisement, which is not wanted any more.
        case givenUp
        /// bluetoothd accepted the advertisement before. It is registered again at the next occasion, and is
        /// not on the air until then.
        case postponed
        /// The adapter was turned off or went during the registration, which is repeated when the adapter is
        /// back.
        case overtaken
    }

    private enum Adapter {
        case absent
        case present
    }

    /// An event during a registration.
    private enum Interruption: Hashable {
        /// A central connected, for which the kernel stops advertising.
        case linkBegan
        /// The adapter was turned off: a refusal says nothing about the time after.
        case poweredOff
        /// bluetoothd or the adapter is gone: its answer says nothing about the next one.
        case lost
    }

    /// The advertisement that bluetoothd holds.
    private enum Registration: Hashable {
        case none
        /// RegisterAdvertisement is under way.
        case underWay(BlueZAdvertising, Interruption?)
        /// The advertisement is on the air; `changedAt` is the time of the last live change, or `nil` if
        /// none.
        case onAir(BlueZAdvertising, changedAt: Duration?)
        /// bluetoothd holds it, but the kernel has stopped advertising.
        case offAir(BlueZAdvertising, changedAt: Duration?)
    }

    private struct Request: Hashable {
        var advertising: BlueZAdvertising
        /// bluetoothd has accepted it, or one that it replaced.
        var isProven = false
        /// bluetoothd refused or released the advertisement, which waits for the next occasion.
        var isWaiting = false
    }

    /// The longest time that bluetoothd takes for a live change: some milliseconds, with room for a slow
    /// machine.
    static let settlingTime: Duration = .milliseconds(300)

    private var adapter = Adapter.absent
    private var registration = Registration.none
    private var request: Request?
    /// Silence was reported, and no return to the air since.
    private var isReportedSilent = false

    /// The requested advertisement, or `nil` if there is none.
    var wanted: BlueZAdvertising? { request?.advertising }

    /// The advertisement that bluetoothd holds, or `nil` if none.
    var held: BlueZAdvertising? {
        switch registration {
        case .none, .underWay: nil
        case .onAir(let advertising, _), .offAir(let advertising, _): advertising
        }
    }

    // MARK: Requests

    /// Asks for an advertisement in place of any other.
    mutating func want(_ advertising: BlueZAdvertising) {
        request = Request(advertising: advertising, isProven: request?.isProven ?? false)
    }

    /// Asks for silence.
    mutating func stop() {
        request = nil
    }

    // MARK: Events

    /// A central connected: the kernel has stopped advertising.
    mutating func linkBegan() {
        switch registration {
        case .none, .offAir: break
        case .underWay(let advertising, nil): registration = .underWay(advertising, .linkBegan)
        case .underWay: break
        case .onAir(let advertising, let changedAt):
            registration = .offAir(advertising, changedAt: changedAt)
        }
    }

    /// A link ended, after which the controller may have room for a refused advertisement.
    mutating func linkEnded() {
        request?.isWaiting = false
    }

    /// bluetoothd and the adapter can be used.
    mutating func reached() {
        adapter = .present
        request?.isWaiting = false
    }

    /// The adapter was turned off: bluetoothd keeps the advertisement, the kernel does not.
    mutating func poweredOff() {
        adapter = .absent
        switch registration {
        case .none, .offAir, .underWay(_, .lost): break
        case .underWay(let advertising, _): registration = .underWay(advertising, .poweredOff)
        case .onAir(let advertising, let changedAt):
            registration = .offAir(advertising, changedAt: changedAt)
        }
    }

    /// Notes that bluetoothd or the adapter is gone, and with it the registration.
    mutating func lost() {
        adapter = .absent
        if case .underWay(let advertising, _) = registration {
            registration = .underWay(advertising, .lost)
        } else {
            registration = .none
        }
    }

    /// bluetoothd released the advertisement by itself; it is not registered again at once.
    ///
    /// Returns whether it held one.
    mutating func released() -> Bool {
        guard held != nil else { return false }
        registration = .none
        request?.isWaiting = true
        isReportedSilent = true
        return true
    }

    // MARK: Steps

    /// The next step, which counts as begun unless it is `rest` or `wait`.
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

    /// bluetoothd accepted the registration.
    ///
    /// Returns the advertisement if its return to the air is to be reported.
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

    /// bluetoothd refused the registration.
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
