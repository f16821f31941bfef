import MynahCore
import MynahHCI
import MynahSupport

@testable import MynahHCI

extension FuzzTarget {
    /// Messages of other processes: what is understood is written the same, and of each neighbour only so
    /// much is kept.
    static let air = FuzzTarget("air") { bytes in
        var neighbours = AirNeighbours(node: 7)
        var connections: [AirNeighbours.Connection] = []
        for (kind, body) in Steps(bytes) {
            if let message = AirMessage(body) { precondition(AirMessage(message.bytes) == message) }
            if kind & 0x80 != 0, let new = neighbours.connected(to: kind & 1 != 0 ? 9 : nil) {
                connections.append(new)
            }
            guard !connections.isEmpty else { continue }
            for case .close(let closed, _) in neighbours.received(
                body, on: connections[Int(kind & 0x7F) % connections.count])
            {
                connections.removeAll { $0 == closed }
            }
            precondition(neighbours.count <= connections.count)
            precondition(neighbours.audience.allSatisfy { connections.contains($0) })
        }
    }

    /// Two controllers on an air with a third who says what it likes: commands, data, time.
    static let controller = FuzzTarget("controller") { bytes in
        var air = Air(seed: 1)
        air.isShared = true
        let stations = [1, 2].compactMap { number in
            DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .public).map {
                air.join(
                    ControllerConfiguration(address: $0, isExtended: bytes.first.map { $0 & 1 != 0 } ?? true))
            }
        }
        for station in stations {
            for opcode in [HCIOpcode.setEventMask, .leSetEventMask] {
                _ = air.handle(
                    HCICommand(opcode, Array(repeating: 0xFF, count: 8)).packet, of: station)
            }
        }
        for (kind, body) in Steps(bytes.dropFirst()) {
            let station = stations[Int(kind & 1)]
            let outputs: [Air.Output] =
                switch kind >> 1 % 4 {
                case 0: air.handle(H4Packet(.command, body), of: station)
                case 1: air.handle(H4Packet(.aclData, body), of: station)
                case 2: air.advance(to: air.now + Int64(body.first ?? 1) * 1000)
                default: AirFrame(body).map { air.handle($0) } ?? []
                }
            for case .host(_, let packet) in outputs {
                switch packet.type {
                case .event:
                    guard let event = HCIEvent(packet.body) else {
                        preconditionFailure("an event has the wrong length")
                    }
                    precondition(HCIEventContent(event) != nil, "an event makes no sense to our own host")
                default: precondition(ACLPacket(packet.body) != nil)
                }
            }
        }
        precondition(air.dueCount <= Air.spareEntries + 2 * air.count, "the air keeps what nobody waits for")
    }
}
