import Glibc
import MynahSupport

/// Reads the files of a machine for `mynah doctor`, without changing them.
package struct MachineFiles: Sendable {
    /// The folder with a copy of a machine's files, or an empty text for this machine's files.
    package let root: String

    package init(root: String = "") { self.root = root }

    /// The largest number of bytes that are read of a file, except for the kernel's list of modules.
    private static let limit = 1 << 16

    // MARK: Probes

    /// The facts about the kernel, its Bluetooth support and its adapters.
    ///
    /// `socketProblem` returns the reason why this process cannot open a Bluetooth socket, or `nil` if it
    /// can. It is called only if the kernel's Bluetooth module is loaded, because the call would load the
    /// module.
    package func kernel(socketProblem: () -> String?) -> Fact<MachineFacts.Kernel> {
        let release: String
        switch text("/proc/sys/kernel/osrelease") {
        case .found(let text): release = String(text.prefix { !$0.isNewline })
        case .unknown(let reason): return .unknown(reason)
        }
        let bluetooth: MachineFacts.Kernel.Bluetooth
        if exists("/sys/module/bluetooth") || exists("/sys/class/bluetooth") {
            bluetooth = socketProblem().map { .hidden($0) } ?? .loaded
        } else {
            let lists = ["modules.dep", "modules.builtin"].map { "/lib/modules/\(release)/\($0)" }
            let isThere = lists.contains {
                text($0, limit: 16 << 20).value?.contains("/bluetooth.ko") == true
            }
            bluetooth = isThere ? .loadable : .absent
        }
        return .found(.init(release: release, bluetooth: bluetooth, adapters: adapters))
    }

    /// The device file of the module hci_vhci, for the kernel with this release.
    package func adapterFile(release: String) -> MachineFacts.AdapterFile {
        let lists = ["modules.dep", "modules.builtin"].map { "/lib/modules/\(release)/\($0)" }
        let isInstalled =
            exists("/sys/module/hci_vhci")
            || lists.contains { text($0, limit: 16 << 20).value?.contains("/hci_vhci.ko") == true }
        guard isInstalled else { return .absent }
        // Where the file is there without the module, opening it loads the module.
        guard exists("/dev/vhci") else { return .loadable }
        return access(root + "/dev/vhci", R_OK | W_OK) == 0 ? .ready : .notPermitted
    }

    /// The names of adapters, such as `hci0`, without those of connections, such as `hci0:42`.
    private var adapters: [String] {
        names("/sys/class/bluetooth").filter { name in
            name.hasPrefix("hci") && !name.dropFirst(3).isEmpty && name.dropFirst(3).allSatisfy(\.isNumber)
        }.sorted { ($0.count, $0) < ($1.count, $1) }
    }

    /// The facts about the container and the user namespace of this process.
    package func container(user: UInt32, variable: (String) -> String?) -> Fact<MachineFacts.Container> {
        let kind: String? =
            if exists("/.dockerenv") {
                "docker"
            } else if exists("/run/.containerenv") {
                "podman"
            } else if let name = variable("container"), !name.isEmpty {
                name
            } else if let name = text("/run/systemd/container").value?.prefix(while: { !$0.isNewline }),
                !name.isEmpty
            {
                String(name)
            } else {
                nil
            }
        switch text("/proc/self/uid_map") {
        case .unknown(let reason): return .unknown(reason)
        case .found(let text):
            let map = UserMap(text)
            return .found(
                .init(
                    kind: kind, user: user, outsideUser: map.outside(of: user), hasUserNamespace: !map.isWhole
                ))
        }
    }

    /// The arguments of the bluetoothd with this process identifier.
    package func arguments(ofDaemon process: UInt32?) -> Fact<[String]> {
        guard let process else { return .unknown("the bus does not say which process it is") }
        switch text("/proc/\(process)/cmdline") {
        case .unknown(let reason): return .unknown(reason)
        case .found(let text):
            let words = text.split(separator: "\0").map(String.init)
            // In a container, the bus's process identifiers belong to other processes.
            guard words.first?.split(separator: "/").last == "bluetoothd" else {
                return .unknown("process \(process) is not bluetoothd here")
            }
            return .found(words)
        }
    }

    /// The settings of a bluetoothd that was started with these arguments.
    package func configuration(
        arguments: Fact<[String]>, isInContainer: Bool
    ) -> Fact<MainConfiguration> {
        guard !isInContainer || arguments.value != nil else {
            return .unknown("bluetoothd runs outside this container, with its own main.conf")
        }
        var path = "/etc/bluetooth/main.conf"
        let words = arguments.value ?? []
        for (index, word) in words.enumerated() {
            if ["-f", "--configfile"].contains(word), words.indices.contains(index + 1) {
                path = words[index + 1]
            }
            if word.hasPrefix("--configfile=") { path = String(word.dropFirst("--configfile=".count)) }
        }
        // Without this file, bluetoothd uses its defaults.
        guard exists(path) else { return .found(MainConfiguration(path: path, text: "")) }
        switch text(path) {
        case .found(let text): return .found(MainConfiguration(path: path, text: text))
        case .unknown(let reason): return .unknown(reason)
        }
    }

    /// Whether systemd starts bluetoothd on demand on this machine.
    package var startsBluetoothd: Bool {
        exists("/run/systemd/system")
            && ["/etc", "/usr/lib", "/lib"].contains { exists("\($0)/systemd/system/dbus-org.bluez.service") }
    }

    /// Whether this process may open adapters exclusively (CAP_NET_ADMIN).
    package var mayTakeAdapters: Bool {
        let line = text("/proc/self/status").value?.split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("CapEff:") }
        guard let number = line?.split(whereSeparator: \.isWhitespace).last else { return false }
        return (UInt64(number, radix: 16) ?? 0) & (1 << 12) != 0
    }

    /// Returns the programs among `names` that are installed in a directory of the search path.
    package func programs(_ names: [String], path: String) -> [String] {
        let directories = path.split(separator: ":").filter { $0.hasPrefix("/") }
        return names.filter { name in directories.contains { isExecutable("\($0)/\(name)") } }
    }

    package func isExecutable(_ path: String) -> Bool { access(root + path, X_OK) == 0 }

    // MARK: Files

    private func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    private func names(_ directory: String) -> [String] { Directory.names(in: root + directory) ?? [] }

    /// The text of a regular file, cut to `limit` bytes.
    private func text(_ path: String, limit: Int = limit) -> Fact<String> {
        do throws(InputFile.Problem) {
            let file = try InputFile(root + path)
            guard file.kind == .regular else { return .unknown("\(path) is not a file") }
            return .found(String(decoding: try file.prefix(limit), as: UTF8.self))
        } catch {
            return .unknown("\(path): \(error.text)")
        }
    }
}

/// The mapping of user IDs in a user namespace, as in `/proc/self/uid_map`.
struct UserMap: Hashable {
    private struct Range: Hashable {
        var inside: UInt32
        var outside: UInt32
        var count: UInt32
    }

    private let ranges: [Range]

    init(_ text: String) {
        ranges = text.split(whereSeparator: \.isNewline).compactMap { line in
            let numbers = line.split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) }
            guard numbers.count == 3 else { return nil }
            return Range(inside: numbers[0], outside: numbers[1], count: numbers[2])
        }
    }

    /// Whether the namespace maps every user ID to itself, as the machine's own namespace does.
    var isWhole: Bool { ranges == [Range(inside: 0, outside: 0, count: .max)] }

    /// The user ID outside of the namespace for one inside, or `nil` if there is none.
    func outside(of user: UInt32) -> UInt32? {
        for range in ranges where user >= range.inside && user - range.inside < range.count {
            return range.outside.addingReportingOverflow(user - range.inside).partialValue
        }
        return nil
    }
}
