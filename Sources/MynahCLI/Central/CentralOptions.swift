import ArgumentParser
import MynahCore
import MynahHCI
import MynahProfiles
import MynahRun
import MynahSupport

/// Parses options that scan, connect and record share.
enum CentralOptions {
    /// Parses a service: a UUID or the SIG's name.
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

    /// Chooses the radio of a phone, and prints the radio that `auto` selects.
    static func radio(
        _ options: RadioOptions<PhoneSide>, in surroundings: Surroundings, _ time: RunTime,
        of command: any ParsableCommand.Type
    ) throws -> Result<RadioMaker.Options, RadioError> {
        if options.capture == .standardOutput {
            throw Exit.wrongUsage(
                "--capture - is for `mynah run`; this command writes its results to standard output: "
                    + "name a file",
                of: command)
        }
        let chooser = RadioChooser(choice: options.radio.chosen(in: time)) { surroundings.say($0.message) }
        return Result { () throws(RadioError) in
            var making = RadioMaker.Options(
                choice: try chooser.forPhone(command.configuration.commandName ?? "mynah"),
                capture: options.capture.map {
                    Capture(
                        $0, version: MynahCommand.configuration.version, clock: time.clock,
                        reports: .init(
                            warn: { surroundings.say($0) }, fail: { surroundings.say("error: \($0)") }))
                }, notice: { surroundings.say($0) })
            making.time = time
            return making
        }
    }
}
