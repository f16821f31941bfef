import Logging
import MynahCore
import MynahHCI

// Data from and to links.
extension HostRadio {
    /// Takes a frame of the link at a place.
    func take(_ frame: L2CAPFrame, at index: Int) {
        let handle = links[at: index].handle
        if links[at: index].isUnheard { heard(handle) }
        switch frame.channel {
        case L2CAPFrame.Channel.attribute:
            if let opcode = frame.payload.first, ATTClient.takes(opcode) {
                changeClient(handle) { $0.receive(frame.payload, on: handle, at: now(), into: &$1) }
            } else {
                serve { $0.receive(frame.payload, handle, security[handle], at: now(), &$1, &$2) }
            }
        case L2CAPFrame.Channel.securityManager:
            secure(handle) { $0.receive(frame.payload, handle, at: $1, &$2) }
        case L2CAPFrame.Channel.signalling, L2CAPFrame.Channel.dynamic:
            changeL2CAP { $0.receive(frame, on: handle, security[handle], &$1, &$2) }
        default: break
        }
    }

    func send(_ frame: L2CAPFrame, to handle: ConnectionHandle) {
        if !outbound.send(frame, to: handle) {
            logger.debug("dropped, because too much waits for the link", metadata: ["link": "\(handle)"])
        }
        sendData()
    }

    /// Sends what the controller has room for, and reports room where there was none.
    func sendData() {
        var isMore = true
        while isMore {
            while let packet = outbound.takeNext() { transmit(packet) }
            isMore = l2cap.hasChannels && fillFromChannels()
        }
        reportRoom()
    }

    /// Has channels send what there is room for; returns whether that was anything.
    private func fillFromChannels() -> Bool {
        var actions: [L2CAPManager.Action] = []
        let isAny = l2cap.fill(&outbound, &actions)
        for action in actions { carryOut(action) }
        return isAny
    }

    /// Reports that there is room again for what was refused.
    func reportRoom() {
        guard outbound.hasRefused else { return }
        let ready = outbound.takeReady { server.takesIndications($0) }
        if ready.peripheral { tell(.readyToSend) }
        if ready.central { tellCentral(.readyToWrite) }
    }
}
