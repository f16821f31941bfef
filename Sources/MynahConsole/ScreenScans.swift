import MynahCore
import MynahEmulator
import MynahProfiles

/// The scans of a phone's apps on a screen, one for each central manager.
struct ScreenScans: Sendable {
    /// An active or paused scan of a central manager; events do not say which manager it is.
    private struct Scan {
        /// The name of the app in events, or an empty text if there is only one app.
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
            // The stop of a scan finds the scan by this text.
            let parts = EventText.parts(of: scan, showsWindow: true) {
                AssignedNumbers.name(of: $0) ?? $0.description
            }
            text = (isPaused ? "scan paused " : "scanning ") + AirWords.joined(parts)
        }

        /// Whether both scans belong to the same app and have the same services.
        ///
        /// They then belong to the same manager, or to managers that cannot be distinguished.
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
            // A paused scan starts, or an active one pauses; otherwise, it is the scan of another manager.
            guard let index = own.first(where: { scans[$0].isPaused != scan.isPaused }) else {
                return scans.append(scan)
            }
            scans[index] = scan
        }
    }

    /// The scans of all apps, without duplicates.
    ///
    /// Active scans come first, because a terminal with few rows cuts the rest.
    var lines: [(app: String, text: String)] {
        var lines: [(app: String, text: String)] = []
        for scan in scans.filter({ !$0.isPaused }) + scans.filter(\.isPaused)
        where !lines.contains(where: { $0 == (scan.app, scan.text) }) {
            lines.append((scan.app, scan.text))
        }
        return lines
    }
}
