package import MynahCore
package import MynahSupport

extension HeldReports {
    /// The longest time for which an event is held while files are being written.
    private static var patience: Duration { .seconds(5) }

    /// Makes a queue that holds each event until the state that it reports was written to the state
    /// directory.
    ///
    /// After 5 s, held events are passed on even if the state was not written. `late` makes a report from a
    /// warning about that, which is passed on first.
    package convenience init(
        for writer: FileWriter, clock: RunClock, late: @escaping @Sendable (RadioWarning) -> Report?,
        pass: @escaping @Sendable (Report) -> Void
    ) {
        self.init(for: writer, pass: pass) {
            late(
                RadioWarning(
                    "stateSlow",
                    "the state directory was not written within \(Self.patience.text): "
                        + "events are reported before that"
                ))
        } later: { body in
            clock.after(Self.patience, body)
        }
    }
}
