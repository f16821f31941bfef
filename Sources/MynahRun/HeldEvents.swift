package import MynahCore
package import MynahSupport

extension HeldReports {
    /// The longest time for which an event waits until its files are written.
    private static var patience: Duration { .seconds(5) }

    /// Holds the events of a command until the state that they report was written to the state directory.
    ///
    /// If the disk is too slow, they are passed on anyway, after the report that `late` returns for a
    /// warning.
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
