import Glibc
package import MynahCore
package import MynahSupport

/// Reads profile files.
public enum ProfileLoader {
    /// The largest size of a file, in bytes.
    ///
    /// This is ten times the size of a device with a thousand characteristics.
    public static let maximumSize = 1 << 20

    /// Loads a profile file; all errors are thrown together, and the profile has the warnings.
    public static func load(path: String) throws(ProfileIssues) -> Profile {
        try load(bytes: contents(of: path), file: path, files: NamedFiles(besides: path))
    }

    /// Loads a profile like `load(path:)`, but only from a regular file.
    ///
    /// Reading a pipe or a device may never end.
    package static func load(regularFile path: String) throws(ProfileIssues) -> Profile {
        try load(bytes: contents(of: path, isRegular: true), file: path, files: NamedFiles(besides: path))
    }

    /// Loads a profile from text, which cannot refer to other files; `file` is its name in messages.
    public static func load(text: String, file: String) throws(ProfileIssues) -> Profile {
        try load(bytes: Array(text.utf8), file: file)
    }

    /// Loads a profile from JSON, which cannot refer to other files; `name` is its name in messages.
    ///
    /// Issues contain the path to a value instead of a line and a column.
    package static func load(_ json: JSON, name: String) throws(ProfileIssues) -> Profile {
        try profile(YAMLNode(json), FormatReader(json, name: name))
    }

    /// Parses a fault from JSON, written as in the list `faults` of a profile.
    package static func fault(
        _ json: JSON, name: String, in scope: FaultScope
    ) throws(ProfileIssues) -> ProfileFault {
        try read(YAMLNode(json), FormatReader(json, name: name)) {
            FaultSection.read($0, in: scope, $1)
        }.result
    }

    /// Parses a change of a device's advertising from JSON, which may also switch the advertising on or off.
    package static func advertisementChange(
        _ json: JSON, in scope: FaultScope
    ) throws(ProfileIssues) -> AdvertisingRequest {
        try read(YAMLNode(json), FormatReader(json, name: "advertise")) {
            AdvertisementChangeSection.readAsked($0, in: scope, $1)
        }.result
    }

    /// Returns the reason that a changed advertising set cannot be advertised, or `nil` if it can.
    ///
    /// The set is checked like the sets in a profile. `original` is the advertisement before the change.
    package static func advertisementProblem(
        of set: Advertisement, in original: Advertisement
    ) -> String? {
        let empty = JSON.object([])
        let reader = FormatReader(empty, name: "advertise")
        guard let fields = reader.fields(YAMLNode(empty), AdvertisementChangeSection.table) else {
            return nil
        }
        AdvertisementChangeSection.check(set, changedFrom: original, fields)
        return reader.issues.first { $0.severity == .error }?.message
    }

    /// Parses a notification of a phone from JSON, written as in the list `phone.notifications` of a profile.
    package static func notification(
        _ json: JSON, name: String
    ) throws(ProfileIssues) -> Profile.PhoneNotification {
        try read(YAMLNode(json), FormatReader(json, name: name)) {
            PhoneNotificationSection.read($0, $1)
        }.result
    }

    private static func load(
        bytes: [UInt8], file: String, files: NamedFiles? = nil
    ) throws(ProfileIssues) -> Profile {
        guard bytes.count <= maximumSize else {
            throw issue(
                file, at: .start,
                "the file is larger than \(maximumSize / 1024) KiB, the limit for a profile")
        }
        let text: YAMLText
        do throws(YAMLProblem) {
            text = try YAMLText(bytes)
        } catch {
            throw issue(file, at: error.mark ?? .start, error.message)
        }
        let reader = FormatReader(ProfileOrigin(file: file, lines: text.lines), files: files)
        if file.lowercased().hasSuffix(".json"), let problem = text.jsonProblem {
            reader.error(at: problem.mark, problem.message)
            throw ProfileIssues(reader.issues)
        }
        let document = YAMLDocument(text)
        for problem in document.problems { reader.error(at: problem.mark ?? .start, problem.message) }
        return try profile(document.root, reader)
    }

    private static func profile(_ root: YAMLNode?, _ reader: FormatReader) throws(ProfileIssues) -> Profile {
        var (profile, issues) = try read(root, reader) { ProfileSection.read($0, $1) }
        profile.warnings = issues
        return profile
    }

    /// Parses the root with `body`; returns the result with the warnings and notes, or throws the errors.
    private static func read<Result>(
        _ root: YAMLNode?, _ reader: FormatReader, _ body: (YAMLNode, FormatReader) -> Result?
    ) throws(ProfileIssues) -> (result: Result, issues: [ProfileIssue]) {
        let result = root.flatMap { body($0, reader) }
        let issues = reader.issues
        guard let result, reader.errorCount == 0 else { throw ProfileIssues(issues) }
        return (result, issues)
    }

    // MARK: Files

    private static func issue(_ file: String, at mark: SourceMark? = nil, _ message: String) -> ProfileIssues
    {
        ProfileIssues([ProfileIssue(file: file, mark: mark, message: message)])
    }

    private static func contents(of path: String, isRegular: Bool = false) throws(ProfileIssues) -> [UInt8] {
        let kind: InputFile.Kind
        do throws(InputFile.Problem) {
            let file = try InputFile(path)
            kind = file.kind
            if kind == .regular || kind == .other && !isRegular { return try file.prefix(maximumSize + 1) }
        } catch {
            throw issue(path, "cannot be read: \(error.reason)")
        }
        throw issue(
            path, kind == .directory ? "is a folder; name a profile in it" : "is not a regular file")
    }
}
