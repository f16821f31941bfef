import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

// The events with which a device reports the events of its phone.

extension DeviceEvent.Name {
    /// The event for a change of an app's scan, or `nil` if the scan did not change.
    init?(from old: ScanStatus?, to new: ScanStatus?) {
        guard old != new else { return nil }
        switch (old?.isInForce, new?.isInForce) {
        case (_?, nil): self = .scanStopped
        case (true, true): self = .scanChanged
        case (_, true): self = .scanStarted
        case (nil, false), (true, false): self = .scanPaused
        default: return nil
        }
    }
}

extension PhoneEvent {
    /// Returns the name and payload of the event that reports this, or `nil` if other code reports it.
    ///
    /// `device` describes the peripheral at an address.
    func reported(
        _ device: (DeviceAddress) -> EventPeripheral
    ) -> (DeviceEvent.Name, EventPayload)? {
        switch self {
        case .stateChanged(let state): (.stateChanged, .state(state))
        case .lost(let error): (.radioLost, .notice(.init(error.description)))
        case .recovered: (.radioRecovered, .none)
        case .connected(let central):
            (.centralConnected, .central(.init(EventCentral(central), name: central.name)))
        case .disconnected(let central): (.centralDisconnected, .central(.init(EventCentral(central))))
        case .mtuChanged(let central):
            (.mtuChanged, .central(.init(EventCentral(central), mtu: central.mtu ?? GATT.defaultMTU)))
        case .paired(let central): (.paired, .pairing(.init(EventCentral(central))))
        case .warning(let warning): (.warning, .notice(.init(code: warning.code, warning.message)))
        case .advertisingChanged, .centralChanged, .capabilitiesChanged, .pairing, .peripheralPairing,
            .answeredRead, .refused:
            nil
        case .linkKept(let address, let apps): (.linkKept, .link(.init(device(address), heldBy: apps)))
        case .parameters(let central, let report):
            (report.eventName, .parameters(.init(report, EventCentral(central), .init())))
        case .peripheralParameters(let address, let report):
            (report.eventName, .parameters(.init(report, nil, device(address))))
        case .linkEnded(let address): (.linkEnded, .link(.init(device(address), heldBy: [])))
        case .alert(let alert, let step):
            (
                step == .shown ? .alertShown : step == .opened ? .alertOpened : .alertDismissed,
                .link(
                    .init(
                        alert.address.map(device) ?? .init(), cause: alert.cause.rawValue, app: alert.app))
            )
        }
    }
}
