import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct L2CAPTests {
    @Test func `a PDU of any length survives being cut for the controller`() {
        for size in [1, 5, 27, 251] {
            for length in [0, 1, 22, 23, 247, 512, 2000] {
                let frame = L2CAPFrame(
                    channel: 4, payload: (0..<length).map { UInt8(truncatingIfNeeded: $0) })
                var reassembler = L2CAPReassembler()
                let packets = frame.packets(for: 0x40, of: size)
                #expect(packets.allSatisfy { $0.data.count <= size && $0.handle == 0x40 })
                let found = packets.compactMap { reassembler.add($0) }
                #expect(found == [frame])
                #expect(reassembler.pending == 0)
            }
        }
    }

    @Test func `packets that do not fit together are dropped, and the next PDU is received`() {
        var reassembler = L2CAPReassembler()
        let whole = ACLPacket(handle: 1, boundary: .firstFlushable, data: [1, 0, 4, 0, 7])
        #expect(reassembler.add(ACLPacket(handle: 1, boundary: .continuing, data: [1, 2, 3])) == nil)
        #expect(
            reassembler.add(ACLPacket(handle: 1, boundary: .firstFlushable, data: [9, 0, 4, 0, 1])) == nil)
        #expect(reassembler.add(whole) == L2CAPFrame(channel: 4, payload: [7]))
        #expect(
            reassembler.add(ACLPacket(handle: 1, boundary: .firstFlushable, data: [1, 0, 4, 0, 7, 8])) == nil
        )
        #expect(reassembler.add(ACLPacket(handle: 1, boundary: .firstFlushable, data: [1])) == nil)
        #expect(
            reassembler.add(ACLPacket(handle: 1, boundary: .continuing, data: [0, 4, 0, 9]))
                == L2CAPFrame(channel: 4, payload: [9]))
    }

    @Test(arguments: [
        (L2CAPSignal.reject(.notUnderstood), "0105 0200 0000"),
        (.disconnectionRequest(destination: 0x40, source: 0x41), "0605 0400 4000 4100"),
        (.disconnectionResponse(destination: 0x40, source: 0x41), "0705 0400 4000 4100"),
        (
            .parameterUpdateRequest(
                ConnectionParameterRange(minimum: 12, maximum: 24, latency: 0, timeout: 200)),
            "1205 0800 0C00 1800 0000 C800"
        ),
        (.parameterUpdateResponse(isAccepted: true), "1305 0200 0000"),
        (
            .creditConnectionRequest(psm: 0x80, source: 0x40, mtu: 512, mps: 64, credits: 3),
            "1405 0A00 8000 4000 0002 4000 0300"
        ),
        (
            .creditConnectionResponse(destination: 0x41, mtu: 512, mps: 64, credits: 3, result: 2),
            "1505 0A00 4100 0002 4000 0300 0200"
        ),
        (.credits(channel: 0x40, count: 5), "1605 0400 4000 0500"),
    ])
    func `signals are written and read as the specification lays them out`(signal: L2CAPSignal, hex: String)
        throws
    {
        let bytes = try #require(Hex.decode(hex))
        #expect(signal.bytes(identifier: 5) == bytes)
        let parsed = try #require(L2CAPSignal.parse(bytes))
        #expect(parsed.identifier == 5)
        #expect(parsed.signal == signal)
    }

    @Test func `a signal with a wrong length or code is unknown, and one without identifier is none`() {
        #expect(L2CAPSignal.parse([0x12, 1, 2, 0, 0, 0])?.signal == .unknown(code: 0x12))
        #expect(L2CAPSignal.parse([0x12, 1, 9, 0, 0, 0])?.signal == .unknown(code: 0x12))
        #expect(L2CAPSignal.parse([0x99, 1, 0, 0])?.signal == .unknown(code: 0x99))
        #expect(L2CAPSignal.parse([0x12, 0, 0, 0]) == nil)
        #expect(L2CAPSignal.parse([0x12, 1]) == nil)
    }

    @Test func `parameters that no link bears are refused`() {
        func isValid(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16) -> Bool {
            ConnectionParameterRange(
                minimum: minimum, maximum: maximum, latency: latency, timeout: timeout
            ).isValid
        }
        #expect(isValid(12, 24, 0, 200))
        #expect(!isValid(5, 24, 0, 200))
        #expect(!isValid(24, 12, 0, 200))
        #expect(!isValid(12, 24, 500, 3200))
        // Twice (1 + latency) × interval is 600 ms, and the timeout has to be longer.
        #expect(!isValid(240, 240, 0, 60))
        #expect(isValid(240, 240, 0, 61))
    }

    @Test func `any packets at all are put together or dropped`() {
        var random = SeededGenerator(seed: 4)
        var reassembler = L2CAPReassembler()
        for _ in 0..<50_000 {
            let boundary: ACLPacket.Boundary = Bool.random(using: &random) ? .firstFlushable : .continuing
            let data = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if let frame = reassembler.add(ACLPacket(handle: 1, boundary: boundary, data: data)) {
                _ = L2CAPSignal.parse(frame.payload)
            }
            #expect(reassembler.pending <= 4 + 0xFFFF + 20)
        }
    }
}
