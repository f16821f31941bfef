import MynahCore
import MynahLifecycle
import MynahSupport

/// The preserved states of the managers of a phone's apps, in memory, and in a directory if there is one.
struct PreservedStates {
    private let directory: StateDirectory?
    /// Whether the preserved states no longer change.
    var isFinal = false
    /// The removed names, whose files may still exist for a moment.
    private var removed: Set<PreservedName> = []

    init(_ directory: StateDirectory?) {
        self.directory = directory
    }

    /// Returns the state that an earlier process preserved under a name, and a warning for the user.
    func load<State: PreservableState>(_ name: PreservedName) -> (state: State?, warning: String?) {
        guard !removed.contains(name) else { return (nil, nil) }
        return directory?.load(name) ?? (nil, nil)
    }

    /// Returns the devices that the phone knew in earlier runs, and a warning for the user.
    func loadKnownPeripherals() -> (entries: [KnownPeripherals.Entry], warning: String?) {
        directory?.loadKnownPeripherals() ?? ([], nil)
    }

    /// Reads the file with the name `unkept.fileName`; returns its content, and a warning for the user.
    ///
    /// The content is `unkept` if there is no usable file.
    func load<Content: KeptContent>(
        insteadOf unkept: Content, _ parse: (JSON) throws(PreservedStateProblem) -> Content
    ) -> (content: Content, warning: String?) {
        let (content, warning) = directory?.load(insteadOf: unkept, parse) ?? (nil, nil)
        return (content ?? unkept, warning)
    }

    /// Queues the writing of a file; returns `false` if there is no directory.
    ///
    /// `failed` is called on another thread with a message for the user. It is called again only if the
    /// reason changes, or after a successful write.
    func save(_ content: some KeptContent, failed: @escaping @Sendable (String) -> Void) -> Bool {
        guard let directory, !isFinal else { return false }
        let subject = content.subject
        directory.save(content) { error in failed("\(subject) could not be kept: \(error)") }
        return true
    }

    /// Returns when all queued files are written; a write that failed before is tried once more.
    func settle() async {
        directory?.writer.retry()
        await directory?.writer.settle()
    }

    mutating func remove(_ name: PreservedName) {
        guard !isFinal else { return }
        removed.insert(name)
        directory?.remove(name)
    }

    /// Removes these names, even if the preserved states no longer change.
    func forget(_ names: [PreservedName]) {
        for name in names { directory?.remove(name) }
    }
}
