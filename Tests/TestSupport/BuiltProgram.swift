import Glibc

/// A program of this package.
///
/// It is in the directory of the tests, because both are built together.
package enum BuiltProgram {
    /// Its path, or `nil` if it was not built.
    package static func path(_ name: String) -> String? {
        let arguments = CommandLine.arguments
        let bundle = arguments.firstIndex(of: "--test-bundle-path").map {
            arguments[arguments.index(after: $0)]
        }
        let candidates = [bundle, realPath("/proc/self/exe"), arguments.first].compactMap { $0 }
        return candidates.lazy.map { folder(of: $0) + "/" + name }.first { access($0, X_OK) == 0 }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func realPath(_ path: String) -> String? {
        realpath(path, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
    }
}
