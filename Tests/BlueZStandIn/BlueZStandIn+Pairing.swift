import MynahDBus

extension BlueZStandIn {
    func handleAgentManager(_ call: MethodCall) {
        if isMute { return unanswered.append(call) }
        checkAddressing(call)
        var reader = call.reader()
        guard let path = try? reader.readObjectPath() else { return }
        let index = agents.firstIndex { $0.owner == call.sender && $0.path == path }
        switch (call.member, index) {
        case ("RegisterAgent", nil):
            let capability = (try? reader.readString()) ?? ""
            let known = [
                "", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay",
            ]
            guard known.contains(capability) else {
                return call.fail(
                    DBusError("org.bluez.Error.InvalidArguments", "Invalid arguments in method call"))
            }
            agents.append(
                AgentState(
                    owner: call.sender, path: path,
                    capability: capability.isEmpty ? "KeyboardDisplay" : capability))
            follow(call.sender)
        case ("RegisterAgent", _?):
            return call.fail(DBusError("org.bluez.Error.AlreadyExists", "Already Exists"))
        case (_, nil):
            return call.fail(DBusError("org.bluez.Error.DoesNotExist", "Does Not Exist"))
        case ("UnregisterAgent", let index?):
            agents.remove(at: index)
            if defaultAgent == call.sender { defaultAgent = nil }
        default:
            // The adapters can be bonded with only now.
            defaultAgent = call.sender
            for name in adapters.keys.sorted() where adapters[name]?.isPairable == false {
                adapters[name]?.isPairable = true
                tell("Pairable", true, on: name)
            }
        }
        call.reply()
        changed()
    }

    /// The IO capability of the default agent, or `nil` if no agent is registered.
    public var agentCapability: String? { agents.first { $0.owner == defaultAgent }?.capability }

    /// Pairs with a phone, which can show and type: the agent is asked as its capability wants it.
    func pair(_ address: String, passkey: UInt32) async throws(ATTFailure) {
        guard let central = centrals[address], central.isConnected,
            adapters[central.adapter]?.isPairable == true,
            let agent = agents.first(where: { $0.owner == defaultAgent })
        else { throw .authentication }
        let path = central.path
        switch agent.capability {
        case "NoInputNoOutput":
            _ = try await ask(agent, "RequestAuthorization") { $0.append(path) }
        case "DisplayOnly":
            _ = try await ask(agent, "DisplayPasskey") { body in
                body.append(path)
                body.append(passkey)
                body.append(UInt16(0))
            }
        case "KeyboardOnly":
            let message = try await ask(agent, "RequestPasskey") { $0.append(path) }
            var reader = message.reader()
            guard message.hasSignature("u"), let typed = try? reader.readUInt32(), typed == passkey else {
                throw .authentication
            }
        default:
            _ = try await ask(agent, "RequestConfirmation") { body in
                body.append(path)
                body.append(passkey)
            }
        }
        centrals[address]?.isBonded = true
        centrals[address]?.isEncrypted = true
        centrals[address]?.isAuthenticated = agent.capability != "NoInputNoOutput"
        tell("Paired", true, of: address)
        tell("Bonded", true, of: address)
        changed()
    }

    private func ask(
        _ agent: AgentState, _ member: String, body: (inout MessageWriter) -> Void
    ) async throws(ATTFailure) -> DBusMessage {
        guard let connection else { throw .unlikely }
        do throws(DBusError) {
            return try await connection.call(agent.owner, agent.path, "org.bluez.Agent1", member, body: body)
        } catch {
            throw .authentication
        }
    }
}
