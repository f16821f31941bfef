import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Requests that concern the devices of a run.
protocol RunRequests: Sendable {
    var run: any ControlledRun { get }
}

extension RunRequests {
    /// Returns the device in the path of a request, given by its name in events or by its profile's file.
    func device(_ call: APICall) throws(ControlProblem) -> ControlledDevice {
        try device(named: call.parameter("device"))
    }

    func device(named name: String) throws(ControlProblem) -> ControlledDevice {
        let devices = run.devices
        // Names in events are searched first, because another device's file may have the same name.
        if let device = devices.first(where: { $0.label == name }) { return device }
        let label: String
        do throws(DeviceNames.Problem) {
            label = try DeviceNames(devices.map(\.names)).device(named: name).label
        } catch {
            throw ControlProblem(404, error.message)
        }
        guard let device = devices.first(where: { $0.label == label }) else {
            throw ControlProblem(404, "the device \"\(label)\" was removed")
        }
        return device
    }

    func response(
        for device: ControlledDevice, status: Int = 200
    ) async throws(ControlProblem) -> HTTPResponse {
        guard let snapshot = await device.emulator.snapshot(of: device.label) else {
            throw ControlProblem(404, "the device \"\(device.label)\" was removed")
        }
        return .json(snapshot.json, status: status)
    }

    /// Calls `body`, and converts a `ControlRefusal` that it throws into a problem.
    func refusing<Value: Sendable>(
        _ body: () async throws(ControlRefusal) -> Value
    ) async throws(ControlProblem) -> Value {
        do throws(ControlRefusal) {
            return try await body()
        } catch {
            throw ControlProblem(error)
        }
    }
}

extension ControlProblem {
    /// Converts a refusal into a problem.
    init(_ refusal: ControlRefusal) {
        switch refusal {
        case .notFound(let detail): self.init(404, detail)
        case .conflict(let detail): self.init(409, detail)
        case .invalid(let detail): self.init(400, detail)
        }
    }
}
