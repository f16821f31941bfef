import Dispatch
import MynahCore
import MynahSupport

extension HeldReports {
    /// The most seconds that an event waits for the files of the state that it reports.
    private static var patience: Int { 5 }

    /// Holds the events of a command until the state that they report is in its state directory.
    ///
    /// If the disk takes too long, they are reported nevertheless, after the warning of `late`.
    convenience init(
        for writer: FileWriter, late: @escaping @Sendable (RadioWarning) -> Report?,
        pass: @escaping @Sendable (Report) -> Void
    ) {
        self.init(for: writer, pass: pass) {
            late(
                RadioWarning(
                    "stateSlow",
                    "the state directory was not written within \(Self.patience) s: "
                        + "events are reported before that"
                ))
        } later: { body in
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.patience), execute: body)
        }
    }
}
