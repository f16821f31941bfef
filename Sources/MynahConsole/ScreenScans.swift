import MynahCore
import MynahEmulator
import MynahProfiles

/// The scans of a phone's apps on a screen; an app has one for each of its central managers.
struct ScreenScans: Sendable {
    /// The scan of a manager, or the paused one; events do not contain the manager.
    private struct Scan {
        /// The name of the app, as in events; empty if there is only one app.
        var app: String
        var services: [BluetoothUUID]
        var solicited: [BluetoothUUID]?
        var isPaused: Bool
        var text: String

        init(_ scan: EventPayload.Scan, of event: DeviceEvent) {
            app = event.device ?? ""
            services = scan.services
            solicited = scan.solicited
            isPaused = event.name == .scanPaused
            // A scan that stops is found by its text.
            let parts = EventText.parts(of: scan, showsWindow: true) {
                AssignedNumbers.name(of: $0) ?? $0.description
            }
            text = (isPaused ? "scan paused " : "scanning ") + AirWords.joined(parts)
        }

        /// Whether both scans belong to one app and have the same services, so that they belong to one
        /// manager or cannot be distinguished.
        func isFor(_ other: Scan) -> Bool {
            app == other.app && services == other.services && solicited == other.solicited
        }
    }

    private var scans: [Scan] = []

    mutating func note(_ event: DeviceEvent) {
        guard case .scan(let scanned) = event.payload else { return }
        let scan = Scan(scanned, of: event)
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

    /// The scans of each app, without duplicates; active ones come first, because a terminal with few rows
    /// cuts the rest.
    var lines: [(app: String, text: String)] {
        var lines: [(app: String, text: String)] = []
        for scan in scans.filter({ !$0.isPaused }) + scans.filter(\.isPaused)
        where !lines.contains(where: { $0 == (scan.app, scan.text) }) {
            lines.append((scan.app, scan.text))
        }
        return lines
    }
}
