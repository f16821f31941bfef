import ArgumentParser
import Logging
import Mynah
import MynahCore
import MynahHCI
import MynahProfiles
import MynahSupport

/// What the commands of the phone's side have in common.
enum CentralOptions {
    /// A service as it is written: a UUID or the SIG's name.
    static func service(_ text: String, of command: any ParsableCommand.Type) throws -> BluetoothUUID {
        if let uuid = BluetoothUUID(text) ?? AssignedNumbers.service(named: text) { return uuid }
        let near =
            NearestName.of(text, among: AssignedNumbers.serviceNames).map { "; did you mean \"\($0)\"?" }
            ?? ""
        throw Exit.wrongUsage("there is no service \"\(text)\"\(near)", of: command)
    }

    static func duration(
        _ text: String?, _ option: String, of command: any ParsableCommand.Type
    ) throws -> Duration? {
        guard let text else { return nil }
        do throws(DurationText.Problem) {
            return try DurationText.parse(text)
        } catch {
            throw Exit.wrongUsage("\(option) \(text): \(error.message)", of: command)
        }
    }

    /// bluetoothd is asked by peripherals alone, as yet.
    static func radios(
        _ choice: RadioChoice, stateDirectory: String? = nil, capture: CaptureTarget? = nil,
        of command: any ParsableCommand.Type
    ) throws -> RadioMaker {
        guard choice != .bluez else {
            throw Exit.wrongUsage(
                "the phone's side does not go through bluetoothd: take --radio virtual or --radio hci:TRANSPORT",
                of: command)
        }
        if capture == .standardOutput {
            throw Exit.wrongUsage(
                "--capture - is for `mynah run`: this command writes its results to standard output, so name a file",
                of: command)
        }
        var options = RadioMaker.Options(
            choice: choice == .auto ? .virtual : choice, stateDirectory: stateDirectory)
        options.capture = capture.map {
            Capture(
                $0,
                reports: .init(
                    warn: { StandardError.print("warning: \($0.message)") },
                    fail: { StandardError.print("error: \($0)") }))
        }
        return RadioMaker(options)
    }

    static func log(_ level: LogLevel) {
        let level = level.level
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
    }

    /// Starts a manager, does the work and stops it when it is interrupted; the first failure ends it too.
    static func play(
        _ manager: CentralManager, until interruption: Interruption,
        ending: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () async throws(RadioError) -> Void
    ) async -> RadioError? {
        // Interrupted while it starts: the radio is stopped, which makes the start fail.
        let starting = Task<RadioError?, Never> {
            do throws(RadioError) {
                try await manager.start()
                try await work()
                return nil
            } catch {
                return error
            }
        }
        let stopping = Task {
            await interruption.wait()
            ending()
            starting.cancel()
            await manager.stop()
        }
        let failure = await starting.value
        let wasInterrupted = interruption.isInterrupted
        if failure != nil { interruption.interrupt() }
        await stopping.value
        return wasInterrupted ? nil : failure
    }
}
