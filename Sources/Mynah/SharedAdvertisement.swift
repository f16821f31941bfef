import MynahCore
import MynahLifecycle

/// The one advertisement of a phone: the combined requests of its managers, and the radio's report on them.
///
/// This state machine does not use the radio. The phone asks for steps, carries them out, and reports their
/// results.
struct SharedAdvertisement {
    /// The part of the phone's advertisement that one manager requests.
    struct Part {
        enum Content: Equatable {
            /// The advertisement of an accessory, which is sent as it is.
            case accessory(Advertisement)
            /// The advertisement of an app, which the phone combines with those of its other apps.
            case app(AppAdvertisement)
        }

        /// The manager's number.
        var manager: UInt64
        /// The app's name in messages; empty for an accessory.
        var name = ""
        var content: Content
        /// The parts of the manager's request that it does not advertise now, with the reasons.
        var omitted: [AdvertisingReport.Omission] = []
    }

    /// The phone's next step.
    enum Step: Equatable {
        /// The radio already sends what is requested.
        case none
        case stop
        case advertise(Advertisement)
    }

    /// The differences between one manager's report and the radio's report.
    private struct Share {
        var manager: UInt64
        var name: String
        var isOn: Bool
        var omitted: [AdvertisingReport.Omission]
    }

    /// The last request to the radio, or its outcome.
    private enum Sent: Equatable {
        case nothing
        case advertisement(Advertisement)
        /// The radio must be asked again: it refused, or the managers repeated their request.
        case unsettled
    }

    private let composer: PhoneAdvertising
    private var shares: [Share] = []
    private var sent = Sent.nothing
    /// The range of intervals at which an iPhone would send the advertisement.
    private var interval: ClosedRange<Duration>?
    /// The radio's report of the advertisement.
    private var report = AdvertisingReport.silent
    /// The last report for the phone as a whole.
    private var reportedWhole = AdvertisingReport.silent

    /// Whether the radio keeps its current advertisement while requests change.
    var isHeld = false
    /// Whether advertising is off although managers request it.
    var isSilenced = false
    /// A number that increases with each request, so that a request during the radio's work is not missed.
    private(set) var epoch = 0

    init(_ composer: PhoneAdvertising) {
        self.composer = composer
    }

    /// Whether the radio was asked to send an advertisement, and has not refused.
    var isAsked: Bool { if case .advertisement = sent { true } else { false } }

    /// Whether UUIDs that change in the background are advertised only when the app is in the foreground.
    var defersBackgroundChanges: Bool { composer.defersBackgroundChanges }

    mutating func request() {
        epoch += 1
    }

    /// Makes the next step a request to the radio, even if the advertisement is the one requested before.
    mutating func requestAgain() {
        epoch += 1
        if sent != .nothing { sent = .unsettled }
    }

    /// Returns the phone's next step for these parts, in the order in which the managers began to advertise.
    mutating func next(_ parts: [Part]) -> Step {
        guard !isHeld else { return .none }
        guard !isSilenced, let advertisement = compose(parts) else {
            guard sent != .nothing else { return .none }
            sent = .nothing
            return .stop
        }
        // A radio that stopped advertising by itself is asked again.
        guard sent != .advertisement(advertisement) || !report.isOn else { return .none }
        sent = .advertisement(advertisement)
        return .advertise(advertisement)
    }

    private mutating func compose(_ parts: [Part]) -> Advertisement? {
        for part in parts {
            guard case .accessory(let advertisement) = part.content else { continue }
            shares = [Share(manager: part.manager, name: "", isOn: true, omitted: [])]
            interval = nil
            return advertisement
        }
        let apps = parts.compactMap { part in
            if case .app(let advertisement) = part.content { (part, advertisement) } else { nil }
        }
        let plan = composer.compose(apps.map(\.1))
        shares = zip(apps, plan.omitted).map { app, omitted in
            Share(
                manager: app.0.manager, name: app.0.name, isOn: app.1.mode != .off,
                omitted: omitted + app.0.omitted)
        }
        interval = plan.interval
        return plan.advertisement
    }

    /// Handles a refusal by the radio; the next request is sent to the radio even if it is the same.
    mutating func refused() {
        sent = .unsettled
        note(.silent)
    }

    /// Resets the state because the radio is stopped.
    mutating func reset() {
        self = SharedAdvertisement(composer)
    }

    /// Sets the radio's report.
    mutating func note(_ report: AdvertisingReport) {
        self.report = report
        // The radio was asked for the shortest interval; an iPhone's report also includes the random delay in
        // the background.
        if let reported = report.interval, let interval, reported.lowerBound == interval.lowerBound {
            self.report.interval = interval
        }
    }

    /// The report for one manager.
    func report(for manager: UInt64) -> AdvertisingReport {
        guard let share = shares.first(where: { $0.manager == manager }) else { return .silent }
        let omitted = share.omitted + report.omitted
        guard report.isOn, share.isOn else { return AdvertisingReport(isOn: false, omitted: omitted) }
        var own = report
        own.omitted = omitted
        return own
    }

    /// Returns the report for the phone as a whole, or `nil` if it is the same as the last.
    mutating func wholeReport() -> AdvertisingReport? {
        var whole = report
        for share in shares where report.isOn && share.isOn {
            let name = shares.count > 1 ? "\(share.name): " : ""
            whole.omitted += share.omitted.map { .init(item: $0.item, reason: name + $0.reason) }
        }
        guard whole != reportedWhole else { return nil }
        reportedWhole = whole
        return whole
    }
}
