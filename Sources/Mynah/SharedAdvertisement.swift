import MynahCore
import MynahLifecycle

/// The one advertisement of a phone: what its managers ask for together, and what the radio sends of it.
///
/// The machine names no radio. The phone asks for steps, carries them out and says how they ended.
struct SharedAdvertisement {
    /// One manager's part.
    struct Part {
        enum Content: Equatable {
            /// An accessory's, which is sent as it is.
            case accessory(Advertisement)
            /// An app's, which the phone composes with those of its other apps.
            case app(AppAdvertisement)
        }

        /// The manager's number.
        var manager: UInt64
        /// The app's name, for people; empty for an accessory.
        var name = ""
        var content: Content
        /// The parts that the manager itself leaves out.
        var omitted: [AdvertisingReport.Omission] = []
    }

    /// The phone's next step.
    enum Step: Equatable {
        /// The radio sends what is asked for.
        case none
        case stop
        case advertise(Advertisement)
    }

    /// The additions to the radio's report in one manager's report.
    private struct Share {
        var manager: UInt64
        var name: String
        var isOn: Bool
        var omitted: [AdvertisingReport.Omission]
    }

    /// The request to the radio.
    private enum Sent: Equatable {
        case nothing
        case advertisement(Advertisement)
        /// The radio must be asked again: it refused, or the same was requested again.
        case unsettled
    }

    private let composer: PhoneAdvertising
    private var shares: [Share] = []
    private var sent = Sent.nothing
    /// The interval that an iPhone would send it at.
    private var interval: ClosedRange<Duration>?
    /// The radio's report of it.
    private var report = AdvertisingReport.silent
    /// The last report for the phone as a whole.
    private var reportedWhole = AdvertisingReport.silent

    /// Whether the radio keeps its advertisement while requests change.
    var isHeld = false
    /// Whether advertising is off, in spite of requests.
    var isSilenced = false
    /// Changes with each request, so that a request that comes while the radio works is not missed.
    private(set) var epoch = 0

    init(_ composer: PhoneAdvertising) {
        self.composer = composer
    }

    /// Whether the radio is asked to send something, and has not refused.
    var isAsked: Bool { if case .advertisement = sent { true } else { false } }

    /// Whether a change of UUIDs in the background waits for the foreground.
    var defersBackgroundChanges: Bool { composer.defersBackgroundChanges }

    mutating func request() {
        epoch += 1
    }

    /// Asks the radio again, even for an advertisement that was requested before.
    mutating func requestAgain() {
        epoch += 1
        if sent != .nothing { sent = .unsettled }
    }

    /// Returns what the radio has to do for these parts, in the order in which the managers began to
    /// advertise.
    mutating func next(_ parts: [Part]) -> Step {
        guard !isHeld else { return .none }
        guard !isSilenced, let advertisement = compose(parts) else {
            guard sent != .nothing else { return .none }
            sent = .nothing
            return .stop
        }
        // A radio that fell silent by itself is asked again.
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

    /// The radio refused the request; the next request asks again.
    mutating func refused() {
        sent = .unsettled
        note(.silent)
    }

    /// The radio is stopped.
    mutating func reset() {
        self = SharedAdvertisement(composer)
    }

    /// Notes the radio's report.
    mutating func note(_ report: AdvertisingReport) {
        self.report = report
        // The radio was asked for the shortest interval; an iPhone's report also says what it adds in the
        // background.
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
