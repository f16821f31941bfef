import ArgumentParser
import MynahConsole
import MynahControl
import MynahSupport

import Glibc

/// `mynah ctl`.
struct CtlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl",
        abstract: "Controls the devices of a running mynah serve or mynah run --control.",
        usage: "mynah ctl <verb> ... [--control <address>] [--control-token-file <file>] [--format <format>]",
        discussion: """
            It exits with status 0, with 1 if a wait or a verification failed or the instance refused the \
            request, and with 64 for wrong usage. A match is EVENT [FIELD=VALUE]..., with the names of \
            --events json, as in run --until.
            """,
        subcommands: [
            CtlDevices.self, CtlAdd.self, CtlRemove.self, CtlShow.self, CtlGet.self, CtlSet.self,
            CtlWait.self, CtlVerify.self, CtlMark.self, CtlEvents.self, CtlReset.self, CtlVariable.self,
            CtlDisconnect.self, CtlForget.self, CtlAdvertise.self, CtlApp.self, CtlPasskey.self,
            CtlAlert.self, CtlType.self,
            CtlFaults.self, CtlFault.self, CtlScenario.self, CtlAnswer.self, CtlReport.self,
            CtlClock.self, CtlAdvance.self, CtlPhone.self,
        ])

    @OptionGroup var options: CtlOptions
}

/// The output format of `ctl`.
enum CtlFormat: String, CaseIterable {
    case text
    case json
}

/// The options of `ctl`, before or after its verb.
struct CtlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The instance: unix:PATH or http://HOST:PORT. Default: MYNAH_CONTROL, else \
            $XDG_RUNTIME_DIR/mynah.sock.
            """, valueName: "address"))
    var control: String?

    @Option(
        help: ArgumentHelp("A file with the token that the instance asks for.", valueName: "file"),
        completion: .file())
    var controlTokenFile: String?

    @Option(
        help: "text (the default) or json, as the instance answers.",
        completion: Choice.completion(of: CtlFormat.self), transform: Choice.parse)
    var format: CtlFormat?

    /// Returns these options; an option that is not set here is copied from `before`, the options before the
    /// verb.
    func after(_ before: CtlOptions) -> CtlOptions {
        var options = self
        options.control = control ?? before.control
        options.controlTokenFile = controlTokenFile ?? before.controlTokenFile
        options.format = format ?? before.format
        return options
    }

    /// Makes a client of the control API of the running `mynah` that the options name.
    func client() throws(ControlError) -> ControlClient {
        try Self.client(at: control, tokenFile: controlTokenFile)
    }

    /// Makes a client of the control API of a running `mynah`.
    ///
    /// If `address` is `nil`, the client uses the default address.
    static func client(at address: String?, tokenFile: String?) throws(ControlError) -> ControlClient {
        let text =
            address ?? getenv("MYNAH_CONTROL").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        let token = try tokenFile.map { path throws(ControlError) in try ControlToken.read(path) }
        guard let text else { return ControlClient(try .ofThisUser(), token: token) }
        return ControlClient(try ControlAddress(text), token: token)
    }
}

/// A verb of `ctl`, which sends one request to a running `mynah` and prints the answer.
///
/// The running `mynah` is called the instance.
protocol CtlVerb: AsyncParsableCommand {
    /// The command `ctl` with its options.
    var parent: CtlCommand { get }
    var options: CtlOptions { get }

    /// The request.
    func request() throws -> ControlClient.Request
    /// The lines to print for an answer.
    func lines(_ answer: JSON) -> [String]
    /// The lines to print for an error of the instance.
    func errorLines(_ problem: JSON) -> [String]
    /// The exit code if the instance answers with status 400.
    var codeOfWrongRequest: ExitCode { get }
    /// The time limit for the answer.
    var limit: Duration { get }
    /// Whether the verb prints events.
    ///
    /// The times of events are printed in UTC if the instance has virtual time.
    var printsEvents: Bool { get }
}

extension CtlVerb {
    // With --clock manual, an advance of another client may take 60 s before this request is handled.
    var limit: Duration { .seconds(90) }

    var codeOfWrongRequest: ExitCode { Exit.usage }

    var printsEvents: Bool { false }

    func lines(_ answer: JSON) -> [String] { [] }
    func errorLines(_ problem: JSON) -> [String] { ControlText.error(problem) }

    func run() async throws { try await sendAndShow() }

    /// Sends the request, and prints the answer.
    func sendAndShow() async throws {
        let request = try request()
        let options = options.after(parent.options)
        let format = options.format ?? .text
        let response: ControlClient.Response
        var clock = JSON.object([])
        do throws(ControlError) {
            let client = try options.client()
            response = try await client.send(request, limit: limit)
            if printsEvents { clock = await Self.clock(of: client, for: format) }
        } catch {
            throw failure(error)
        }
        try show(response, format, clock)
    }

    /// Requests the instance's clock, which determines how the times of events are printed as text.
    ///
    /// The result is an empty object if `format` is `json`, or if the request fails.
    static func clock(of client: ControlClient, for format: CtlFormat) async -> JSON {
        guard format == .text,
            let response = try? await client.send(Self.request("GET", "/v1/clock"), limit: .seconds(90)),
            response.status == 200
        else { return .object([]) }
        return (try? JSON(parsing: response.body)) ?? .object([])
    }

    /// Prints that the instance could not be reached or did not answer, and returns the exit code.
    func failure(_ error: ControlError) -> ExitCode {
        StandardError.print("error: \(PrintableText.of(error.description))")
        return error.code == .invalidAddress ? Exit.usage : Exit.problems
    }

    /// Prints the answer of the instance; throws if the answer is an error.
    ///
    /// `clock` describes the instance's clock, by which the times of events are printed.
    func show(
        _ response: ControlClient.Response, _ format: CtlFormat, _ clock: JSON = .object([])
    ) throws {
        let json = try? JSON(parsing: response.body)
        guard response.status < 400 else {
            let lines =
                json.map { errorLines($0.adding(clock)) }
                ?? ["error: the instance answered with status \(response.status)"]
            StandardError.print(lines.joined(separator: "\n"))
            if format == .json, let json { StandardOutput.print(json.text) }
            throw response.status == 400 ? codeOfWrongRequest : Exit.problems
        }
        guard let json else {
            return StandardOutput.print(String(decoding: response.body, as: UTF8.self))
        }
        show(json, format, clock)
    }

    /// Prints a JSON answer of the instance.
    ///
    /// `clock` describes the instance's clock, by which the times of events are printed.
    func show(_ json: JSON, _ format: CtlFormat, _ clock: JSON) {
        switch format {
        case .json: StandardOutput.print(json.text)
        case .text: for line in lines(json.adding(clock)) { StandardOutput.print(line) }
        }
    }

    /// Makes a request to the path of a device, followed by `rest`; `members` are those of the JSON body.
    func request(
        _ method: String, device: String, _ rest: [String] = [], _ members: [JSON.Member]? = nil
    ) -> ControlClient.Request {
        let path = (["v1", "devices", device] + rest).map(ControlClient.encode).joined(separator: "/")
        return Self.request(method, "/" + path, members)
    }

    static func request(
        _ method: String, _ target: String, _ members: [JSON.Member]? = nil
    ) -> ControlClient.Request {
        var headers = [HTTPField("Accept", "application/json")]
        if members != nil { headers.append(HTTPField("Content-Type", "application/json")) }
        return ControlClient.Request(
            method, target, headers: headers, body: members.map { Array(JSON.object($0).text.utf8) })
    }
}

extension JSON {
    /// An object with the members of both objects.
    fileprivate func adding(_ other: JSON) -> JSON {
        guard case .object(let members) = self, case .object(let others) = other else { return self }
        return .object(members + others)
    }
}
