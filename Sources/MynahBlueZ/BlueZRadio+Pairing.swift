import MynahCore
import MynahDBus
import MynahSupport

// The pairing agent (doc/org.bluez.Agent1.rst).
extension BlueZRadio {
    func agentCalled(_ call: MethodCall) {
        var reader = call.reader()
        if let device = try? reader.readObjectPath().string, !isOurs(device) {
            guard let other = AgentRouting.radio(of: device, on: options.bus) else { return reject(call) }
            return other.assumeIsolated { $0.agentAsked(call) }
        }
        agentAsked(call)
    }

    private func isOurs(_ device: String) -> Bool {
        adapter.map { device.hasPrefix($0.path.string + "/") } ?? false
    }

    private func agentAsked(_ call: MethodCall) {
        switch call.member {
        case "Release":
            isAgentRegistered = false
            call.reply()
            daemonLeaves()
        case "Cancel":
            call.reply()
        case "DisplayPasskey":
            display(call)
        case "RequestPasskey":
            ask(call, .enter) { bytes in
                var reader = ByteReader(bytes)
                guard let number = reader.readUInt32(), number <= 999_999 else { return nil }
                return { $0.append(number) }
            }
        case "RequestConfirmation":
            var reader = call.reader()
            guard (try? reader.readObjectPath()) != nil, let number = try? reader.readUInt32() else {
                return reject(call)
            }
            ask(call, .compare(number)) { _ in { _ in } }
        case "RequestAuthorization":
            ask(call, .agree) { _ in { _ in } }
        case "AuthorizeService":
            call.reply()
        default:
            // PIN codes belong to BR/EDR, which a peripheral has no use for.
            reject(call)
        }
    }

    private func display(_ call: MethodCall) {
        call.reply()
        var reader = call.reader()
        guard let path = try? reader.readObjectPath(), let number = try? reader.readUInt32(),
            let entered = try? reader.readUInt16(), entered == 0
        else { return }
        tell(.pairing(agentPeer(path.string), .display(number)))
    }

    private func ask(
        _ call: MethodCall, _ step: PairingStep,
        answer: @escaping @Sendable ([UInt8]) -> (@Sendable (inout MessageWriter) -> Void)?
    ) {
        var reader = call.reader()
        guard let path = try? reader.readObjectPath() else { return reject(call) }
        let give: @Sendable (PendingReply.Outcome) -> Void = { outcome in
            guard case .success(let bytes) = outcome, let body = answer(bytes) else {
                return call.fail(Self.rejected)
            }
            call.reply(body)
        }
        switch tell(.pairing(agentPeer(path.string), step)) {
        // Nobody says anything: agreed, unless a number is wanted.
        case .none: step == .enter ? reject(call) : give(.success([]))
        case .answer(let outcome): give(outcome)
        case .later(let pending): pending.whenAnswered(give)
        }
    }

    private func agentPeer(_ path: String) -> Peer.ID {
        peer(of: RequestOptions(device: path)).id
    }

    private func reject(_ call: MethodCall) {
        call.fail(Self.rejected)
    }

    private static var rejected: DBusError { DBusError("org.bluez.Error.Rejected", "refused") }
}
