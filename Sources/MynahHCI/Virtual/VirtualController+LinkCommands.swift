import MynahCore
import MynahSupport

// What a host asks of a link (Core Specification, Vol 4, Part E, 7.1.6, 7.1.23, 7.5.4, 7.8.18 to 7.8.36, 7.8.47 to 7.8.49).
extension VirtualController {
    /// Nil: it is another's, or its parameters cannot be.
    mutating func performOfLink(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Answer? {
        switch opcode {
        case .disconnect: return disconnect(&reader)
        case .leEnableEncryption: return enableEncryption(&reader)
        case .leLongTermKeyRequestReply: return replyWithKey(&reader, has: true)
        case .leLongTermKeyRequestNegativeReply: return replyWithKey(&reader, has: false)
        case .leConnectionUpdate: return updateConnection(&reader)
        case .leRemoteConnectionParameterRequestReply: return replyToParameters(&reader)
        case .leRemoteConnectionParameterRequestNegativeReply: return refuseParameters(&reader)
        case .leSetDataLength: return setDataLength(&reader)
        case .leSetPHY: return setPHY(&reader)
        case .readRemoteVersionInformation, .leReadRemoteFeatures, .readRSSI, .readTransmitPowerLevel,
            .leReadChannelMap, .leReadPHY:
            return readOfLink(opcode, &reader)
        default: return nil
        }
    }

    private mutating func disconnect(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let reason = reader.readUInt8(),
            [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(reason)
        else { return nil }
        guard let link = links[handle] else { return .begun(.unknownConnectionIdentifier) }
        guard !link.isEnding else { return .begun(.commandDisallowed) }
        links[handle]?.isEnding = true
        queue(.terminate(HCIStatus(reason)), on: handle)
        return .begun(.success)
    }

    private mutating func readOfLink(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16() else { return nil }
        guard let link = links[handle] else { return .now(.unknownConnectionIdentifier, word(handle)) }
        switch opcode {
        case .readRemoteVersionInformation:
            links[handle]?.asksVersion = true
            if link.versionOfPeer != nil {
                tellVersion(handle)
            } else if !link.hasSentVersion {
                sendVersion(handle, isAnswer: false)
            }
            return .begun(.success)
        case .leReadRemoteFeatures:
            guard !link.asksFeatures else { return .begun(.commandDisallowed) }
            links[handle]?.asksFeatures = true
            initiate(.featureRequest(featuresForPeer), on: handle)
            return .begun(.success)
        case .readRSSI: return .now(.success, word(handle) + [UInt8(bitPattern: link.rssi)])
        case .readTransmitPowerLevel: return .now(.success, word(handle) + [0])
        case .leReadChannelMap: return .now(.success, word(handle) + [0xFF, 0xFF, 0xFF, 0xFF, 0x1F])
        default: return .now(.success, word(handle) + [link.phys.sending, link.phys.receiving])
        }
    }

    private mutating func updateConnection(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let (minimum, maximum) = reader.peekPair(),
            let parameters = linkParameters(&reader)
        else { return nil }
        guard let link = links[handle], !link.isEnding else { return .begun(.unknownConnectionIdentifier) }
        if link.role == .central {
            queue(.connectionUpdate(parameters), on: handle)
            update(handle, parameters)
        } else {
            guard !link.asksUpdate else { return .begun(.commandDisallowed) }
            links[handle]?.asksUpdate = true
            var widest = parameters
            widest.interval = maximum
            initiate(.parameterRequest(minimum: minimum, widest), on: handle)
        }
        return .begun(.success)
    }

    private mutating func replyToParameters(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let parameters = linkParameters(&reader) else { return nil }
        guard let link = links[handle] else { return .now(.unknownConnectionIdentifier, word(handle)) }
        guard link.awaitsParameters != nil else { return .now(.commandDisallowed, word(handle)) }
        links[handle]?.awaitsParameters = nil
        queue(.connectionUpdate(parameters), on: handle)
        update(handle, parameters)
        return .now(.success, word(handle))
    }

    private mutating func refuseParameters(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let reason = reader.readUInt8() else { return nil }
        guard let link = links[handle] else { return .now(.unknownConnectionIdentifier, word(handle)) }
        guard link.awaitsParameters != nil else { return .now(.commandDisallowed, word(handle)) }
        links[handle]?.awaitsParameters = nil
        queue(.parametersRejected(HCIStatus(reason)), on: handle)
        return .now(.success, word(handle))
    }

    private mutating func setDataLength(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let octets = reader.readUInt16(),
            let time = reader.readUInt16(), (27...251).contains(octets), (328...17040).contains(time)
        else { return nil }
        guard links[handle] != nil else { return .now(.unknownConnectionIdentifier, word(handle)) }
        links[handle]?.ownLengths.sentOctets = octets
        links[handle]?.ownLengths.sentTime = time
        if let lengths = links[handle]?.ownLengths { initiate(.lengthRequest(lengths), on: handle) }
        return .now(.success, word(handle))
    }

    private mutating func setPHY(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let all = reader.readUInt8(),
            let sending = reader.readUInt8(), let receiving = reader.readUInt8(),
            let options = reader.readUInt16(), options <= 2, let wanted = phys(all, sending, receiving)
        else { return nil }
        guard let link = links[handle] else { return .begun(.unknownConnectionIdentifier) }
        guard !link.asksPHY else { return .begun(.commandDisallowed) }
        links[handle]?.asksPHY = true
        initiate(.phyRequest(sending: wanted.sending, receiving: wanted.receiving), on: handle)
        return .begun(.success)
    }
}

extension ByteReader {
    /// The next two integers, which stay.
    fileprivate func peekPair() -> (UInt16, UInt16)? {
        var copy = self
        guard let first = copy.readUInt16(), let second = copy.readUInt16() else { return nil }
        return (first, second)
    }
}
