import MynahSupport

import Glibc

/// Writes the file of `--report`.
enum ReportFile {
    /// The reason that a report cannot be written to a file, or `nil` if none was found in advance.
    private static func problem(with path: String) -> String? {
        var status = stat()
        if path.isEmpty { return "the path is empty; name a file for --report" }
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "no regular file"
            return "\(path) is \(kind); name a file for --report"
        }
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard access(directory, W_OK) != 0 else { return nil }
        return "\(path) cannot be written: \(String(cString: strerror(errno)))"
    }

    /// Replaces the file by the report in one step.
    static func write(_ text: String, to path: String) throws(KeptFile.Problem) {
        if let problem = problem(with: path) { throw KeptFile.Problem(description: problem) }
        try KeptFile(path: path).replace(Array(text.utf8))
        // Other users may read the report, unlike the files that the program keeps.
        let mask = umask(0o077)
        umask(mask)
        chmod(path, 0o666 & ~mask)
    }
}
