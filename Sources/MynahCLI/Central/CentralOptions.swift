import ArgumentParser
import MynahCore
import MynahHCI
import MynahProfiles
import MynahRun
import MynahSupport

/// Options that scan, connect and record share, as values.
enum CentralOptions {
    /// A service as it is written: a UUID or the SIG's name.
    static func service(_ text: String, of command: any ParsableCommand.Type) throws -> BluetoothUUID {
        if let uuid = BluetoothUUID(text) ?? AssignedNumbers.service(named: text) { return uuid }
        let near =
            NearestName.of(text, among: AssignedNumbers.serviceNames).map { "; did you mean \"\($0)\"?" }
            ?? "; write a UUID or the SIG's name, as in 180D or heart-rate"
        throw Exit.wrongUsage("there is no service \"\(text)\"\(near)", of: command)
    }

    static func duration(
        _ text: String?, _ option: String, of command: any ParsableCommand.Type
    ) throws -> Duration? {
        guard let text else { return nil }
        do throws(DurationText.Problem) {
            return try DurationText.parse(text)
        } catch {
            throw Exit.wrongUsage("\(option) \(text): the time \(error.message)", of: command)
        }
    }

    /// The options of a phone's radio; prints to standard error which radio `auto` selects.
    static func radio(
        _ options: RadioOptions<PhoneSide>, of command: any ParsableCommand.Type,
        failing fail: (RadioError) -> Void = { StandardError.print("error: \($0)") }
    ) throws -> RadioMaker.Options {
        if options.capture == .standardOutput {
            throw Exit.wrongUsage(
                "--capture - is for `mynah run`; this command writes its results to standard output: "
                    + "name a file",
                of: command)
        }
        let chooser = RadioChooser(choice: options.radio) { StandardError.print($0.message) }
        do throws(RadioError) {
            let chosen = try chooser.forPhone(command.configuration.commandName ?? "mynah")
            return RadioMaker.Options(
                choice: chosen,
                capture: options.capture.map {
                    Capture(
                        $0, version: MynahCommand.configuration.version,
                        reports: .init(
                            warn: { Self.print($0) }, fail: { StandardError.print("error: \($0)") }))
                }, notice: { Self.print($0) })
        } catch {
            fail(error)
            throw Exit.problems
        }
    }

    /// Writes what the user should know of the radio to standard error.
    static func print(_ warning: RadioWarning) {
        // Later runs miss the socket of a process that is there for long; a phone's command is over soon.
        guard warning.code != "airNotWatched" else { return }
        StandardError.print(warning.isWait ? warning.message : "warning: \(warning.message)")
    }
}

extension RadioWarning {
    /// Whether a warning only reports what a radio waits for.
    var isWait: Bool { code.hasPrefix("waitingFor") }
}
