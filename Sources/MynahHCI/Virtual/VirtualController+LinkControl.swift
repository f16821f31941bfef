import MynahCore
import MynahSupport

// What two controllers have to say to each other (Core Specification, Vol 6, Part B, 5.1).
extension VirtualController {
    mutating func receive(_ content: LinkPDU, on handle: UInt16) {
        if case .data(let isContinued, let bytes) = content {
            return deliver(bytes, isContinued: isContinued, on: handle)
        }
        guard let link = links[handle] else { return }
        switch content {
        case .data: break
        case .terminate(let reason):
            speak(handle)
            end(handle, reason)
        case .encryptionRequest, .startEncryption, .encryptionProof, .encrypted, .encryptionRejected:
            receiveEncryption(content, on: handle)
        case .featureRequest(let features):
            queue(.featureResponse(features & featuresForPeer), on: handle)
        case .featureResponse(let features):
            guard link.asksFeatures else { return }
            links[handle]?.asksFeatures = false
            tellFeatures(.success, handle, features)
        case .version(let version, let company, let subversion, let isAnswer):
            links[handle]?.versionOfPeer = (version, company, subversion)
            if !isAnswer, !link.hasSentVersion { sendVersion(handle, isAnswer: true) }
            if link.asksVersion { tellVersion(handle) }
        case .lengthRequest(let lengths):
            queue(.lengthResponse(link.ownLengths), on: handle)
            agree(on: lengths, handle)
        case .lengthResponse(let lengths): agree(on: lengths, handle)
        case .phyRequest(let sending, let receiving):
            // Our sending is their receiving; the fastest that both take.
            let ours = choose(receiving & defaultPHYs.sending) ?? link.phys.sending
            let theirs = choose(sending & defaultPHYs.receiving) ?? link.phys.receiving
            queue(.phyUpdate(sending: ours, receiving: theirs), on: handle)
            changePHYs(handle, sending: ours, receiving: theirs, isAsked: false)
        case .phyUpdate(let sending, let receiving):
            guard link.asksPHY, (1...3).contains(sending), (1...3).contains(receiving) else { return }
            links[handle]?.asksPHY = false
            changePHYs(handle, sending: receiving, receiving: sending, isAsked: true)
        case .connectionUpdate(let parameters):
            guard link.role == .peripheral else { return }
            links[handle]?.asksUpdate = false
            update(handle, parameters)
        case .parameterRequest(let minimum, let parameters):
            ask(handle, minimum, parameters)
        case .parametersRejected(let reason):
            guard link.asksUpdate else { return }
            links[handle]?.asksUpdate = false
            tellUpdate(reason, handle, link.parameters)
        }
    }

    // MARK: - Features, version

    func word(_ handle: UInt16) -> [UInt8] { [UInt8(handle & 0xFF), UInt8(handle >> 8)] }

    mutating func tellFeatures(_ status: HCIStatus, _ handle: UInt16, _ features: UInt64) {
        var writer = ByteWriter()
        writer.write(status.code)
        writer.write(handle)
        writer.write(features)
        tellLE(HCIEvent.LESubevent.readRemoteFeaturesComplete, writer.bytes)
    }

    mutating func sendVersion(_ handle: UInt16, isAnswer: Bool) {
        links[handle]?.hasSentVersion = true
        let own = versionPDU
        let pdu = LinkPDU.version(
            version: own.version, company: own.company, subversion: own.subversion, isAnswer: isAnswer)
        if isAnswer { queue(pdu, on: handle) } else { initiate(pdu, on: handle) }
    }

    mutating func tellVersion(_ handle: UInt16) {
        guard let found = links[handle]?.versionOfPeer else { return }
        links[handle]?.asksVersion = false
        var writer = ByteWriter()
        writer.write(0 as UInt8)
        writer.write(handle)
        writer.write(found.version)
        writer.write(found.company)
        writer.write(found.subversion)
        tell(HCIEvent.readRemoteVersionInformationComplete, writer.bytes)
    }

    // MARK: - Lengths, PHYs

    private mutating func agree(on lengths: DataLengths, _ handle: UInt16) {
        guard let link = links[handle] else { return }
        let own = link.ownLengths
        let sent = max(27, min(own.sentOctets, lengths.receivedOctets))
        let received = max(27, min(own.receivedOctets, lengths.sentOctets))
        guard sent != link.sentOctets || received != link.receivedOctets else { return }
        links[handle]?.sentOctets = sent
        links[handle]?.receivedOctets = received
        var writer = ByteWriter()
        writer.write(handle)
        writer.write(sent)
        writer.write(max(328, min(own.sentTime, lengths.receivedTime)))
        writer.write(received)
        writer.write(max(328, min(own.receivedTime, lengths.sentTime)))
        tellLE(HCIEvent.LESubevent.dataLengthChange, writer.bytes)
    }

    private func choose(_ phys: UInt8) -> UInt8? {
        guard configuration.isExtended else { return 1 }
        return phys & 2 != 0 ? 2 : phys & 1 != 0 ? 1 : phys & 4 != 0 ? 3 : nil
    }

    private mutating func changePHYs(_ handle: UInt16, sending: UInt8, receiving: UInt8, isAsked: Bool) {
        guard let link = links[handle] else { return }
        let isNew = link.phys != (sending, receiving)
        links[handle]?.phys = (sending, receiving)
        guard isAsked || isNew else { return }
        tellLE(HCIEvent.LESubevent.phyUpdateComplete, [0] + word(handle) + [sending, receiving])
    }

    // MARK: - Parameters

    mutating func tellUpdate(_ status: HCIStatus, _ handle: UInt16, _ parameters: LEConnection.Parameters) {
        var writer = ByteWriter()
        writer.write(status.code)
        writer.write(handle)
        writer.write(parameters)
        tellLE(HCIEvent.LESubevent.connectionUpdateComplete, writer.bytes)
    }

    /// Both sides have the new parameters.
    mutating func update(_ handle: UInt16, _ parameters: LEConnection.Parameters) {
        links[handle]?.parameters = parameters
        links[handle]?.wake = now
        tellUpdate(.success, handle, parameters)
    }

    /// The peripheral wants other parameters: the host says whether (Vol 4, Part E, 7.7.65.6).
    private mutating func ask(_ handle: UInt16, _ minimum: UInt16, _ parameters: LEConnection.Parameters) {
        guard links[handle]?.role == .central, links[handle]?.awaitsParameters == nil else {
            return queue(.parametersRejected(.unsupportedLLParameterValue), on: handle)
        }
        guard wantsLE(HCIEvent.LESubevent.remoteConnectionParameterRequest) else {
            return queue(.parametersRejected(.unsupportedRemoteFeature), on: handle)
        }
        links[handle]?.awaitsParameters = parameters
        var writer = ByteWriter()
        writer.write(handle)
        writer.write(minimum)
        writer.write(parameters)
        tellLE(HCIEvent.LESubevent.remoteConnectionParameterRequest, writer.bytes)
    }
}
