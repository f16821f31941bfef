import MynahCore
import MynahHCI
import MynahSupport
import Testing

/// Control procedures of a link, as they are seen on the air.
@Suite struct ProcedureTests {
    private enum Seen: Equatable { case lengthRequest, lengthResponse, featureRequest, encryptionRequest }

    private func seen(_ outputs: [Air.Output], from station: Station) -> [Seen] {
        outputs.compactMap { output in
            guard case .captured(let frame) = output, case .link(let content) = frame.pdu else { return nil }
            switch content.content {
            case .lengthRequest? where frame.from == station: return .lengthRequest
            case .lengthResponse? where frame.from != station: return .lengthResponse
            case .featureRequest? where frame.from == station: return .featureRequest
            case .encryptionRequest? where frame.from == station: return .encryptionRequest
            default: return nil
            }
        }
    }

    @Test func `a side begins a procedure when its last one is answered`() {
        var (rig, central, _) = AirRig.linked()
        rig.air.isMonitored = true
        // Nothing arrives meanwhile, so no answer can come between the commands.
        rig.air.loss = 1
        var outputs: [Air.Output] = []
        func send(_ opcode: HCIOpcode, _ hex: String) {
            outputs += rig.air.handle(HCICommand(opcode, Hex.decode(hex) ?? []).packet, of: central)
        }
        send(.leSetDataLength, "4000 FB00 9042")
        send(.leReadRemoteFeatures, "4000")
        send(.leEnableEncryption, "4000 0000000000000000 0000 000102030405060708090A0B0C0D0E0F")
        #expect(seen(outputs, from: central) == [.lengthRequest])
        rig.air.loss = 0
        outputs = rig.air.advance(to: rig.air.now + 200_000)
        #expect(
            seen(outputs, from: central) == [
                .lengthRequest, .lengthResponse, .featureRequest, .encryptionRequest,
            ])
    }
}
