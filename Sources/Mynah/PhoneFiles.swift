import MynahSupport

/// The files of a phone's state; files that cannot be read or written are reported as warnings.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneFiles {
    private var states: PreservedStates
    private let reports: PhoneReports

    init(_ directory: StateDirectory?, _ reports: PhoneReports) {
        states = PreservedStates(directory)
        self.reports = reports
    }

    /// Whether the files no longer change.
    var isFinal: Bool { states.isFinal }

    /// Keeps the files as they are now, even if the phone's state changes later.
    func finish() { states.isFinal = true }

    /// Ends the phone's use of the directory, and returns the files.
    func close() -> PreservedStates {
        defer { states = PreservedStates(nil) }
        return states
    }

    /// The state that an earlier process preserved under a name, or `nil` if there is none.
    func load<State: PreservableState>(_ name: PreservedName) -> State? {
        let (state, warning): (State?, String?) = states.load(name)
        if let warning { reports.warn("preservedStateUnusable", warning) }
        return state
    }

    /// The devices that the phone knew in earlier runs.
    func loadKnownPeripherals() -> [KnownPeripherals.Entry] {
        let (entries, warning) = states.loadKnownPeripherals()
        if let warning { reports.warn("knownPeripheralsUnusable", warning) }
        return entries
    }

    /// Reads the file with the name `unkept.fileName`, and returns its content.
    ///
    /// Returns `unkept` if there is no usable file. A file that cannot be used is reported as a warning with
    /// this code.
    func load<Content: KeptContent>(
        insteadOf unkept: Content, warning code: String,
        _ parse: (JSON) throws(PreservedStateProblem) -> Content
    ) -> Content {
        let (content, warning) = states.load(insteadOf: unkept, parse)
        if let warning { reports.warn(code, warning) }
        return content
    }

    /// Queues the writing of a file; returns `false` if the phone has no state directory.
    ///
    /// A failure is reported again only if its reason changes, or after a successful write.
    @discardableResult
    func save(_ content: some KeptContent) -> Bool {
        states.save(content) { [weak reports] message in reports?.warnSoon("stateNotKept", message) }
    }

    /// Removes the state that is preserved under a name.
    func remove(_ name: PreservedName) { states.remove(name) }
}
