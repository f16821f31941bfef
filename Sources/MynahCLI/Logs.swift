import Logging
import MynahEmulator

/// Writes log lines to standard error, with times in the form of events.
struct Logs: LogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    /// Makes loggers write lines of at least this level, on the queue of standard error.
    static func begin(_ level: LogLevel) {
        StandardError.beginQueue()
        let level = level.level
        LoggingSystem.bootstrap { Logs(label: $0, logLevel: level) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { fields["error"] = "\(error)" }
        let texts = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        let start = "\(WallTime.now().rfc3339) \(event.level) \(label):"
        StandardError.log("\(start)\(texts.joined()) [\(event.source)] \(event.message)")
    }
}
