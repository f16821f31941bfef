import ArgumentParser
import MynahCore
import MynahHCI
import MynahSupport

import Glibc

/// The target of `--capture`.
enum CaptureTarget: Equatable, Sendable {
    case standardOutput
    case file(String)

    static let completion = CompletionKind.file(extensions: ["pcapng"])

    static func parse(_ text: String) throws -> CaptureTarget {
        if text == "-" { return .standardOutput }
        guard text.hasSuffix(".pcapng") else {
            throw ValidationError(
                "the format is pcapng: use a name that ends in .pcapng, or - for standard output"
            )
        }
        return .file(text)
    }

    /// The error if standard output cannot take the capture with these events, else `nil`.
    func problem(with events: EventFormat?) -> String? {
        guard self == .standardOutput else { return nil }
        if let events, events != .off {
            return
                "--capture - and --events \(events.rawValue) both write to standard output: "
                + "capture to a file, or leave out --events"
        }
        if isatty(1) == 1 {
            return
                "--capture - writes binary data, and standard output is a terminal: "
                + "add a pipe, as in `| wireshark -k -i -`"
        }
        return nil
    }
}

/// The capture of a command, opened by `begin` or when its first radio is made.
final class Capture: Sendable {
    private struct State {
        var file: CaptureFile?
        var hasAir = false
    }

    private let target: CaptureTarget
    private let namesDevices: Bool
    private let reports: CaptureFile.Reports
    private let state = Lock(State())

    /// `namesDevices`: the command may have several radios, and an interface has the names of its devices.
    init(_ target: CaptureTarget, namesDevices: Bool = false, reports: CaptureFile.Reports) {
        self.target = target
        self.namesDevices = namesDevices
        self.reports = reports
    }

    /// Creates the file; throws `captureFailed` if it cannot be opened.
    func begin() throws(RadioError) { _ = try file() }

    /// The transport of a radio with these devices, recorded.
    func transport(_ inner: any HCITransport, of devices: [String]) throws(RadioError) -> any HCITransport {
        let names = namesDevices && !devices.isEmpty ? " " + devices.joined(separator: ", ") : ""
        return try file().transport(inner, named: "hci" + names)
    }

    /// Records the air, which all virtual radios of a command share.
    func record(_ air: SharedAir) throws(RadioError) {
        let file = try file()
        let isNew = state.withLock { state in
            defer { state.hasAir = true }
            return !state.hasAir
        }
        if isNew { file.record(air.air, named: "air") }
    }

    /// Writes the rest and closes the file.
    func end() {
        state.withLock { $0.file }?.end()
    }

    private func file() throws(RadioError) -> CaptureFile {
        let result = state.withLock { state in
            Result<CaptureFile, RadioError> { () throws(RadioError) in
                if let file = state.file { return file }
                let application = "Mynah \(MynahCommand.configuration.version)"
                let new =
                    switch target {
                    case .standardOutput:
                        CaptureFile(
                            descriptor: 1, named: "standard output", application: application,
                            reports: reports, clock: .real)
                    case .file(let path):
                        try CaptureFile(path: path, application: application, reports: reports, clock: .real)
                    }
                state.file = new
                return new
            }
        }
        return try result.get()
    }
}
