import MynahEmulator
import MynahSupport

/// Requests that concern the faults and the scenarios of a device.
struct FaultRequests: RunRequests {
    let run: any ControlledRun
    let journal: Journal

    func listFaults(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let faults = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.faults(of: device.label)
        }
        return .json(.object([.init("faults", .array(faults.map(\.json)))]))
    }

    func addFault(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        // The members are parsed like those of a fault in a profile.
        let json = try ControlBody.object(parsing: call.request.body)
        let fault = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.addFault(json, to: device.label)
        }
        return .json(fault.json, status: 201)
    }

    func turnFault(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        guard let isOff = try body.bool("off") else {
            throw ControlProblem(400, "\"off\" is missing: true turns the fault off, false turns it on")
        }
        let name = call.parameter("fault")
        let fault = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.turnFault(name, isOn: !isOff, of: device.label)
        }
        return .json(fault.json)
    }

    func removeFault(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let name = call.parameter("fault")
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.removeFault(name, of: device.label)
        }
        return .json(.object([]))
    }

    // MARK: Scenarios

    func playScenario(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        _ = try call.body()
        let name = call.parameter("scenario")
        // Checked first: if the device still plays a scenario, its end would come after the number below.
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.checkPlay(name, of: device.label)
        }
        // The end of an earlier scenario may still have to be written to a file.
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
