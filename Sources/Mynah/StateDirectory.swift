public import MynahCore
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The directory in which a phone keeps what its apps' managers preserve, a file for each restore identifier.
///
/// One process at a time uses it. A file is replaced whole, so that whatever ends the process leaves the old or the new
/// one; one that cannot be read is set aside under another name and never deleted.
public final class StateDirectory: Sendable {
    private let path: String
    private let lock: Int32

    /// Opens a directory, and makes it where it is missing; throws `stateDirectory` where it cannot or another process
    /// has it.
    public init(path: String) throws(RadioError) {
        self.path = path
        try Self.make(path)
        let lockPath = path + "/lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error("\(lockPath) cannot be opened: \(Self.reason)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno == EWOULDBLOCK ? "another process uses it" : Self.reason
            close(descriptor)
            throw Self.error(
                "the state directory \(path) cannot be used: \(reason)", "give each run one of its own")
        }
        lock = descriptor
    }

    deinit {
        // A child that is just being started shares the descriptor until it becomes another program.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Makes it, and the directories above it that are missing.
    private static func make(_ path: String) throws(RadioError) {
        guard !path.isEmpty else { throw error("the state directory has no name") }
        for end in path.indices.dropFirst() where path[end] == "/" { mkdir(String(path[..<end]), 0o700) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw error("\(path) cannot be made: \(reason)")
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func error(_ message: String, _ remedy: String? = nil) -> RadioError {
        RadioError(.stateDirectory, message, remedy: remedy)
    }

    /// What was preserved under an identifier, and what the user should know of it.
    func load(_ identifier: String) -> (state: PreservedState?, warning: String?) {
        let file = self.file(identifier)
        do throws(PreservedStateProblem) {
            let bytes: [UInt8]
            do throws(KeptFile.Problem) {
                guard let kept = try file.read() else { return (nil, nil) }
                bytes = kept
            } catch {
                throw .init(description: error.description)
            }
            let json: JSON
            do throws(JSON.ParseError) {
                json = try JSON(parsing: bytes)
            } catch {
                throw .init(description: "it is no JSON: \(error)")
            }
            let state = try PreservedState(json: json)
            guard state.restoreIdentifier == identifier else {
                throw .init(description: "it is of \"\(state.restoreIdentifier)\"")
            }
            return (state, nil)
        } catch {
            let place = file.setAside().map { "it was set aside as \($0)" } ?? "it could not be set aside"
            return (nil, "the preserved state in \(file.path) cannot be used: \(error); \(place)")
        }
    }

    /// Replaces what is preserved under an identifier.
    func save(_ state: PreservedState) throws(RadioError) {
        do throws(KeptFile.Problem) {
            try file(state.restoreIdentifier).replace(Array((state.json.prettyText + "\n").utf8))
        } catch {
            throw Self.error(error.description)
        }
    }

    /// Forgets what is preserved under an identifier.
    func remove(_ identifier: String) {
        file(identifier).remove()
    }

    // MARK: Files

    /// An identifier's file: what a file name cannot hold, or another identifier could be mistaken for, is escaped.
    private func file(_ identifier: String) -> KeptFile {
        var name = ""
        for byte in identifier.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                name += "%" + Hex.encode([byte])
            }
        }
        if name.utf8.count > 180 {
            // FNV-1a, for what a file name has no room for.
            let hash = identifier.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
            name = name.prefix(160) + "-" + String(hash, radix: 16)
        }
        return KeptFile(path: "\(path)/peripheral-\(name).json")
    }
}
