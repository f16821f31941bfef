package import MynahCore
package import MynahHCI
package import MynahSupport

/// Sees the packets of a host, so that the device it connects to becomes a profile without a file.
package final class LiveCapture: Sendable {
    private let analysis: Lock<CaptureAnalysis>
    private let clock: RunClock
    private let warn: @Sendable (String) -> Void

    /// A capture without packets; `warn` takes a sentence without a full stop when values are no longer kept.
    package init(clock: RunClock = .real, warn: @escaping @Sendable (String) -> Void = { _ in }) {
        // The first value of each characteristic comes on top.
        analysis = Lock(CaptureAnalysis(byteLimit: ProfileText.maximumRecordingSize - (1 << 16)))
        self.clock = clock
        self.warn = warn
    }

    /// Takes each packet of the host's transport.
    package var tap: TappedTransport.Tap {
        { packet, isFromController in
            // Of a clock that never goes back.
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

    /// The profile of the device with an address, or of the one that the host was connected to.
    ///
    /// `recordingFile` is as in `CaptureImport`. Throws if the device was not heard.
    package func profile(
        of address: DeviceAddress, recordingFile: ((String) -> String)? = nil
    ) throws(ImportProblem) -> CaptureImport.Result {
        let devices = analysis.withLock(\.devices)
        // A device with a bond may be connected by another address than it advertised with.
        let connected = devices.filter { $0.linkCount > 0 && $0.server.isDiscovered }
        let own = devices.filter { $0.key == .remote(address) }
        guard
            var device = own.first(where: \.server.isDiscovered)
                ?? (connected.count == 1 ? connected[0] : nil)
                ?? own.first
        else { throw ImportProblem("the device \(address) was not heard") }
        // This host listened all the time, so a slow device has few advertisements, but none is missing.
        device.advertising.neededGaps = 2
        let imported = ImportedProfile(device, fallback: address.description)
        return CaptureImport.result(
            of: imported, from: .device(address.description), recordingFile: recordingFile, warnings: [])
    }
}
