import MynahCore
package import MynahHCI
package import MynahSupport

/// The target of `--capture`.
package enum CaptureTarget: Equatable, Sendable {
    case standardOutput
    case file(String)
}

/// The capture file of a command, which `createFile()` or the first radio creates.
///
/// Each radio is an interface of the pcapng file.
package final class Capture: Sendable {
    private struct State {
        var file: CaptureFile?
        var hasAir = false
        /// The error that ended the capture early, or `nil` if there was none.
        var failure: RadioError?
    }

    private let target: CaptureTarget
    private let namesDevices: Bool
    private let version: String
    private let clock: RunClock
    private let reports: CaptureFile.Reports
    private let state: Lock<State>

    /// The error that ended the capture early, or `nil` if it is complete.
    var failure: RadioError? { state.withLock { $0.failure } }

    /// Makes a capture that is not open yet; `version` is the version of the program.
    ///
    /// With `namesDevices`, each interface has the names of its radio's devices, because there may be several
    /// radios.
    package init(
        _ target: CaptureTarget, namesDevices: Bool = false, version: String, clock: RunClock = .real,
        reports: CaptureFile.Reports
    ) {
        self.clock = clock
        self.target = target
        self.namesDevices = namesDevices
        self.version = version
        let state = Lock(State())
        self.state = state
        self.reports = CaptureFile.Reports(
            warn: { warning in
                // Whether a reader that leaves has seen enough is known only to its user.
                if warning.code == CaptureFile.endedCode {
                    state.withLock { $0.failure = RadioError(.captureFailed, warning.message) }
                }
                reports.warn(warning)
            },
            fail: { error in
                state.withLock { $0.failure = error }
                reports.fail(error)
            })
    }

    /// Creates the file; throws `captureFailed` if that is impossible.
    func createFile() throws(RadioError) { _ = try file() }

    /// Wraps the transport of a radio so that its packets are recorded; the interface is named after the
    /// devices.
    func transport(_ inner: any HCITransport, of devices: [String]) throws(RadioError) -> any HCITransport {
        let (file, name) = try interface(of: devices)
        return file.transport(inner, named: name)
    }

    /// The recorder of the packets of a host, on an interface with its name; `nil` if the file is not open.
    func tap(of name: String) -> TappedTransport.Tap? {
        state.withLock { $0.file }?.tap(named: "hci \(name)")
    }

    /// The file, and the name of the interface for a radio with these devices.
    func interface(of devices: [String]) throws(RadioError) -> (file: CaptureFile, interface: String) {
        let names = namesDevices && !devices.isEmpty ? " " + devices.joined(separator: ", ") : ""
        return (try file(), "hci" + names)
    }

    /// Records the packets on the air of all virtual radios of a command; later calls do nothing.
    func record(_ air: LiveAir) throws(RadioError) {
        let file = try file()
        let isNew = state.withLock { state in
            defer { state.hasAir = true }
            return !state.hasAir
        }
        if isNew { file.record(air, named: "air") }
    }

    /// Starts a new section of the file; called when the run starts again on a new simulated medium.
    func beginAnew() {
        let file = state.withLock { state in
            state.hasAir = false
            return state.file
        }
        file?.beginSection(application: application)
    }

    /// Writes the remaining packets and closes the file.
    func end() {
        state.withLock { $0.file }?.end()
    }

    private var application: String { "Mynah \(version)" }

    private func file() throws(RadioError) -> CaptureFile {
        let result = state.withLock { state in
            Result<CaptureFile, RadioError> { () throws(RadioError) in
                if let file = state.file { return file }
                let new =
                    switch target {
                    case .standardOutput:
                        try CaptureFile(
                            descriptor: 1, named: "standard output", application: application,
                            reports: reports, clock: clock)
                    case .file(let path):
                        try CaptureFile(path: path, application: application, reports: reports, clock: clock)
                    }
                state.file = new
                return new
            }
        }
        return try result.get()
    }
}
