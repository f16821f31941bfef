public import MynahCore
import MynahHCI
import MynahSupport

// The central's half: its life and its links.
extension HostRadio {
    static func disconnection(_ reason: HCIStatus) -> RadioError? {
        switch reason {
        case .connectionTerminatedByLocalHost: nil
        case .remoteUserTerminatedConnection: RadioError(.disconnected, "the peripheral ended the link")
        case .connectionTimeout: RadioError(.disconnected, "the peripheral was not heard any more")
        case .connectionFailedToBeEstablished: RadioError(.disconnected, "the link did not come about")
        default: RadioError(.disconnected, "the link ended: reason 0x\(Hex.encode([reason.code]))")
        }
    }

    // MARK: - Links

    func link(of peer: Peer.ID) throws(RadioError) -> Link {
        guard let link = links.values.first(where: { $0.peer.id == peer }) else {
            throw RadioError(.disconnected, "the peripheral is not connected")
        }
        return link
    }

    /// How loud the other is now, in dBm.
    public func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 {
        let handle = try link(of: peer).handle
        let answer = try await command(HCICommand(.readRSSI, handle: handle), "reading the RSSI of a link")
        guard answer.count >= 3, answer[2] != 127 else {
            throw RadioError(.protocolViolation, "the controller told no signal strength")
        }
        return Int8(bitPattern: answer[2])
    }

    /// The other side asks by the link layer, and its controller waits for an answer (Vol 4, Part E, 7.7.65.6).
    func answerParameterRequest(_ handle: UInt16, _ range: ConnectionParameterRange) {
        send(.answer(handle, range), "answering a request for connection parameters")
    }
}
