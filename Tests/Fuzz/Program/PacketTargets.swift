import MynahCore
import MynahHCI
import MynahSupport

@testable import MynahHost

extension FuzzTarget {
    /// A stream is cut the same way however it comes.
    static let h4 = FuzzTarget("h4") { bytes in
        guard let first = bytes.first else { return }
        let stream = bytes.dropFirst()
        var whole = H4Decoder()
        let expected = try? whole.decode(stream)
        var pieces = H4Decoder()
        var found: [H4Packet]? = []
        var rest = stream
        while !rest.isEmpty {
            guard let more = try? pieces.decode(rest.prefix(Int(first) + 1)) else {
                found = nil
                break
            }
            found? += more
            rest = rest.dropFirst(Int(first) + 1)
        }
        precondition(found == expected, "the pieces make other packets than the whole")
        if let found { precondition(stream.starts(with: found.flatMap(\.bytes))) }
    }

    /// Events, commands, data, and reports that come in pieces.
    static let hci = FuzzTarget("hci") { bytes in
        var assembler = ReportAssembler()
        for (kind, body) in Steps(bytes) {
            switch kind % 3 {
            case 0:
                guard let event = HCIEvent(body) else { continue }
                precondition(event.packet.body == body)
                if case .advertisingReports(let reports)? = HCIEventContent(event) {
                    for report in reports { _ = assembler.add(report) }
                    precondition(assembler.count <= ReportAssembler.senderLimit)
                }
            case 1:
                if let command = HCICommand(body) { precondition(command.packet.body == body) }
            default:
                if let packet = ACLPacket(body) { precondition(ACLPacket(packet.packet.body) == packet) }
            }
        }
    }

    /// Data put together, and the signals in it; what came whole goes out and comes back the same.
    static let l2cap = FuzzTarget("l2cap") { bytes in
        var reassembler = L2CAPReassembler()
        for (kind, data) in Steps(bytes) {
            guard let boundary = ACLPacket.Boundary(rawValue: UInt16(kind & 3)) else { continue }
            let packet = ACLPacket(handle: 1, boundary: boundary, data: data)
            let frame = reassembler.add(packet)
            precondition(reassembler.pending <= 0xFFFF + 4 + 255)
            guard let frame else { continue }
            var again = L2CAPReassembler()
            var back: L2CAPFrame?
            for piece in frame.packets(for: 1, of: 27) { back = again.add(piece) }
            precondition(back == frame)
            guard let (identifier, signal) = L2CAPSignal.parse(frame.payload) else { continue }
            if case .unknown = signal { continue }
            let written = L2CAPSignal.parse(signal.bytes(identifier: identifier))
            precondition(written?.identifier == identifier && written?.signal == signal)
        }
    }

    /// Frames of a credit-based channel: what the peer is given and what waits has a bound, until it breaks a
    /// rule.
    static let channel = FuzzTarget("channel") { bytes in
        guard let first = bytes.first else { return }
        let limits = CreditChannel.Limits(mtu: 23 + Int(first), mps: 23 + Int(first & 0x1F))
        var channel = CreditChannel(own: limits, peer: limits, credits: UInt16(first))
        for (kind, body) in Steps(bytes.dropFirst()) {
            switch kind & 3 {
            case 0:
                guard (try? channel.credited(UInt16(kind) << 8 | UInt16(body.first ?? 0))) != nil else {
                    return
                }
            case 1: channel.wasRead()
            case 2:
                precondition(channel.add(body) == (body.count <= limits.mtu))
                while let frame = channel.nextFrame() { precondition(frame.count <= limits.mps) }
            default:
                do {
                    if let sdu = try channel.receive(body) { precondition(sdu.count <= limits.mtu) }
                } catch {
                    // The peer broke a rule, and the channel ends.
                    return
                }
            }
            _ = channel.takeCredits()
            precondition(
                channel.receiveCredits <= CreditChannel.initialCredits && channel.sendCredits <= 0xFFFF)
        }
    }

    /// AD structures.
    static let ad = FuzzTarget("ad") { bytes in
        let (structures, rest) = [ADStructure].decode(bytes)
        precondition(structures.byteCount + rest <= bytes.count)
        precondition(bytes.starts(with: structures.bytes))
        for structure in structures { _ = OverflowArea(structure) }
        _ = AdvertisementData(bytes)
    }
}
