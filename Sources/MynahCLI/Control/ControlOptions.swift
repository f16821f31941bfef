import ArgumentParser
import MynahControl
import MynahRun

/// The options of the control API.
struct ControlOptions: ParsableArguments {
    /// The value of `--control`.
    enum Choice: Equatable {
        case off
        case address(ControlAddress)
    }

    @Option(
        help: ArgumentHelp(
            """
            Serves the control API, and a page for browsers at http://HOST:PORT/: HOST:PORT (port 0 picks \
            one), unix:PATH or off. Only this user can reach a Unix socket; every user of this machine can \
            reach a loopback address. With --with-parent or --with-pipe, the directory of PATH is made if \
            it is missing, but not one above it, and removed at the end if nothing else is in it.
            """, valueName: "address"),
        transform: Self.choice)
    var control: Choice?

    @Option(
        help: ArgumentHelp(
            """
            A file with the token that clients must send, of mode 0600. Addresses other than loopback need it.
            """,
            valueName: "file"),
        completion: .file())
    var controlTokenFile: String?

    @Option(
        name: .customLong("profiles"),
        help: ArgumentHelp(
            """
            A directory whose profiles clients may add by path. On a Unix socket they may add any profile \
            that this user can read.
            """, valueName: "directory"),
        completion: .directory)
    var profileDirectory: String?

    @Sendable private static func choice(_ text: String) throws -> Choice {
        do throws(ControlError) {
            return try ControlAddress.optional(text).map { .address($0) } ?? .off
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func address(isServer: Bool) throws(ControlError) -> ControlAddress? {
        switch control {
        case .off?: nil
        case .address(let address)?: address
        case nil: isServer ? try ControlAddress.ofThisUser() : nil
        }
    }

    /// The address, token and profile directory of the control API, or `nil` if these options turn it off.
    ///
    /// If `isServer` is `true`, an API without an address in the options uses the user's default socket.
    func plan(isServer: Bool) throws(ControlError) -> ControlPlan? {
        guard let address = try address(isServer: isServer) else { return nil }
        let token = try controlTokenFile.map { path throws(ControlError) in
            try ControlToken.read(path, isServer: true)
        }
        return ControlPlan(address, token: token, profiles: ProfileDirectory(profileDirectory))
    }
}
