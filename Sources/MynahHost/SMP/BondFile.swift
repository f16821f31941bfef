import MynahCore
import MynahSupport

/// The file in which a radio keeps its bonds, and its identity towards those who are bonded.
///
/// It is replaced whole, and only its owner may read it. One that cannot be used is set aside under another name and never
/// deleted. A file belongs to one radio of one process at a time; a state directory sees to that.
public struct BondFile: Hashable, Sendable {
    private let file: KeptFile

    /// The file with this path, which need not be there yet.
    public init(path: String) {
        file = KeptFile(path: path)
    }

    /// What was kept.
    struct Contents {
        /// Nil: nothing that can be used.
        var store: BondStore?
        /// What the user should know.
        var warning: String?
        /// False: what is there could not be set aside, and must not be written over.
        var mayReplace = true
    }

    func load() -> Contents {
        let problem: String
        do {
            guard let bytes = try file.read() else { return Contents() }
            return Contents(store: try BondStore(try JSON(parsing: bytes)))
        } catch let error as JSON.ParseError {
            problem = "it is no JSON: \(error)"
        } catch {
            problem = "\(error)"
        }
        let place = file.setAside()
        return Contents(
            warning: "the bonds in \(file.path) cannot be used: \(problem); "
                + (place.map { "the file was set aside as \($0)" }
                    ?? "it could not be set aside, and new ones are not kept"),
            mayReplace: place != nil)
    }

    func save(_ store: BondStore) throws(KeptFile.Problem) {
        try file.replace(Array((store.json.prettyText + "\n").utf8))
    }
}
