package import MynahCore
package import MynahHCI
package import MynahSupport

/// Observes a host's packets, from which the profile of a connected device can be made without a capture
/// file.
package final class LiveCapture: Sendable {
    private let analysis: Lock<CaptureAnalysis>
    private let clock: RunClock
    private let warn: @Sendable (String) -> Void

    /// Makes an empty capture.
    ///
    /// `warn` is called with a sentence without its full stop when further values are not stored.
    package init(clock: RunClock = .real, warn: @escaping @Sendable (String) -> Void = { _ in }) {
        // The first value of each characteristic is stored even beyond the limit.
        analysis = Lock(CaptureAnalysis(byteLimit: ProfileText.maximumRecordingSize - (1 << 16)))
        self.clock = clock
        self.warn = warn
    }

    /// The tap that receives each packet of the host's transport.
    package var tap: TappedTransport.Tap {
        { packet, isFromController in
            // The run's clock never goes backwards.
            let microseconds = self.clock.now.offset / .microseconds(1)
            self.add(packet, isFromController: isFromController, at: Int64(microseconds))
        }
    }

    func add(_ packet: H4Packet, isFromController: Bool, at time: Int64) {
        let captured = CapturedPacket(time: time, isFromController: isFromController, packet: packet)
        let warnings = analysis.withLock { analysis in
            analysis.add(captured)
            return analysis.takeWarnings()
        }
        for warning in warnings { warn(warning) }
    }

    /// Returns the profile of the device with this address, or of the device to which the host connected.
    ///
    /// `recordingFile` is as in `CaptureImport`. Throws an error if the capture has no packet of the device.
    package func profile(
        of address: DeviceAddress, recordingFile: ((String) -> String)? = nil
    ) throws(ImportProblem) -> CaptureImport.Result {
        let (devices, notes) = analysis.withLock { ($0.devices, $0.notes) }
        // A bonded device may be connected at an address other than the one it advertised with.
        let connected = devices.filter { $0.linkCount > 0 && $0.server.isDiscovered }
        let own = devices.filter { $0.key == .remote(address) }
        guard
            var device = own.first(where: \.server.isDiscovered)
                ?? (connected.count == 1 ? connected[0] : nil)
                ?? own.first
        else { throw ImportProblem("the device \(address) was not heard") }
        // This host has scanned continuously, so few reports mean a long interval, and not missed events.
        device.advertising.needGaps(2)
        var imported = ImportedProfile(device, fallback: address.description)
        imported.notes += notes
        return CaptureImport.result(
            of: imported, from: .device(address.description), recordingFile: recordingFile, warnings: [])
    }
}
