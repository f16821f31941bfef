import Glibc
import MynahSupport

/// The secret token that a client sends to an address that can be reached from other machines.
package enum ControlToken {
    /// The largest size of the file, in bytes.
    private static let longest = 4096

    /// Reads a token from a file, which must have one line of printable ASCII characters without spaces.
    ///
    /// Errors do not contain the token. With `isServer`, a file that other users can read or write is
    /// refused.
    package static func read(_ path: String, isServer: Bool = false) throws(ControlError) -> String {
        let bytes: [UInt8]
        let isOpenToOthers: Bool
        do throws(InputFile.Problem) {
            let file = try InputFile(path)
            isOpenToOthers = file.isOpenToOthers
            // Other users could make the server wait for a pipe.
            bytes = isServer && isOpenToOthers ? [] : try file.prefix(longest + 1)
        } catch {
            throw ControlError(.unavailable, "the token file \(path) cannot be read: \(error.text)")
        }
        if isServer, isOpenToOthers {
            throw ControlError(
                .unavailable, "other users may read or write the token file \(path)",
                remedy: "run chmod 600 \(path)")
        }
        let text = bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        guard bytes.count <= longest, text.count == 1, text[0].count >= 16,
            text[0].allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw ControlError(
                .unavailable, "the token file \(path) is not one line of 16 characters or more",
                remedy: "write one with: (umask 077; openssl rand -hex 16 > \(path))")
        }
        return String(decoding: text[0], as: UTF8.self)
    }
}

extension ControlAddress {
    /// Returns the address of this user's `mynah serve`: `$XDG_RUNTIME_DIR/mynah.sock`.
    package static func ofThisUser() throws(ControlError) -> ControlAddress {
        guard let directory = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), directory.hasPrefix("/")
        else {
            throw ControlError(
                .invalidAddress, "XDG_RUNTIME_DIR is not set, so there is no directory for the socket",
                remedy: "name one with --control unix:PATH")
        }
        return try ControlAddress("unix:\(directory)/mynah.sock")
    }
}
