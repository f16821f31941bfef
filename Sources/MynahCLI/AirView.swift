import Mynah
import MynahConsole
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahValues

/// The advertising data that `show` prints for an accessory or a phone.
///
/// For a phone, there is one view for all states of its app in which the phone advertises the same data.
struct AirView {
    /// The states of the app in which the phone advertises this data; empty for an accessory.
    var states: [Profile.App.StartState]
    var report: AdvertisingReport
    /// The phone's scans in these states, one for each central manager of the app that scans.
    private(set) var scans: [ScanStatus] = []
    private let profile: Profile

    /// Returns a view for each state of the app; states with the same advertising and scans share one view.
    static func of(
        _ profile: Profile, in states: [Profile.App.StartState], on radio: KnownRadio
    ) throws(AdvertisementError) -> [AirView] {
        guard profile.app != nil else {
            guard let advertising = profile.advertising else {
                return [AirView(states: [], report: .silent, profile: profile)]
            }
            let report = try radio.report(advertising.advertisement)
            return [AirView(states: [], report: report, profile: profile)]
        }
        var airs: [AirView] = []
        for state in states {
            guard let phone = profile.phoneAdvertisement(in: state) else { continue }
            var report = try radio.report(phone)
            var scans = profile.phoneScans(in: state)
            if radio == .bluez, !profile.centrals.isEmpty {
                report.omitted.append(
                    .init(item: "central", reason: "BlueZ cannot play an app that is a central"))
                scans = []
            }
            if let last = airs.indices.last, airs[last].report == report, airs[last].scans == scans {
                airs[last].states.append(state)
            } else {
                airs.append(AirView(states: [state], report: report, scans: scans, profile: profile))
            }
        }
        return airs
    }

    /// A text about the origin of the default advertising interval: a measurement or an assumption.
    ///
    /// The value is `nil` if the profile or the radio sets the interval.
    private var intervalSource: String? {
        guard let app = profile.app, let state = states.first, report.interval != nil else { return nil }
        let usual = PhoneAdvertising()
        if state == .foreground || app.keepsPrivileges {
            return app.foregroundInterval == usual.foregroundInterval
                ? "assumed: Apple has published no figure" : nil
        }
        return app.backgroundInterval == usual.backgroundInterval
            ? "measured on one iPhone 6 with iOS 11" : nil
    }

    // MARK: JSON

    var fields: [JSON.Member] {
        EventPayload.advertising(report).members(of: .advertisingChanged)
            + [intervalSource.map { .init("intervalSource", .string($0)) }].compactMap { $0 }
    }

    // MARK: Text

    var text: [String] {
        guard !states.isEmpty else { return lines }
        let all = lines + scans.flatMap(Self.lines)
        return [states.map(\.rawValue).joined(separator: ", ")] + all.map { "  " + $0 }
    }

    private var lines: [String] {
        guard report.isOn else { return ["not advertised"] + omitted(from: report) }
        guard !report.otherSets.isEmpty else { return lines(of: report) + omitted(from: report) }
        return ([report] + report.otherSets).flatMap { set in
            ["set \(set.set)"] + (lines(of: set) + omitted(from: set)).map { "  " + $0 }
        }
    }

    private func lines(of set: AdvertisingReport) -> [String] {
        let of = "of \(ExactAdvertisement.capacity(of: set)) bytes"
        var lines = ["advertising data (\(set.data.count) \(of))"]
        lines += structures(set.data)
        if !set.scanResponse.isEmpty {
            lines.append("scan response (\(set.scanResponse.count) \(of))")
            lines += structures(set.scanResponse)
        }
        if let periodic = set.periodic {
            let room = ExactAdvertisement.extendedCapacity
            lines.append("periodic advertising data (\(periodic.data.count) of \(room) bytes)")
            lines += structures(periodic.data)
        }
        if let interval = set.interval {
            let ends = [interval.lowerBound, interval.upperBound].map(Self.milliseconds)
            lines.append(
                "every " + (ends[0] == ends[1] ? ends[0] : "\(ends[0]) to \(ends[1])")
                    + (intervalSource.map { " (\($0))" } ?? ""))
        }
        if let kind = set.kindInWords { lines.append(kind) }
        return lines
    }

    private static func lines(of scan: ScanStatus) -> [String] {
        let services = scan.services.map { ProfileView.name(of: $0) }.joined(separator: ", ")
        let what = services.isEmpty ? "every device" : services
        let solicited = scan.solicited.map { ProfileView.name(of: $0) }.joined(separator: ", ")
        let alternative =
            services.isEmpty || solicited.isEmpty ? "" : ", or for a device that solicits \(solicited)"
        let omitted = scan.omitted.map { "omitted: \($0.item): \($0.reason)" }
        guard let options = scan.options else { return ["not scanning"] + omitted }
        let times = "\(milliseconds(options.window)) of every \(milliseconds(options.interval))"
        return ["scanning for \(what)" + alternative + (scan.allowsDuplicates ? ", with duplicates" : "")]
            + ["listening \(times) (assumed: Apple has published no figure)"] + omitted
    }

    private func structures(_ bytes: [UInt8]) -> [String] {
        let uuids = profile.app == nil ? [] : profile.advertising?.advertisement.serviceUUIDs ?? []
        return [ADStructure].decode(bytes).structures.map { structure in
            let hex = Hex.encode([UInt8(structure.data.count + 1), structure.type.rawValue] + structure.data)
            return "  \(ScreenLine.pad(hex, 48)) \(ADNames.describe(structure, among: uuids))"
        }
    }

    /// The duration in milliseconds, such as `181.25 ms`, so that durations can be compared.
    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return JSON.number(Double(seconds) * 1000 + Double(attoseconds) / 1e15).text + " ms"
    }

    /// The lines about omitted parts, one for each reason.
    private func omitted(from report: AdvertisingReport) -> [String] {
        var groups: [(reason: String, items: [String])] = []
        for omission in report.omitted {
            let item = name(of: omission.item)
            if let index = groups.firstIndex(where: { $0.reason == omission.reason }) {
                groups[index].items.append(item)
            } else {
                groups.append((omission.reason, [item]))
            }
        }
        return groups.map { "omitted: \($0.items.joined(separator: ", ")): \($0.reason)" }
    }

    /// The name of an omitted item, with the name of the UUID if the item is a UUID in a list.
    private func name(of item: String) -> String {
        for (index, uuid) in (profile.advertising?.advertisement.serviceUUIDs ?? []).enumerated()
        where item == "serviceUUIDs[\(index)]" {
            return "\(item) (\(ProfileView.name(of: uuid)))"
        }
        return item
    }
}
