import ArgumentParser
import MynahConsole
import MynahControl
import MynahSupport

struct CtlScenario: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "scenario", abstract: "Plays a scenario of a device, and waits for its end.",
        discussion: "It exits with status 0 if the scenario passes, and with 1 if it fails.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The name of the scenario.", completion: CtlHelp.scenarios) var name: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { request("POST", device: device, ["scenarios", name], []) }

    func run() async throws {
        let options = options.after(parent.options)
        let format = options.format ?? .text
        let outcome: Outcome
        let isVirtual: Bool
        do throws(ControlError) {
            let client = try options.client()
            outcome = try await play(with: client)
            isVirtual = ControlText.isVirtual(await Self.clock(of: client, for: format))
        } catch {
            throw failure(error)
        }
        switch outcome {
        case .refused(let response): try show(response, format)
        case .ended(let end):
            StandardOutput.print(format == .json ? end.text : ControlText.event(end, isVirtual: isVirtual))
            if !ControlText.isPass(end) { throw Exit.problems }
        case .lost:
            throw Exit.failure("the end of the scenario is not in the journal, which was emptied meanwhile")
        }
    }

    private enum Outcome {
        case refused(ControlClient.Response)
        /// The scenario ended, with this event.
        case ended(JSON)
        /// The scenario has ended, but the instance no longer stores the event of its end.
        case lost
    }

    private func play(with client: ControlClient) async throws(ControlError) -> Outcome {
        let begun = try await client.send(request(), limit: limit)
        guard begun.status == 202, let answer = try? JSON(parsing: begun.body) else { return .refused(begun) }
        while true {
            // The state is requested before the wait, so that an end after the answer is in the journal.
            let state = try await client.send(request("GET", device: device), limit: limit)
            let isPlaying = (try? JSON(parsing: state.body)).map { ControlText.plays(name, $0) } ?? false
            let wait = ControlText.wait(forEndOf: answer, within: isPlaying ? "1 min" : "0 s")
            let found = try await client.send(
                Self.request("POST", "/v1/wait", wait), limit: .seconds(60) + limit)
            if found.status == 200, let page = try? JSON(parsing: found.body) {
                if let end = ControlText.firstEvent(page) { return .ended(end) }
            }
            guard found.status == 408 else { return .refused(found) }
            if !isPlaying { return .lost }
        }
    }
}
