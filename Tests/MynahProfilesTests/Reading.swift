import MynahCore
import MynahProfiles
import Testing

import Glibc

/// The problems of a profile in the file's order; empty if it has none.
func issues(_ text: String) -> [ProfileIssue] {
    do throws(ProfileIssues) {
        return try ProfileLoader.load(text: text, file: "device.yaml").warnings
    } catch {
        return error.issues
    }
}

/// The same as lines of `LINE:COLUMN: error: message`, the source left out.
func problems(_ text: String) -> [String] {
    issues(text).map { issue in
        let place = issue.mark.map { "\($0.line):\($0.column): " } ?? ""
        return "\(place)\(issue.severity.rawValue): \(issue.message)"
    }
}

/// A profile that must be right; what is wrong with it fails the test.
func profile(_ text: String) throws -> Profile {
    try ProfileLoader.load(text: text, file: "device.yaml")
}

/// A profile whose fields after the name are `rest`, which begins on line 3.
func head(_ rest: String) -> String { "mynah: 1\nname: Test\n" + rest }

/// A profile with one characteristic, whose fields are `fields`, on line 7 and indented by eight.
func characteristic(_ fields: String) -> String {
    head("services:\n  - uuid: battery\n    characteristics:\n      - uuid: 2A19\n        " + fields)
}

/// Where the repository is.
let repository: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(3)
    return parts.joined(separator: "/")
}()

/// A file's text, or an empty one where it cannot be read.
func contents(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// The names of the files in a folder that end like this, sorted.
func files(in folder: String, ending suffix: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name.hasSuffix(suffix) { names.append(name) }
    }
    return names.sorted()
}
