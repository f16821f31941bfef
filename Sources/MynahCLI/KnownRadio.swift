import MynahBlueZ
import MynahCore
import MynahEmulator
import MynahFaults
import MynahLifecycle
import MynahProfiles

/// The radios that `check` and `show` assume; these commands use only the radios' capabilities.
enum KnownRadio: String, CaseIterable {
    case virtual
    case bluez

    /// The version of BlueZ that checks assume, so that their results do not depend on the machine.
    static let bluezVersion = BlueZVersion.oldest

    /// The capabilities that the radio has on any machine.
    var capabilities: RadioCapabilities {
        switch self {
        case .virtual: RadioCapabilities(name: "the device itself")
        case .bluez: BlueZCapabilities.capabilities(version: Self.bluezVersion)
        }
    }

    /// The faults that the radio can carry out.
    private var faults: FaultSupport {
        switch self {
        case .virtual: .ownHost
        case .bluez: .bluez
        }
    }

    /// The radio's advertising report for a phone and its apps.
    func report(_ phone: PhoneAdvertisement) throws(AdvertisementError) -> AdvertisingReport {
        let omitted = phone.omitted.flatMap { $0 }
        guard let advertisement = phone.advertisement else {
            return AdvertisingReport(isOn: false, omitted: omitted)
        }
        var report = try report(advertisement)
        if let interval = report.interval, interval.lowerBound == phone.interval.lowerBound {
            report.interval = phone.interval
        }
        report.omitted = omitted + report.omitted
        return report
    }

    /// The radio's report for an advertisement, with these capabilities, or with the default ones for `nil`.
    func report(
        _ advertisement: Advertisement, _ known: RadioCapabilities? = nil
    ) throws(AdvertisementError) -> AdvertisingReport {
        switch self {
        case .bluez:
            let places = (known ?? capabilities).advertising.placesScanResponse
            return try BlueZAdvertising(
                advertisement, keepsInterval: true, placesScanResponse: places
            ).report
        case .virtual:
            var reports = try advertisement.sets.map { (set) throws(AdvertisementError) in
                let bytes = try AccessoryAdvertising.compose(set)
                var report = AdvertisingReport(
                    isOn: true, data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes,
                    interval: set.intervals, isConnectable: set.isConnectable)
                report.set = set.name
                report.isScannable = set.isScannable
                report.extended = set.extended
                return report
            }
            var report = reports.removeFirst()
            report.otherSets = reports
            return report
        }
    }

    /// Errors for parts of a profile that the radio cannot play, and warnings for parts that it plays
    /// differently.
    ///
    /// `known` are the capabilities of the installed version, or `nil` to assume the oldest.
    func issues(with profile: Profile, _ known: RadioCapabilities? = nil) -> [ProfileIssue] {
        var issues = profile.issues(with: known ?? capabilities, faults: faults, isChosen: true)
        if profile.app != nil { issues += losses(of: profile) }
        if self == .bluez, let issue = profile.centralIssueWithBlueZ { issues.append(issue) }
        if let advertising = profile.advertising, profile.app == nil {
            do throws(AdvertisementError) {
                _ = try report(advertising.advertisement, known)
            } catch {
                issues.append(profile.issue(.error, at: advertising.marks[error.field], "\(error)"))
            }
        }
        return issues
    }

    /// The issues about parts of an app's advertising that an iPhone would send and this radio does not.
    private func losses(of profile: Profile) -> [ProfileIssue] {
        guard self == .bluez else { return [] }
        var losses: [(loss: AdvertisingReport.Omission, states: [String])] = []
        for state in [Profile.App.StartState.foreground, .background] {
            guard let wish = profile.phoneAdvertisement(in: state)?.advertisement,
                let lost = try? BlueZAdvertising(wish, keepsInterval: true).lost
            else { continue }
            for loss in lost {
                if let index = losses.firstIndex(where: { $0.loss == loss }) {
                    losses[index].states.append(state.rawValue)
                } else {
                    losses.append((loss, [state.rawValue]))
                }
            }
        }
        let marks = profile.advertising?.marks ?? [:]
        return losses.map { loss, states in
            let field = loss.item == "overflowArea" ? "serviceUUIDs" : loss.item
            return profile.issue(
                .warning, at: marks[field] ?? marks[""],
                "\(capabilities.name) does not send all of it in the "
                    + "\(states.joined(separator: " and ")): \(loss.item): \(loss.reason)"
            )
        }
    }
}
