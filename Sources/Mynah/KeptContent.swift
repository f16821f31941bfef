import MynahSupport

/// The contents of a file in a state directory.
protocol KeptContent: Sendable {
    /// The file's name, without a directory.
    var fileName: String { get }
    /// The subject of messages about the file, such as "the list of known peripherals".
    var subject: String { get }
    var json: JSON { get }
}

/// The state of a manager that is preserved under a name.
protocol PreservableState: KeptContent, Hashable {
    var name: PreservedName { get }
    /// Reads the state that is preserved under a name.
    init(json: JSON, of name: PreservedName) throws(PreservedStateProblem)
}

extension PreservableState {
    var fileName: String { name.fileName }
    var subject: String { "the state of \(name.restoreIdentifier)" }
}

/// The reason why a file of preserved state cannot be used.
struct PreservedStateProblem: Error, CustomStringConvertible {
    var description: String
}

extension JSON {
    private static let simulated = "simulated"

    /// `true` if a run with virtual time wrote this object; the files of bonds have the same mark.
    var isSimulated: Bool { self[Self.simulated]?.boolValue == true }

    /// A copy of the object with the mark of a run with virtual time.
    var markedAsSimulated: JSON {
        guard case .object(let members) = self else { return self }
        return .object(members + [.init(Self.simulated, .bool(true))])
    }

    /// Throws unless this is an object of the known version.
    func checkVersion(_ known: Int) throws(PreservedStateProblem) {
        guard case .object = self else { throw .init(description: "it is not a JSON object") }
        guard let version = self["mynahState"] else { throw .init(description: "it has no version") }
        guard version.integerValue == known else {
            throw .init(
                description: "it is of version \(version.text), and this mynah reads version \(known)")
        }
    }
}
