import Glibc
package import MynahCore
package import MynahHCI
import MynahSupport

/// Looks into the transport of a host, so that the device it connects to becomes a profile without a file.
package final class LiveCapture: Sendable {
    private let analysis = Lock(CaptureAnalysis())
    private let warn: @Sendable (String) -> Void

    /// A capture without packets; `warn` takes a sentence without a full stop when values are no longer kept.
    package init(warn: @escaping @Sendable (String) -> Void = { _ in }) {
        self.warn = warn
    }

    /// A transport that passes everything on, and looks at it.
    package func transport(_ inner: any HCITransport) -> any HCITransport {
        Tap(inner: inner) { packet, isFromController in
            self.take(packet, isFromController: isFromController, at: Self.now)
        }
    }

    func take(_ packet: H4Packet, isFromController: Bool, at time: Int64) {
        let captured = CapturedPacket(time: time, isFromController: isFromController, packet: packet)
        let warnings = analysis.withLock { analysis in
            analysis.take(captured)
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

    /// The system's clock that never goes back, in microseconds.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// A transport that shows each packet to a closure before it passes it on.
private struct Tap: HCITransport {
    let inner: any HCITransport
    let see: @Sendable (_ packet: H4Packet, _ isFromController: Bool) -> Void

    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        try await inner.open(
            receive: { [see] packet in
                see(packet, true)
                receive(packet)
            }, ended: ended)
    }

    func send(_ packet: H4Packet) {
        see(packet, false)
        inner.send(packet)
    }

    func close() { inner.close() }
}
