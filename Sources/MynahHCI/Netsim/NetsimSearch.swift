package import MynahCore
import MynahSupport

import Glibc

/// Finds the radio of an Android emulator by its port and its file.
package struct NetsimSearch: Sendable {
    /// The kind of a file at a path.
    enum Entry: Hashable, Sendable {
        case none
        /// A regular file that netsim may have written.
        case netsim
        /// A file of another user.
        ///
        /// The file is not used, because that user must not choose the radio for this user's devices.
        case foreign
        /// Anything else.
        case other
    }

    /// The system calls that the search uses.
    struct Probes: Sendable {
        var names: @Sendable (_ directory: String) -> [String]
        var entry: @Sendable (_ path: String) -> Entry
        /// Whether a program listens on this port of this machine.
        var listens: @Sendable (_ port: UInt16) -> Bool

        static let system = Probes(
            names: NetsimFiles.names(in:), entry: NetsimFiles.entry(at:),
            listens: { LoopbackListeners.listens(on: $0) })
    }

    /// The reason that the option `--radio auto` does not use an Android emulator.
    package struct Absence: Error, Hashable {
        /// The reason, in words that can follow "because" in a message.
        package var reason: String
    }

    private let environment: NetsimEnvironment
    let probes: Probes

    /// Makes a search on this machine.
    package init(_ environment: NetsimEnvironment) {
        self.init(environment, .system)
    }

    init(_ environment: NetsimEnvironment, _ probes: Probes) {
        self.environment = environment
        self.probes = probes
    }

    /// Returns the location of the radio of an emulator, which may not be running yet.
    ///
    /// If `instance` is `nil`, the variable `NETSIM_INSTANCE` determines the instance. If it is not set
    /// either, the instance is the first running one, or else instance 1.
    package func place(instance: Int? = nil) throws(RadioError) -> NetsimPlace {
        let named: Int? = if let instance { instance } else { try environment.instance() }
        if let named { return try place(of: named) }
        for found in instancesWithFiles {
            let place = try place(of: found)
            if isAlive(place) { return place }
        }
        return try place(of: 1)
    }

    /// Returns the location of the radio of a running emulator, or throws if it is not running.
    ///
    /// The emulator is running if its file exists and belongs to this user, and if its port is open. The
    /// search never waits.
    package func live(instance: Int? = nil) throws(Absence) -> NetsimPlace {
        let place: NetsimPlace
        do throws(RadioError) {
            place = try self.place(instance: instance)
        } catch {
            throw Absence(reason: error.message)
        }
        let paths = paths(of: place)
        guard let path = paths.first(where: { probes.entry($0) == .netsim }) else {
            if let path = paths.first(where: { probes.entry($0) == .foreign }) {
                throw Absence(reason: "\(path) belongs to another user")
            }
            throw Absence(reason: "no Android emulator is running")
        }
        guard probes.listens(place.port) else {
            throw Absence(
                reason:
                    "the emulator of \(path) does not listen on \(HCITransportAddress.loopback):\(place.port)"
            )
        }
        return place
    }

    private func place(of instance: Int) throws(RadioError) -> NetsimPlace {
        NetsimPlace(
            instance: instance, port: try environment.port(instance: instance),
            directories: environment.directories)
    }

    private func isAlive(_ place: NetsimPlace) -> Bool {
        paths(of: place).contains { probes.entry($0) == .netsim } && probes.listens(place.port)
    }

    private func paths(of place: NetsimPlace) -> [String] {
        place.directories.map { "\($0)/\(NetsimFile.name(instance: place.instance))" }
    }

    private var instancesWithFiles: [Int] {
        Set(environment.directories.flatMap(probes.names).compactMap(NetsimFile.instance(named:))).sorted()
    }
}

/// Reads the files that netsim writes.
enum NetsimFiles {
    /// The most bytes of a file that are read; netsim writes only a few lines.
    private static let limit = 1 << 16

    static func names(in directory: String) -> [String] { Directory.names(in: directory) ?? [] }

    static func entry(at path: String) -> NetsimSearch.Entry {
        do throws(InputFile.Problem) {
            let file = try InputFile(path)
            guard file.kind == .regular else { return .other }
            guard file.owner == geteuid() else { return .foreign }
            let text = String(decoding: try file.prefix(limit), as: UTF8.self)
            return NetsimFile(parsing: text) == nil ? .other : .netsim
        } catch {
            switch error {
            case .system(ENOENT), .system(ENOTDIR): return .none
            case .system(EACCES): return .foreign
            default: return .other
            }
        }
    }
}
