import Glibc

/// A file of a test could not be made, written or read.
package struct FileTrouble: Error, CustomStringConvertible {
    /// Which file, and why.
    package let description: String

    /// The trouble with a file, by the error that the system has just reported.
    package init(_ path: String) {
        description = "\(path): \(String(cString: strerror(errno)))"
    }
}

/// A directory of a test's own, gone with it.
package final class TemporaryDirectory: Sendable {
    /// Where it is.
    package let path: String

    /// Makes it.
    package init() throws {
        var template = Array("/tmp/mynah-state-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { mkdtemp($0) != nil } ?? false
        }
        guard made else { throw FileTrouble("/tmp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.delete(path) }

    /// Deletes a directory with everything in it; links are not followed.
    private static func delete(_ path: String) {
        for name in names(in: path) where unlink("\(path)/\(name)") != 0 { delete("\(path)/\(name)") }
        rmdir(path)
    }

    /// The names of what is in it, sorted.
    package var files: [String] { Self.names(in: path) }

    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Writes a file.
    package func write(_ text: String, to name: String) throws {
        guard let file = fopen(path + "/" + name, "w") else { throw FileTrouble(path + "/" + name) }
        defer { fclose(file) }
        guard fputs(text, file) >= 0 else { throw FileTrouble(path + "/" + name) }
    }

    /// The whole contents of a file.
    package func bytes(_ name: String) throws -> [UInt8] {
        guard let file = fopen(path + "/" + name, "r") else { throw FileTrouble(path + "/" + name) }
        defer { fclose(file) }
        var (bytes, piece): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65536))
        while true {
            let count = fread(&piece, 1, piece.count, file)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    /// The contents of a file, at most 64 kB.
    package func read(_ name: String) throws -> String {
        guard let file = fopen(path + "/" + name, "r") else { throw FileTrouble(path + "/" + name) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
