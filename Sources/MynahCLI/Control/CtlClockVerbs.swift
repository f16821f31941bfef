import ArgumentParser
import MynahConsole
import MynahControl
import MynahProfiles
import MynahSupport

struct CtlClock: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Prints the clock of the run and its time.")
    @ParentCommand var parent: CtlCommand
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { Self.request("GET", "/v1/clock") }
    func lines(_ answer: JSON) -> [String] { [ControlText.clock(answer)] }
}

struct CtlAdvance: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "advance", abstract: "Moves the time of a run with --clock manual.",
        discussion: """
            Prints the time when everything that is due by then is done. An advance that takes more than \
            60 s of real time stops, reports how far it came, and exits with status 1.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(help: "How far, such as 15min.") var time: [String]
    @OptionGroup var options: CtlOptions

    private var text: String { time.joined(separator: " ") }

    // An advance may take 60 s of real time, and another client's before it as well.
    var limit: Duration { .seconds(150) }

    func validate() throws {
        do throws(DurationText.Problem) {
            _ = try DurationText.parse(text)
        } catch {
            throw ValidationError("the time \(error.message)")
        }
    }

    func request() -> ControlClient.Request {
        Self.request("POST", "/v1/clock/advance", [.init("by", .string(text))])
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.clock(answer)] }
}
