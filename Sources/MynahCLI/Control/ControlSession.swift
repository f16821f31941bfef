import ArgumentParser
import MynahConsole
import MynahControl
import MynahCore
import MynahSupport

/// The control API of a run, from its address to its end.
final class ControlSession: Sendable {
    /// The events of the run.
    let journal = Journal()
    private let address: ControlAddress
    private let token: String?
    private let profiles: ProfileDirectory
    private let server = Lock<HTTPServer?>(nil)

    /// The session that the options ask for, or `nil` if nothing is served.
    init?(_ options: ControlOptions, isServer: Bool) throws(ControlError) {
        guard let address = try options.address(isServer: isServer) else { return nil }
        self.address = address
        token = try options.token()
        profiles = ProfileDirectory(options.profileDirectory)
    }

    /// Serves the API of a run; returns the address, as `ready` reports it.
    func serve(_ run: any ControlledRun) async throws(RadioError) -> String {
        let api = ControlAPI(
            run, journal, version: MynahCommand.configuration.version, profiles: profiles)
        var options = HTTPServer.Options()
        options.token = token
        let server = HTTPServer(address, options: options, precheck: { ControlAPI.refusal(of: $0) }) {
            await api.answer($0)
        }
        self.server.withLock { $0 = server }
        do throws(ControlError) {
            return try await server.start().description
        } catch {
            throw RadioError(.unreachable, error.message, remedy: error.remedy)
        }
    }

    /// Ends the waits, and then the server.
    func end() async {
        journal.end()
        await server.withLock { $0 }?.stop()
    }
}
