import MynahSupport

/// The connection update and connection parameters request procedures (Core Specification, Vol 6, Part B,
/// 5.1.1 and 5.1.7).
struct ParameterProcedure: Sendable {
    /// Peripheral: whether this side has requested parameters, and the central has not answered yet.
    private var isRequested = false
    /// Central: whether the host was asked to answer the peripheral's request, and has not answered yet.
    private var isAsked = false

    /// Updates the parameters as the central, or requests an update from the central as the peripheral.
    ///
    /// `parameters` has the shortest interval that the host wants, and `maximum` is the longest. Returns
    /// `commandDisallowed` if an earlier request of the peripheral is not answered yet.
    mutating func update(
        _ parameters: LEConnection.Parameters, maximum: UInt16, as role: LEConnection.Role,
        _ actions: inout [ConnectionAction]
    ) -> HCIStatus {
        guard role == .peripheral else {
            use(parameters, &actions)
            return .success
        }
        guard !isRequested else { return .commandDisallowed }
        isRequested = true
        var widest = parameters
        widest.interval = maximum
        actions.append(.begin(.parameterRequest(minimum: parameters.interval, widest)))
        return .success
    }

    /// Accepts the peripheral's request, with the parameters from the host's reply.
    mutating func accept(
        _ parameters: LEConnection.Parameters, _ actions: inout [ConnectionAction]
    ) -> HCIStatus {
        guard isAsked else { return .commandDisallowed }
        isAsked = false
        use(parameters, &actions)
        return .success
    }

    /// Refuses the peripheral's request, with the reason from the host's negative reply.
    mutating func refuse(_ reason: HCIStatus, _ actions: inout [ConnectionAction]) -> HCIStatus {
        guard isAsked else { return .commandDisallowed }
        isAsked = false
        actions.append(.send(.parametersRejected(reason)))
        return .success
    }

    private func use(_ parameters: LEConnection.Parameters, _ actions: inout [ConnectionAction]) {
        actions.append(.send(.connectionUpdate(parameters)))
        actions.append(.use(parameters))
    }

    // MARK: The peer

    /// Handles the parameters that the central chose.
    mutating func receiveUpdate(
        _ parameters: LEConnection.Parameters, as role: LEConnection.Role, _ actions: inout [ConnectionAction]
    ) {
        guard role == .peripheral else { return }
        isRequested = false
        actions.append(.use(parameters))
    }

    /// Asks the host to answer the peripheral's request for parameters.
    ///
    /// `takesRequest` is `true` if the host enabled Remote Connection Parameter Request (Vol 4, Part E,
    /// 7.7.65.6); if not, the request is refused.
    mutating func receiveRequest(
        minimum: UInt16, _ parameters: LEConnection.Parameters, _ endpoints: ConnectionEndpoints,
        takesRequest: Bool, _ actions: inout [ConnectionAction]
    ) {
        guard endpoints.role == .central, !isAsked else {
            return actions.append(.send(.parametersRejected(.unsupportedLLParameterValue)))
        }
        guard takesRequest else {
            return actions.append(.send(.parametersRejected(.unsupportedRemoteFeature)))
        }
        isAsked = true
        var writer = ByteWriter()
        writer.write(endpoints.handle)
        writer.write(minimum)
        writer.write(parameters)
        actions.append(.reportLE(HCIEvent.LESubevent.remoteConnectionParameterRequest, writer.bytes))
    }

    /// Reports to the host that the central refused the request, so that the parameters are unchanged.
    mutating func receiveRejection(
        _ reason: HCIStatus, _ kept: LEConnection.Parameters, _ endpoints: ConnectionEndpoints,
        _ actions: inout [ConnectionAction]
    ) {
        guard isRequested else { return }
        isRequested = false
        actions.append(
            .reportLE(
                HCIEvent.LESubevent.connectionUpdateComplete,
                Self.updateComplete(reason, kept, endpoints)))
    }

    /// The parameters of the event LE Connection Update Complete (7.7.65.3).
    static func updateComplete(
        _ status: HCIStatus, _ parameters: LEConnection.Parameters, _ endpoints: ConnectionEndpoints
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(status.code)
        writer.write(endpoints.handle)
        writer.write(parameters)
        return writer.bytes
    }
}
