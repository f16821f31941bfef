package import MynahControl
import MynahCore
import MynahSupport

/// The address, the token and the profiles of a run's control API.
package struct ControlPlan: Sendable {
    /// The address of the server, or `nil` if only this process uses the API.
    package var address: ControlAddress?
    /// The token that clients must send, or `nil` if none is required.
    package var token: String?
    /// The directory of the profiles from which clients can add devices.
    package var profiles: ProfileDirectory

    /// Makes a plan for an API at an address; with `nil`, only this process can use the API.
    package init(_ address: ControlAddress?, token: String? = nil, profiles: ProfileDirectory) {
        self.address = address
        self.token = token
        self.profiles = profiles
    }
}

/// The control API of a run, with its server and its event journal.
final class ControlSession: Sendable {
    /// The stored events of the run.
    let journal: Journal
    private let plan: ControlPlan
    private let version: String
    private let clock: RunClock
    private let server = Lock<HTTPServer?>(nil)

    /// Makes a session for a plan; `version` is the version of the program.
    init(_ plan: ControlPlan, version: String, clock: RunClock) {
        journal = Journal()
        self.plan = plan
        self.version = version
        self.clock = clock
    }

    /// The control API of a run.
    func api(of run: any ControlledRun) -> ControlAPI {
        ControlAPI(run, journal, version: version, profiles: plan.profiles, clock: clock)
    }

    /// Starts the server of the API; returns its address, or `nil` if the API has no server.
    func serve(_ run: any ControlledRun) async throws(RadioError) -> String? {
        guard let address = plan.address else { return nil }
        let api = api(of: run)
        var options = HTTPServer.Options()
        options.token = plan.token
        let server = HTTPServer(address, options: options, precheck: { ControlAPI.refusal(of: $0) }) {
            await api.answer($0)
        }
        self.server.withLock { $0 = server }
        do throws(ControlError) {
            guard let time = clock.virtual else { return try await Self.start(server) }
            return try await time.waitOutside { () async throws(ControlError) in
                try await Self.start(server)
            }
        } catch {
            throw RadioError(.unreachable, error.message, remedy: error.remedy)
        }
    }

    /// Starts a server; throws if too few file descriptors are left to accept a client.
    private static func start(_ server: HTTPServer) async throws(ControlError) -> String {
        let address = try await server.start().description
        if let problem = server.lackOfFiles {
            await server.stop()
            throw ControlError(.unavailable, problem, remedy: OpenFiles.remedy)
        }
        return address
    }

    /// The error if too few file descriptors are left to accept a client, or `nil`.
    var lackOfFiles: RadioError? {
        server.withLock { $0 }?.lackOfFiles.map { RadioError(.unreachable, $0, remedy: OpenFiles.remedy) }
    }

    /// Removes all events from the journal, which then numbers events from 1 again.
    func beginAnew() { journal.restart() }

    /// Ends waiting requests, and stops the server.
    func end() async {
        journal.end()
        await server.withLock { $0 }?.stop()
    }
}
