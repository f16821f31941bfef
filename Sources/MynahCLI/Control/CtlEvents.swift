import ArgumentParser
import MynahConsole
import MynahControl
import MynahSupport

struct CtlEvents: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Prints the events so far, or with --follow as they happen.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: "Only events that match, as in: write characteristic=2A39.") var match: [String] = []
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of the first event. Default: the last mark's.", valueName: "seq"),
        transform: { try Choice.number($0, in: 0...Int.max) })
    var since: Int?
    @Flag(help: "Goes on until Ctrl-C, or until its output is closed.") var follow = false
    @OptionGroup var options: CtlOptions

    private var query: EventPages {
        EventPages(since: since, match: match.isEmpty ? nil : match.joined(separator: " "))
    }

    func validate() throws {
        // The instance checks a match in the form of an object.
        guard let first = match.first, !first.hasPrefix("{") else { return }
        try CtlHelp.check(match: match.joined(separator: " "))
    }

    var printsEvents: Bool { true }

    func request() -> ControlClient.Request { Self.request("GET", query.streamTarget) }
    func lines(_ answer: JSON) -> [String] { ControlText.events(answer) }

    func run() async throws {
        let options = options.after(parent.options)
        let format = options.format ?? .text
        let client: ControlClient
        do throws(ControlError) {
            client = try options.client()
        } catch {
            throw failure(error)
        }
        try await follow ? print(as: format, from: client) : list(as: format, from: client)
    }

    /// Prints the events that the instance has stored so far.
    private func list(as format: CtlFormat, from client: ControlClient) async throws {
        var pages = query
        while let target = pages.target {
            let response: ControlClient.Response
            do throws(ControlError) {
                response = try await client.send(Self.request("GET", target), limit: limit)
            } catch {
                throw failure(error)
            }
            guard response.status == 200, let page = try? JSON(parsing: response.body) else {
                return try show(response, format)
            }
            pages.add(page)
        }
        show(pages.answer, format, await Self.clock(of: client, for: format))
    }

    /// Prints events as they happen, until standard output is closed.
    private func print(as format: CtlFormat, from client: ControlClient) async throws {
        let target = query.streamTarget
        let isVirtual = ControlText.isVirtual(await Self.clock(of: client, for: format))
        let result = await withTaskGroup { group in
            group.addTask { () -> Result<ControlClient.Response?, ControlError> in
                do throws(ControlError) {
                    return .success(
                        try await client.events(target) { event in
                            guard let json = try? JSON(parsing: Array(event.data.utf8)) else { return true }
                            StandardOutput.print(
                                format == .json ? json.text : ControlText.event(json, isVirtual: isVirtual))
                            return !StandardOutput.isOver
                        })
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await StandardOutput.waitUntilClosed()
                return .success(nil)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .success(nil)
        }
        switch result {
        case .success(let response?): try show(response, format)
        case .success(nil): return
        case .failure(let error): throw failure(error)
        }
    }
}
