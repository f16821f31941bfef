import MynahCore
import MynahEmulator
import MynahSupport

/// The scans of a phone's apps on a screen: an app has one for each of its central managers.
struct ScreenScans: Sendable {
    /// A manager's scan, or the one that it has while nothing is scanned for; events do not name the manager.
    private struct Scan {
        /// The name of the app, as in events; empty if it is alone.
        var app: String
        var services: JSON?
        var solicited: JSON?
        var isPaused: Bool
        var text: String

        init(_ event: DeviceEvent) {
            app = event.string("device") ?? ""
            services = event["services"]
            solicited = event["solicited"]
            isPaused = event.name == .scanPaused
            var shown = event
            // A scan that stops is found by its text.
            if shown.name == .scanStopped { shown.name = .scanChanged }
            let parts = EventText.scanParts(shown) { uuid in
                BluetoothUUID(uuid).flatMap { AssignedNumbers.name(of: $0) } ?? uuid
            }
            text = (isPaused ? "scan paused " : "scanning ") + AirWords.joined(parts)
        }

        /// Whether both are of one app, and for the same: they are of one manager, or of two that do not
        /// differ.
        func isFor(_ other: Scan) -> Bool {
            app == other.app && services == other.services && solicited == other.solicited
        }
    }

    private var scans: [Scan] = []

    mutating func take(_ event: DeviceEvent) {
        let scan = Scan(event)
        let own = scans.indices.filter { scans[$0].isFor(scan) }
        switch event.name {
        case .scanStopped:
            guard let index = own.last(where: { scans[$0].text == scan.text }) ?? own.last else { return }
            scans.remove(at: index)
        case .scanChanged:
            guard let index = own.first(where: { scans[$0].text != scan.text }) ?? own.first else {
                return scans.append(scan)
            }
            scans[index] = scan
        default:
            // One that was paused starts, and the other way round; one that is neither is another manager's.
            guard let index = own.first(where: { scans[$0].isPaused != scan.isPaused }) else {
                return scans.append(scan)
            }
            scans[index] = scan
        }
    }

    /// Each app's scans, without duplicates; active ones first, because a low terminal cuts the rest.
    var lines: [(app: String, text: String)] {
        var lines: [(app: String, text: String)] = []
        for scan in scans.filter({ !$0.isPaused }) + scans.filter(\.isPaused)
        where !lines.contains(where: { $0 == (scan.app, scan.text) }) {
            lines.append((scan.app, scan.text))
        }
        return lines
    }
}
