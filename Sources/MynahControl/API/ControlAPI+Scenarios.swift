import MynahEmulator
import MynahSupport

// The scenarios of a device.
extension ControlAPI {
    func playScenario(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        _ = try call.body()
        let name = call.parameter("scenario")
        // Refused before the number is read: the end of one that is played now would come after it.
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.checkPlay(name, of: device.label)
        }
        // The end of one that was played before may wait for a file.
        await run.awaitEvents()
        let seq = journal.kept.upperBound
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.playInTurn(name, of: device.label)
        }
        return .json(
            .object([
                .init("device", .string(device.label)), .init("scenario", .string(name)),
                .init("seq", .integer(Int(clamping: seq))),
            ]), status: 202)
    }
}
