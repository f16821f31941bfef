package import MynahSupport

/// Answers the requests of the API.
///
/// The API has no sockets: a server or a test passes requests in.
package final class ControlAPI: Sendable {
    private let run: any ControlledRun
    private let version: String
    private let devices: DeviceRequests
    private let actions: ActionRequests
    private let faults: FaultRequests
    private let events: EventRequests
    let clock: RunClock
    /// The longest real time for a request that advances virtual time.
    let requestLimit: Duration

    /// Makes the API of a run, with the journal of its events; `version` is the version of the program.
    package init(
        _ run: any ControlledRun, _ journal: Journal, version: String,
        profiles: ProfileDirectory = ProfileDirectory(nil), clock: RunClock = .real,
        requestLimit: Duration = .seconds(60)
    ) {
        self.run = run
        devices = DeviceRequests(run: run, profiles: profiles)
        actions = ActionRequests(run: run)
        faults = FaultRequests(run: run, journal: journal)
        events = EventRequests(run: run, journal: journal, clock: clock, requestLimit: requestLimit)
        self.clock = clock
        self.requestLimit = requestLimit
        self.version = version
    }

    /// Answers a request; a failure is answered with a problem document.
    ///
    /// If only requests advance the time, a request is carried out after all work that was due before it.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        if let response = ControlPage.response(to: request) { return response }
        let (route, parameters): (Route, [String: [String]])
        switch Self.route(of: request) {
        case .success(let match): (route, parameters) = match
        case .failure(let response): return response
        }
        do throws(ControlProblem) {
            let known = route.query.map(\.name)
            for item in request.query where !known.contains(item.name) {
                throw .unknown("query parameter", item.name, among: known)
            }
        } catch {
            return HTTPResponse(error)
        }
        let call = APICall(route: route, request: request, parameters: parameters)
        guard let time = clock.manual, route.operation.takesPart else { return await answer(call) }
        return await time.carryOut(within: requestLimit) { [self] in
            // The client may have disconnected while it waited, and considers its request as failed.
            guard !Task.isCancelled else {
                return HTTPResponse(ControlProblem(409, "the request was cancelled before its turn came"))
            }
            guard time.now < Self.lastMoment || route.operation == .reset else {
                return HTTPResponse(Self.endOfTime)
            }
            let start = clock.now
            let response = await answer(call)
            if clock.now != start { run.clockMoved() }
            return response
        }
    }

    /// The last time at which a request is accepted.
    ///
    /// Later, an event that a request waits for might exceed the range of times.
    private static let lastMoment = VirtualTime.end - .seconds(2 * 365 * 86_400)

    private static let endOfTime = ControlProblem(
        409,
        "virtual time is at its end, 290 years after its beginning; begin a new history: mynah ctl reset")

    private func answer(_ call: APICall) async -> HTTPResponse {
        do throws(ControlProblem) {
            return try await carryOut(call)
        } catch {
            return HTTPResponse(error)
        }
    }

    /// Returns the response to a request with an unknown path or method, or `nil` for any other request.
    ///
    /// The server calls this before it reads the body.
    package static func refusal(of request: HTTPRequest) -> HTTPResponse? {
        if ControlPage.response(to: request) != nil { return nil }
        return switch route(of: request) {
        case .success: nil
        case .failure(let response): response
        }
    }

    /// A route with the parameters in the path, or the response if no route matches the request.
    private enum Match {
        case success((Route, [String: [String]]))
        case failure(HTTPResponse)
    }

    private static func route(of request: HTTPRequest) -> Match {
        let found = Route.all.compactMap { route in route.parameters(of: request.path).map { (route, $0) } }
        let path = "/" + request.path.joined(separator: "/")
        guard !found.isEmpty else {
            let problem = ControlProblem(
                404,
                "there is no path \(ControlProblem.shortened(path)); GET /v1/openapi.json lists all of them")
            return .failure(HTTPResponse(problem))
        }
        guard let match = found.first(where: { $0.0.method == request.method }) else {
            let methods = found.map(\.0.method).joined(separator: ", ")
            let problem = ControlProblem(
                405, "\(ControlProblem.shortened(path)) takes \(methods), not \(request.method)")
            return .failure(HTTPResponse(problem, headers: [HTTPField("Allow", methods)]))
        }
        return .success(match)
    }

    private func carryOut(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        switch call.route.operation {
        case .getInstance: .json(instance)
        case .getClock: .json(.object(clockMembers))
        case .advanceClock: try await advanceClock(call)
        case .getHealth:
            .json(.object([.init("status", "ok"), .init("devices", .integer(run.devices.count))]))
        case .getOpenAPI: .json(OpenAPI.document(version: version))
        case .getMetrics: events.metrics()
        case .listDevices: try await devices.listDevices()
        case .addDevice: try await devices.addDevice(call)
        case .getDevice: try await devices.response(for: try devices.device(call))
        case .removeDevice: try await devices.removeDevice(call)
        case .getLayout: try await devices.getLayout(call)
        case .getValue: try await devices.getValue(call)
        case .setValue: try await devices.setValue(call)
        case .setVariable: try await devices.setVariable(call)
        case .alert: try await actions.alert(call)
        case .typeText: try await actions.typeText(call)
        case .disconnect: try await actions.disconnect(call)
        case .forget: try await actions.forget(call)
        case .advertise: try await actions.advertise(call)
        case .setAppState: try await actions.setAppState(call)
        case .enterPasskey: try await actions.enterPasskey(call)
        case .listFaults: try await faults.listFaults(call)
        case .addFault: try await faults.addFault(call)
        case .turnFault: try await faults.turnFault(call)
        case .removeFault: try await faults.removeFault(call)
        case .playScenario: try await faults.playScenario(call)
        case .answerRequest: try await actions.answerRequest(call)
        case .listEvents: try await events.listEvents(call)
        case .mark: try events.mark(call)
        case .wait: try await events.wait(call)
        case .verify: try await events.verify(call)
        case .reset: try await events.reset(call)
        case .getReport: try await events.report(call)
        }
    }

    private var instance: JSON {
        .object(
            [
                .init("mynah", .string(version)), .init("radios", .array(run.radios.map { .string($0) })),
                .init("devices", .array(run.devices.map { .string($0.label) })),
            ] + clockMembers)
    }
}
