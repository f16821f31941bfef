import MynahEmulator
import MynahSupport

// The faults of a device.
extension ControlAPI {
    func listFaults(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let faults = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.faults(of: device.label)
        }
        return .json(.object([.init("faults", .array(faults.map(\.json)))]))
    }

    func addFault(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        // Its members are a profile's to read.
        let json = try ControlBody.object(parsing: call.request.body)
        let fault = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.addFault(json, to: device.label)
        }
        return .json(fault.json, status: 201)
    }

    func turnFault(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
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

    func removeFault(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let name = call.parameter("fault")
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.removeFault(name, of: device.label)
        }
        return .json(.object([]))
    }
}
