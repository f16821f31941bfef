import MynahCore
package import MynahSupport

/// The file with a radio's bonds and its own keys.
///
/// The file is replaced as a whole, on its writer's thread, and only its owner may read it. A file that
/// cannot be used is renamed and never deleted. The state directory ensures that only one radio uses a file
/// at a time.
public struct BondFile: Sendable {
    private let file: KeptFile
    /// The file at the former path if the bonds are still in it, or else `nil`.
    ///
    /// The first change of the bonds moves this file to `path`.
    private let former: Lock<KeptFile?>
    /// The path of the file.
    public var path: String { file.path }

    /// The writer of the file; its `settle()` returns when all changes are written.
    let writer: FileWriter

    /// Makes a bond file with this path, which need not exist yet.
    public init(path: String) {
        self.init(path: path, writer: FileWriter())
    }

    /// Makes a bond file with this path, written by `writer` like other files of the process.
    ///
    /// If the file does not exist, the bonds are read from `formerPath`, and the first change renames that
    /// file to `path`.
    package init(path: String, formerPath: String? = nil, writer: FileWriter) {
        file = KeptFile(path: path)
        former = Lock(formerPath.map { KeptFile(path: $0) })
        self.writer = writer
    }

    /// The contents of a file of bonds.
    struct Contents {
        /// A warning for the user.
        var warning: String?
        /// The bonds, or `nil` if there is no usable file.
        var store: BondStore?
        /// `false` if the file is unusable and could not be renamed, so that it must not be overwritten.
        var mayReplace = true
    }

    /// Reads the bonds.
    ///
    /// Bonds of runs with virtual time are left out with a warning, unless `acceptsSimulated` is `true`.
    func load(acceptsSimulated: Bool) -> Contents {
        if file.exists { former.withLock { $0 = nil } }
        let file = former.withLock { $0 } ?? file
        let problem: String
        do {
            guard let bytes = try file.read() else { return Contents() }
            var store = try BondStore(try JSON(parsing: bytes))
            if acceptsSimulated { return Contents(store: store) }
            guard !store.isSimulated else { throw Self.simulatedIdentity }
            return Contents(warning: Self.warning(about: store.removeSimulated(), in: file), store: store)
        } catch let error as JSON.ParseError {
            problem = "it is not JSON: \(error)"
        } catch {
            problem = "\(error)"
        }
        let place = file.setAside()
        return Contents(
            warning: "the bonds in \(file.path) cannot be used: \(problem); "
                + (place.map { "the file was renamed to \($0)" }
                    ?? "it could not be renamed, and new bonds are not saved"),
            mayReplace: place != nil)
    }

    private static let simulatedIdentity = RadioError(
        .stateDirectory,
        "a run with --clock fast or manual made the keys of this phone, and they follow from its seed")

    private static func warning(about peers: [DeviceAddress], in file: KeptFile) -> String? {
        guard !peers.isEmpty else { return nil }
        let names = peers.map(\.description).joined(separator: ", ")
        return
            "the bond with \(names) in \(file.path) is not used: a run with --clock fast or manual made it, "
            + "and its keys follow from the seed; pair again"
    }

    /// Queues new content for the file.
    ///
    /// `failed` is called on another thread if writing fails, but only once while it fails for the same
    /// reason.
    func save(_ store: BondStore, failed: @escaping @Sendable (KeptFile.Problem) -> Void) {
        former.withLock { former in
            former?.move(to: file)
            former = nil
        }
        writer.replace(file, with: { Array((store.json.prettyText + "\n").utf8) }, failed: failed)
    }
}
