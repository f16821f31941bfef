import MynahCore
import MynahSupport

// Links: frames, acknowledgement, silence (Core Specification, Vol 6, Part B, 4.5).
extension VirtualController {
    /// A number that no link has.
    func freeHandle() -> UInt16? {
        (0x0040..<0x0F00).first { links[$0] == nil }
    }

    func hasLink(_ access: UInt32, with station: Station) -> Bool {
        links.values.contains { $0.access == access && $0.station == station }
    }

    /// What each side does when a link has come to be.
    mutating func begin(_ handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        links[at: index].ownLengths.sentOctets = suggestedOctets
        links[at: index].ownLengths.sentTime = suggestedTime
        // The peripheral speaks first here, so that the central knows the link is there.
        if links[at: index].role == .peripheral { speak(handle) }
        if suggestedOctets > 27 { initiate(.lengthRequest(links[at: index].ownLengths), on: handle) }
        if let index = links.index(of: handle) { links[at: index].touch(at: now) }
    }

    // MARK: - Sending

    /// A host's packet.
    mutating func send(_ packet: ACLPacket) {
        guard let index = links.index(of: packet.handle), !links[at: index].isEnding else { return }
        let pending = links.indices.reduce(0) { $0 + links[at: $1].packetsPending }
        guard pending < configuration.packetCount, packet.data.count <= configuration.packetLength else {
            // Data Buffer Overflow, of ACL data (Vol 4, Part E, 7.7.26).
            return tell(HCIEvent.dataBufferOverflow, [0x01])
        }
        guard packet.boundary != .complete else { return }
        let content = LinkPDU.data(isContinued: packet.boundary == .continuing, packet.data)
        if links[at: index].isHeld {
            links[at: index].held.append(content)
        } else {
            queue(content, on: packet.handle)
        }
    }

    /// Sends a PDU, and again until it is acknowledged.
    mutating func queue(_ content: LinkPDU, on handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        guard links[at: index].sent.count < VirtualLink.sentLimit else {
            return end(handle, .connectionTimeout)
        }
        let frame = links[at: index].send(content, at: now)
        outputs.append(.air(.link(frame), to: links[at: index].station))
    }

    /// Says only that it is there, and what it has heard.
    mutating func speak(_ handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        let frame = links[at: index].speak(at: now)
        outputs.append(.air(.link(frame), to: links[at: index].station))
    }

    mutating func advanceLinks() {
        for handle in links.keys {
            guard let index = links.index(of: handle), links[at: index].wake <= now else { continue }
            let link = links[at: index]
            if link.lastHeard + link.patience <= now {
                end(handle, link.isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished)
                continue
            }
            if let limit = link.procedureEnd, limit <= now {
                end(handle, .llResponseTimeout)
                continue
            }
            if let again = link.again, again <= now {
                links[handle]?.lastSpoken = now
                links[handle]?.again = now + link.interval
                for each in link.sent {
                    let frame = LinkFrame(
                        access: link.access, sequence: each.sequence, expected: link.expected,
                        content: each.content)
                    outputs.append(.air(.link(frame), to: link.station))
                }
            } else if link.lastSpoken + link.rest <= now {
                speak(handle)
            }
            if let deadline = links[handle]?.deadline { links[handle]?.wake = deadline }
        }
    }

    // MARK: - Hearing

    mutating func hear(_ frame: LinkFrame, from station: Station, rssi: Int8) {
        guard
            let index = links.indices.first(where: {
                links[at: $0].access == frame.access && links[at: $0].station == station
            })
        else { return }
        let handle = links[at: index].handle
        links[at: index].lastHeard = now
        links[at: index].rssi = rssi
        links[at: index].isEstablished = true
        acknowledge(frame.expected, on: handle)
        guard let content = frame.content, let index = links.index(of: handle) else { return }
        guard frame.sequence == links[at: index].expected else {
            // It was heard before, or one before it was not: the other side learns what is wanted.
            return speak(handle)
        }
        links[at: index].expected &+= 1
        let mark = links[at: index].nextSequence
        receive(content, on: handle)
        conclude(content, on: handle)
        // What is sent anyway says that this was heard; where nothing was, it is said alone.
        if let index = links.index(of: handle), links[at: index].nextSequence == mark { speak(handle) }
    }

    /// Forgets what the other side has, and gives the host its credits back (Vol 4, Part E, 4.1.1).
    private mutating func acknowledge(_ expected: UInt16, on handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        let (packets, hasEnded) = links[at: index].acknowledge(expected, at: now)
        if packets > 0 {
            tell(
                HCIEvent.numberOfCompletedPackets,
                [
                    1, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(packets & 0xFF),
                    UInt8(truncatingIfNeeded: packets >> 8),
                ])
        }
        if hasEnded { end(handle, .connectionTerminatedByLocalHost) }
    }

    /// Data for the host, in pieces as long as was agreed on.
    mutating func deliver(_ bytes: [UInt8], isContinued: Bool, on handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        let size = max(27, min(Int(links[at: index].receivedOctets), configuration.packetLength))
        var boundary: ACLPacket.Boundary = isContinued ? .continuing : .firstFlushable
        guard bytes.count > size else {
            return outputs.append(.host(ACLPacket(handle: handle, boundary: boundary, data: bytes).packet))
        }
        var rest = bytes[...]
        repeat {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(piece.count)
            outputs.append(
                .host(ACLPacket(handle: handle, boundary: boundary, data: Array(piece)).packet))
            boundary = .continuing
        } while !rest.isEmpty
    }

    /// Ends a link at once, and says why.
    mutating func end(_ handle: UInt16, _ reason: HCIStatus) {
        guard let link = links.removeValue(forKey: handle) else { return }
        let said = link.isEnding ? HCIStatus.connectionTerminatedByLocalHost : reason
        tell(
            HCIEvent.disconnectionComplete, [0, UInt8(handle & 0xFF), UInt8(handle >> 8), said.code])
    }

    /// Ends a link and tells the other side, without waiting for it.
    mutating func terminate(_ handle: UInt16, _ reason: HCIStatus) {
        queue(.terminate(reason), on: handle)
        end(handle, reason)
    }
}
