package import MynahCore
package import MynahHCI
package import MynahSupport

/// Observes a host's packets, so that a device that it connects to can become a profile without a capture
/// file.
package final class LiveCapture: Sendable {
    private let analysis: Lock<CaptureAnalysis>
    private let clock: RunClock
    private let warn: @Sendable (String) -> Void

    /// Makes a capture without packets; `warn` gets a sentence without a full stop when values are no longer
    /// kept.
    package init(clock: RunClock = .real, warn: @escaping @Sendable (String) -> Void = { _ in }) {
        // The first value of each characteristic is kept beyond the limit.
        analysis = Lock(CaptureAnalysis(byteLimit: ProfileText.maximumRecordingSize - (1 << 16)))
        self.clock = clock
        self.warn = warn
    }

    /// The tap that gets each packet of the host's transport.
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

    /// Returns the profile of the device with an address, or of the device that the host connected to.
    ///
    /// `recordingFile` is as in `CaptureImport`. Throws an error if the capture has no packet of the device.
    package func profile(
        of address: DeviceAddress, recordingFile: ((String) -> String)? = nil
    ) throws(ImportProblem) -> CaptureImport.Result {
        let devices = analysis.withLock(\.devices)
        // A bonded device may be connected by another address than it advertised with.
        let connected = devices.filter { $0.linkCount > 0 && $0.server.isDiscovered }
        let own = devices.filter { $0.key == .remote(address) }
        guard
            var device = own.first(where: \.server.isDiscovered)
                ?? (connected.count == 1 ? connected[0] : nil)
                ?? own.first
        else { throw ImportProblem("the device \(address) was not heard") }
        // This host scanned all the time, so a slow device has few advertisements, but none is missing.
        device.advertising.needGaps(2)
        let imported = ImportedProfile(device, fallback: address.description)
        return CaptureImport.result(
            of: imported, from: .device(address.description), recordingFile: recordingFile, warnings: [])
    }
}
