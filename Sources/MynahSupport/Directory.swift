import Glibc

/// Functions for directories of the file system.
package enum Directory {
    /// The path of the directory that contains the file at a path.
    package static func parent(of path: String) -> String {
        let name = path.utf8.lastIndex { $0 != UInt8(ascii: "/") } ?? path.startIndex
        guard let slash = path.utf8[..<name].lastIndex(of: UInt8(ascii: "/")) else {
            return path.hasPrefix("/") ? "/" : "."
        }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the names of a directory's entries in no order, with `.` and `..`.
    ///
    /// If the directory cannot be listed, the result is `nil`, and `errno` has the reason.
    package static func names(in path: String) -> [String]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}
