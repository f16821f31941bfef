import Logging
import MynahCore
import MynahHCI
import MynahSupport

// Commands, and what the controller session asks for.
extension HostRadio {
    /// Lets the controller session take something, and carries out what it asks for.
    @discardableResult
    func drive<Result>(
        _ body: (inout ControllerSession, Duration, inout [ControllerSession.Action]) -> Result
    ) -> Result {
        var actions: [ControllerSession.Action] = []
        let result = body(&controller, now(), &actions)
        for action in actions { carryOut(action) }
        deadlines[.command] = controller.commandDeadline
        deadlines[.addressRotation] = controller.address.due
        deadlines[.connectionCancel] = controller.connectionCancelDeadline
        armTimer()
        return result
    }

    /// Changes what is wanted of the advertiser, the scanner or the connector.
    @discardableResult
    func change<Result>(
        _ change: (inout HostAdvertiser, inout HostScanner, inout Connector) -> Result
    ) -> Result {
        drive { session, now, actions in session.change(at: now, &actions, change) }
    }

    private func carryOut(_ action: ControllerSession.Action) {
        switch action {
        case .send(let command): transmit(command.packet)
        case .chooseAddress(let publicAddress): chooseAddress(publicAddress)
        case .broughtUp:
            outbound.configure(controller.profile.buffers)
            l2cap.canUpdateParameters = controller.profile.supportedCommands.allows(.leConnectionUpdate)
            waiters.endBringUp(.success(()))
        case .bringUpFailed(let error): waiters.endBringUp(.failure(error))
        case .addressChanged:
            if let report = controller.advertiser.announced { tell(.advertisingChanged(report)) }
        case .settled(let sender):
            waiters.settle(sender)
            if sender == .advertiser { reportLostAdvertisement() }
        case .connectionsFailed(let numbers, let error):
            for number in numbers { endConnection(number, .failure(error)) }
            follow()
        case .answered(let call, let result): waiters.answered(call, result)
        case .refused(let purpose, let status):
            logger.debug("refused", metadata: ["command": "\(purpose)", "status": "\(status.hexadecimal)"])
        case .linkCommandRefused(let command, let handle, let peer):
            guard links[handle]?.peer.id == peer else { return }
            switch command {
            // What the controller reports of the link is taken as true.
            case .readFeatures: heard(handle)
            case .encrypt:
                secure(handle) { $0.encryptionChanged(handle, HCIStatus(0x1F), at: $1, &$2) }
            }
        }
    }

    private func chooseAddress(_ publicAddress: DeviceAddress?) {
        let source = OwnAddress.Source(
            policy: options.address, publicAddress: publicAddress,
            staticAddress: { self.secure { $0.staticAddress(&$2) } },
            resolvingKey: security.bonds.identityResolvingKey, random: security.random)
        drive { $0.choose(source, at: $1, &$2) }
    }

    func transmit(_ packet: H4Packet) {
        logger.trace("sent", metadata: ["type": "\(packet.type)", "body": "\(visible(packet))"])
        environment.transport.send(packet)
    }

    /// A packet's bytes for the log, where every packet can be seen but for the keys in it.
    func visible(_ packet: H4Packet) -> String {
        packet.visibleBody { links[$0]?.reassembler.channel }
    }

    /// Waits until the advertiser or the scanner has nothing under way.
    func settled(_ sender: ControllerSession.Sender) async {
        while sender == .advertiser ? controller.advertiser.isBusy : controller.scanner.isBusy {
            await withCheckedContinuation { waiters.settled[sender, default: []].append($0) }
        }
    }

    /// Sends a command, and returns the return parameters after the status.
    ///
    /// `purpose` completes "refused …".
    @discardableResult
    func command(_ command: HCICommand, _ purpose: String) async throws(RadioError) -> [UInt8] {
        guard life.isAttached else {
            throw RadioError(.lost, "the radio was stopped while \(purpose)")
        }
        let result = await withCheckedContinuation { continuation in
            drive { session, now, actions in
                waiters.commands[session.call(command, purpose, at: now, &actions)] = continuation
            }
        }
        return try result.get()
    }

    /// Sends a command for which nobody waits.
    func send(_ command: HCICommand, _ purpose: String) {
        guard life.isAttached else { return }
        drive { $0.send(command, purpose, at: $1, &$2) }
    }

    /// Sends a command about a link whose refusal matters.
    func send(
        _ purpose: ControllerSession.LinkCommand, of handle: ConnectionHandle, _ peer: Peer.ID,
        _ command: HCICommand
    ) {
        guard life.isAttached else { return }
        drive { $0.send(purpose, of: handle, peer, command, at: $1, &$2) }
    }
}
