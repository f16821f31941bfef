import Glibc
import MynahCore

/// The environment variables that determine the location of netsim, the Android emulator's radio.
package struct NetsimEnvironment: Sendable {
    private let variables: [String: String]
    private let isMacOS: Bool

    /// The valid instance numbers, which are those whose default port fits in 16 bits.
    package static let instances = 1...(0xFFFF - firstPort + 1)
    /// The default port on which the first instance listens for H4.
    static let firstPort = 6402

    /// Makes an environment with these variables.
    package init(_ variables: [String: String], isMacOS: Bool = Self.runsOnMacOS) {
        self.variables = variables
        self.isMacOS = isMacOS
    }

    /// The environment of this process.
    package static var current: NetsimEnvironment {
        let names = ["XDG_RUNTIME_DIR", "TMPDIR", "HOME", "NETSIM_INSTANCE", "NETSIM_HCI_PORT"]
        let values = names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        return NetsimEnvironment(Dictionary(uniqueKeysWithValues: values))
    }

    /// `true` on macOS, which uses other directories for temporary files.
    package static var runsOnMacOS: Bool {
        #if os(macOS)
            true
        #else
            false
        #endif
    }

    /// The directories in which netsim may have written its file, in the order of the search.
    ///
    /// netsim writes to `TMPDIR` first, but other programs read from `XDG_RUNTIME_DIR` first, so all of
    /// these directories are searched.
    var directories: [String] {
        var found: [String] = []
        let candidates =
            isMacOS
            ? [variables["TMPDIR"], variables["HOME"].map { "\($0)/Library/Caches/TemporaryItems" }]
            : [variables["XDG_RUNTIME_DIR"], variables["TMPDIR"], "/tmp"]
        for case var path? in candidates where path.hasPrefix("/") {
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            if !found.contains(path) { found.append(path) }
        }
        return found
    }

    /// Returns the instance in `NETSIM_INSTANCE`, or `nil` if the variable is not set.
    func instance() throws(RadioError) -> Int? {
        guard let text = variables["NETSIM_INSTANCE"], !text.isEmpty else { return nil }
        guard let number = Int(text), Self.instances.contains(number) else {
            throw RadioError(
                .invalidState, "NETSIM_INSTANCE is \"\(text)\", which is not an instance number",
                remedy: "unset it, or set it to a number from 1 to \(Self.instances.upperBound)")
        }
        return number
    }

    /// Returns the H4 port of an instance: that in `NETSIM_HCI_PORT`, or else the instance's default port.
    func port(instance: Int) throws(RadioError) -> UInt16 {
        guard let text = variables["NETSIM_HCI_PORT"], !text.isEmpty else {
            return UInt16(Self.firstPort + instance - 1)
        }
        guard let port = UInt16(text), port > 0 else {
            throw RadioError(
                .invalidState, "NETSIM_HCI_PORT is \"\(text)\", which is not a port number",
                remedy: "unset it, or set it to a number from 1 to 65535")
        }
        return port
    }
}
