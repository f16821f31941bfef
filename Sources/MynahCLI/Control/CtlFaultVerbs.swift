import ArgumentParser
import MynahConsole
import MynahControl
import MynahSupport

struct CtlFaults: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "faults", abstract: "Lists the faults of a device, and how often each was applied.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { request("GET", device: device, ["faults"]) }
    func lines(_ answer: JSON) -> [String] { ControlText.faults(answer) }
}

struct CtlFault: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Turns a fault of a device on or off.",
        discussion: "A fault that is turned on counts from zero.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The name of the fault.", completion: CtlHelp.faults) var name: String
    @Argument(
        help: "on or off.", completion: Choice.completion(of: State.self), transform: Choice.parse)
    var state: State
    @OptionGroup var options: CtlOptions

    enum State: String, CaseIterable {
        case on
        case off
    }

    func request() -> ControlClient.Request {
        request("PATCH", device: device, ["faults", name], [.init("off", .bool(state == .off))])
    }
}
