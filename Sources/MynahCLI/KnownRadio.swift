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

    /// The radio's capabilities, which `check` and `show` assume on every machine.
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

    /// The radio's report for an advertisement.
    ///
    /// `known` are the capabilities of the radio on this machine; `nil` means the default ones.
    func report(
        _ advertisement: Advertisement, _ known: RadioCapabilities? = nil
    ) throws(AdvertisementError) -> AdvertisingReport {
        switch self {
        case .bluez:
            let advertising = (known ?? capabilities).advertising
            return .combined(
                try advertisement.sets.map { (set) throws(AdvertisementError) in
                    try BlueZAdvertising(
                        set, keepsInterval: true, placesScanResponse: advertising.placesScanResponse,
                        extendedCapacity: advertising.extendedCapacity
                    ).report
                })
        case .virtual:
            let reports = try advertisement.sets.map { (set) throws(AdvertisementError) in
                let bytes = try AccessoryAdvertising.compose(set)
                var report = AdvertisingReport(
                    isOn: true, data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes,
                    interval: set.intervals, isConnectable: set.isConnectable)
                report.set = set.name
                report.isScannable = set.isScannable
                report.extended = set.extended
                report.periodic = set.periodic.map {
                    .init(data: bytes.periodic.bytes, interval: $0.interval)
                }
                return report
            }
            return .combined(reports)
        }
    }

    /// Errors for parts of a profile that the radio cannot play, and warnings for parts that it plays
    /// differently.
    ///
    /// `known` are the capabilities of the radio on this machine; `nil` means the default ones.
    func issues(with profile: Profile, _ known: RadioCapabilities? = nil) -> [ProfileIssue] {
        var issues = profile.issues(with: known ?? capabilities, faults: faults, isChosen: true)
        if profile.app != nil { issues += losses(of: profile) }
        if self == .bluez, let issue = profile.centralIssueWithBlueZ { issues.append(issue) }
        if let advertising = profile.advertising, profile.app == nil {
            do throws(AdvertisementError) {
                _ = try report(advertising.advertisement, known)
            } catch {
                let mark = advertising.mark(of: error.field, in: error.set)
                issues.append(profile.issue(.error, at: mark, "\(error)" + advice(on: error, advertising)))
            }
        }
        return issues
    }

    /// The end of an error message that names radios with more room for extended advertising data.
    ///
    /// The result is empty unless bluetoothd has too little room for such data.
    private func advice(on error: AdvertisementError, _ advertising: Profile.Advertising) -> String {
        let set = advertising.advertisement.sets.first { $0.name == error.set }
        guard self == .bluez, error.payload == .data, set?.extended != nil else { return "" }
        return "; bluetoothd from 5.69 on has room for 251, and so have --radio virtual, netsim and hci:"
    }

    /// Warnings about advertising data of an app that an iPhone would send and this radio does not.
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
