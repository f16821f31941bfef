#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Yams

/// Reads profile files.
public enum ProfileLoader {
    /// The largest file that is read, in bytes; a device with a thousand characteristics has a tenth of it.
    public static let maximumSize = 1 << 20
    /// Aliases multiply what they stand for; so many cannot multiply it beyond all measure.
    static let maximumAliases = 24

    /// Reads the profile in a file; warnings are in it, errors are thrown together.
    public static func load(path: String) throws(ProfileIssues) -> Profile {
        try load(bytes: contents(of: path), file: path)
    }

    /// Reads a profile from text; `file` is what its problems call it.
    public static func load(text: String, file: String) throws(ProfileIssues) -> Profile {
        try load(bytes: Array(text.utf8), file: file)
    }

    private static func load(bytes: [UInt8], file: String) throws(ProfileIssues) -> Profile {
        guard bytes.count <= maximumSize else {
            throw issue(file, "the file has over \(maximumSize / 1024) KiB; a profile has less")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw issue(file, "the file is not UTF-8 text")
        }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        var decoder = ProfileDecoder(file: file, lines: lines)
        let root: Node
        switch compose(text) {
        case .success(let node?): root = node
        case .success(nil): throw issue(file, "the file is empty; `mynah new` prints a profile to start from")
        case .failure(let problem):
            decoder.error(at: problem.mark, problem.message)
            throw ProfileIssues(decoder.issues)
        }
        let profile = decoder.profile(root)
        let issues = decoder.issues.sorted {
            ($0.mark?.line ?? 0, $0.mark?.column ?? 0) < ($1.mark?.line ?? 0, $1.mark?.column ?? 0)
        }
        guard var profile, !decoder.hasErrors else { throw ProfileIssues(issues) }
        profile.warnings = issues
        return profile
    }

    // MARK: YAML

    private struct Problem: Error {
        var mark: SourceMark?
        var message: String
    }

    private static func compose(_ text: String) -> Result<Node?, Problem> {
        let aliases = aliasCount(text)
        guard aliases <= maximumAliases else {
            return .failure(
                Problem(
                    mark: nil,
                    message: "the file uses over \(maximumAliases) aliases (*name); write the values out"))
        }
        do {
            // Without rules nothing is resolved: scalars stay as they are written.
            return .success(try Parser(yaml: text, resolver: Resolver.basic, encoding: .utf8).singleRoot())
        } catch let error as YamlError {
            return .failure(problem(error, in: text))
        } catch {
            return .failure(Problem(mark: nil, message: "the file cannot be read as YAML"))
        }
    }

    private static func aliasCount(_ text: String) -> Int {
        var count = 0
        var previous = UInt8(ascii: "\n")
        for byte in text.utf8 {
            if byte == UInt8(ascii: "*"), " \n\t[,:-?{".utf8.contains(previous) { count += 1 }
            previous = byte
        }
        return count
    }

    private static func problem(_ error: YamlError, in text: String) -> Problem {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let what = context.map { "\(problem) \($0.text)" } ?? problem
            if problem.contains("another document") {
                return Problem(
                    mark: sourceMark(mark),
                    message: "a profile is one document; this is the start of a second")
            }
            if problem.contains("Maximum nesting level") {
                return Problem(mark: sourceMark(mark), message: "the file is nested over 1000 levels deep")
            }
            return Problem(mark: sourceMark(mark), message: "this is no YAML: \(what)")
        case .reader(let problem, _, _, _):
            return Problem(mark: nil, message: "this is no YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let key = duplicates.first ?? ""
            return Problem(
                mark: secondKey(key, after: context.mark, in: text) ?? sourceMark(context.mark),
                message: "the key \(key.isEmpty ? "" : "\"\(key)\" ")is there twice; leave one out")
        default:
            return Problem(mark: nil, message: "the file cannot be read as YAML")
        }
    }

    private static func sourceMark(_ mark: Mark) -> SourceMark {
        SourceMark(line: mark.line, column: mark.column)
    }

    /// Where a key of the mapping that begins at `mark` stands for the second time.
    private static func secondKey(_ key: String, after mark: Mark, in text: String) -> SourceMark? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var seen = 0
        for (index, line) in lines.enumerated().dropFirst(max(0, mark.line - 1)) {
            let scalars = line.unicodeScalars
            let indent = scalars.prefix { $0 == " " || $0 == "-" }.count
            // Block style: the key stands in the mapping's column; flow style: anywhere on its line.
            if indent == mark.column - 1, Substring(scalars.dropFirst(indent)).hasPrefix("\(key):") {
                seen += 1
                if seen == 2 { return SourceMark(line: index + 1, column: indent + 1) }
            }
        }
        return nil
    }

    // MARK: Files

    private static func issue(_ file: String, _ message: String) -> ProfileIssues {
        ProfileIssues([ProfileIssue(file: file, message: message)])
    }

    private static func contents(of path: String) throws(ProfileIssues) -> [UInt8] {
        // Not blocking: a pipe that nobody writes to is no profile either.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw issue(path, "cannot be read: \(reason())") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw issue(path, "cannot be read: \(reason())") }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw issue(path, "is a folder; name a profile in it")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while bytes.count <= maximumSize {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw issue(path, "cannot be read: \(reason())") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    private static func reason() -> String {
        switch errno {
        case ENOENT: "there is no such file"
        case EACCES: "this user may not read it"
        default: String(cString: strerror(errno))
        }
    }
}
