import MynahTestSupport
import MynahProfiles

import Glibc

/// A file that is gone when the test is done.
final class TemporaryFile {
    let path: String

    struct Unwritten: Error {}

    init(_ bytes: [UInt8]) throws(Unwritten) {
        var template = Array("/tmp/mynah-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Unwritten() }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let written = write(descriptor, bytes, bytes.count)
        close(descriptor)
        guard written == bytes.count else { throw Unwritten() }
    }

    deinit {
        unlink(path)
    }

    /// As the function of this name, of the file.
    func problems() throws -> [String] {
        do throws(ProfileIssues) {
            return try ProfileLoader.load(path: path).warnings.map(\.message)
        } catch {
            return error.issues.map { issue in
                let place = issue.mark.map { "\($0.line):\($0.column): " } ?? ""
                return "\(place)\(issue.severity.rawValue): \(issue.message)"
            }
        }
    }
}

/// A pipe whose end can be opened by path, as a shell's `<(…)` is.
final class Pipe {
    private let reader: Int32
    let writer: Int32
    var path: String { "/dev/fd/\(reader)" }

    init?() {
        var ends: [Int32] = [-1, -1]
        guard makePipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    /// A reader is at the end only when nobody can write any more.
    func closeWriter() { close(writer) }

    deinit {
        close(reader)
    }
}
