import MynahConsole
import MynahControl
import MynahEmulator
import MynahSupport

import Glibc

/// The scenario that a run plays, and what came of it.
final class ScenarioRun: Sendable {
    /// How it ended.
    private struct End {
        var isPass: Bool
        var step: Int
        var message: String
        /// Whether the run ended first, and the scenario with it.
        var isCut: Bool
    }

    private struct State {
        var began: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?
        var end: End?
    }

    let choice: ScenarioChoice
    private let state = Lock(State())

    init(_ choice: ScenarioChoice) {
        self.choice = choice
    }

    /// Takes an event of a device, which it names; `isOver` says whether the run ends already.
    ///
    /// Returns whether the run ends with it.
    func take(_ event: DeviceEvent, isOver: Bool) -> Bool {
        state.withLock { state in
            switch event.name {
            case .ready where state.began == nil:
                state.began = .now
                return false
            case .scenarioEnded where isMeant(event) && state.end == nil:
                guard case .integer(let step)? = event["step"] else { return false }
                state.ended = .now
                state.end = End(
                    isPass: event.string("result") == "pass", step: step,
                    message: event.string("message") ?? "", isCut: isOver)
                return true
            default: return false
            }
        }
    }

    private func isMeant(_ event: DeviceEvent) -> Bool {
        event.string("device") == choice.device && event.string("scenario") == choice.name
    }

    /// Why it did not pass; `cause` says why the run ended, unless the scenario ended it.
    ///
    /// Returns `nil` if it passed.
    func trouble(_ cause: String?) -> JUnitReport.Trouble? {
        guard let end = state.withLock({ $0.end }) else {
            return .error(cause ?? "the run ended before the scenario began")
        }
        let place = "step \(end.step): \(end.message)"
        if end.isPass, !end.isCut { return nil }
        return end.isCut ? .error("\(cause ?? "the run was ended") at \(place)") : .failure(place)
    }

    /// The line for a person that says why it did not pass, or `nil` if it did.
    func complaint(_ cause: String?) -> String? {
        let name = "the scenario \"\(choice.name)\""
        switch trouble(cause) {
        case .failure(let message): return PrintableText.of("\(name) failed at \(message)")
        case .error(let message): return PrintableText.of("\(name) did not end: \(message)")
        case nil: return nil
        }
    }

    /// The result in JUnit's XML.
    func report(_ cause: String?) -> String {
        let time = state.withLock { state in
            state.began.map { $0.duration(to: state.ended ?? .now) } ?? .zero
        }
        let trouble = trouble(cause)
        return JUnitReport([
            .init(choice.name, of: choice.device, time: time, troubles: trouble.map { [$0] } ?? [])
        ]).text
    }

    // MARK: The file

    /// Why a report cannot be written to a file, as far as that is known before, or `nil`.
    private static func problem(with path: String) -> String? {
        var status = stat()
        if path.isEmpty { return "the path is empty; name a file for --report" }
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "no regular file"
            return "\(path) is \(kind); name a file for --report"
        }
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard access(directory, W_OK) != 0 else { return nil }
        return "\(path) cannot be written: \(String(cString: strerror(errno)))"
    }

    /// Writes the report in one step; throws if that fails.
    static func write(_ text: String, to path: String) throws(KeptFile.Problem) {
        if let problem = problem(with: path) { throw KeptFile.Problem(description: problem) }
        try KeptFile(path: path).replace(Array(text.utf8))
        // It is for others too, unlike what a program keeps for itself.
        let mask = umask(0o077)
        umask(mask)
        chmod(path, 0o666 & ~mask)
    }
}
