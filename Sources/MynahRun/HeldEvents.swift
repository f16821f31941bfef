package import MynahCore
package import MynahSupport

extension HeldReports {
    /// The longest time that an event waits for the files of the state that it reports.
    private static var patience: Duration { .seconds(5) }

    /// Holds the events of a command until the state that they report is in its state directory.
    ///
    /// If the disk takes too long, they are reported nevertheless, after the warning of `late`.
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
