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
        guard var link = links[handle] else { return }
        link.ownLengths.sentOctets = suggestedOctets
        link.ownLengths.sentTime = suggestedTime
        links[handle] = link
        // The peripheral speaks first here, so that the central knows the link is there.
        if link.role == .peripheral { speak(handle) }
        if suggestedOctets > 27 { queue(.lengthRequest(link.ownLengths), on: handle) }
        touch(handle)
    }

    // MARK: - Sending

    /// A host's packet.
    mutating func send(_ packet: ACLPacket) {
        guard let link = links[packet.handle], !link.isEnding else { return }
        let pending = links.values.reduce(0) { $0 + $1.packetsPending }
        guard pending < configuration.packetCount, packet.data.count <= configuration.packetLength else {
            // Data Buffer Overflow, of ACL data (Vol 4, Part E, 7.7.26).
            return tell(HCIEvent.dataBufferOverflow, [0x01])
        }
        guard packet.boundary != .complete else { return }
        let content = LinkPDU.data(isContinued: packet.boundary == .continuing, packet.data)
        if link.isHeld {
            links[packet.handle]?.held.append(content)
        } else {
            queue(content, on: packet.handle)
        }
    }

    /// Sends a PDU, and again until it is acknowledged.
    mutating func queue(_ content: LinkPDU, on handle: UInt16) {
        guard let count = links[handle]?.sent.count else { return }
        guard count < VirtualLink.sentLimit else { return end(handle, .connectionTimeout) }
        guard let link = links[handle] else { return }
        let frame = LinkFrame(
            access: link.access, sequence: link.nextSequence, expected: link.expected, content: content)
        links[handle]?.sent.append(.init(sequence: link.nextSequence, content: content))
        links[handle]?.nextSequence &+= 1
        links[handle]?.lastSpoken = now
        if link.again == nil {
            links[handle]?.again = now + link.interval
            touch(handle)
        }
        outputs.append(.air(.link(frame), to: link.station))
    }

    /// Says only that it is there, and what it has heard.
    mutating func speak(_ handle: UInt16) {
        guard let link = links[handle] else { return }
        links[handle]?.lastSpoken = now
        let frame = LinkFrame(
            access: link.access, sequence: link.nextSequence, expected: link.expected, content: nil)
        outputs.append(.air(.link(frame), to: link.station))
    }

    /// Sees that the link is looked after in time.
    private mutating func touch(_ handle: UInt16) {
        guard let link = links[handle] else { return }
        links[handle]?.wake = link.wake <= now ? link.deadline : min(link.wake, link.deadline)
    }

    mutating func advanceLinks() {
        for handle in links.keys.sorted() {
            guard let link = links[handle], link.wake <= now else { continue }
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
            let handle = links.first(where: { $0.value.access == frame.access && $0.value.station == station }
            )?
            .key
        else { return }
        links[handle]?.lastHeard = now
        links[handle]?.rssi = rssi
        links[handle]?.isEstablished = true
        acknowledge(frame.expected, on: handle)
        guard let content = frame.content, let link = links[handle] else { return }
        guard frame.sequence == link.expected else {
            // It was heard before, or one before it was not: the other side learns what is wanted.
            return speak(handle)
        }
        links[handle]?.expected &+= 1
        let mark = links[handle]?.nextSequence
        receive(content, on: handle)
        // What is sent anyway says that this was heard; where nothing was, it is said alone.
        if let after = links[handle]?.nextSequence, after == mark { speak(handle) }
    }

    /// Forgets what the other side has, and gives the host its credits back (Vol 4, Part E, 4.1.1).
    private mutating func acknowledge(_ expected: UInt16, on handle: UInt16) {
        guard let link = links[handle], let first = link.sent.first else { return }
        let done = Int(expected &- first.sequence)
        guard done > 0, done <= link.sent.count else { return }
        var packets: UInt16 = 0
        var hasEnded = false
        for each in link.sent.prefix(done) {
            switch each.content {
            case .data: packets += 1
            case .terminate: hasEnded = true
            default: break
            }
        }
        links[handle]?.sent.removeFirst(done)
        links[handle]?.again = done == link.sent.count ? nil : now + link.interval
        if packets > 0 {
            tell(
                HCIEvent.numberOfCompletedPackets,
                [
                    1, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(packets & 0xFF), UInt8(packets >> 8),
                ])
        }
        if hasEnded { end(handle, .connectionTerminatedByLocalHost) }
    }

    /// Data for the host, in pieces as long as was agreed on.
    mutating func deliver(_ bytes: [UInt8], isContinued: Bool, on handle: UInt16) {
        guard let link = links[handle] else { return }
        let size = max(27, min(Int(link.receivedOctets), configuration.packetLength))
        var rest = bytes[...]
        var boundary: ACLPacket.Boundary = isContinued ? .continuing : .firstFlushable
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
