import MynahDBus

/// The pairing agent as a D-Bus object, which bluetoothd calls.
final class AgentObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            BlueZ.agent,
            methods: [
                .init("Release", tag: AgentMethod.release.rawValue),
                .init("RequestPinCode", "o", returns: "s", tag: AgentMethod.requestPinCode.rawValue),
                .init("DisplayPinCode", "os", tag: AgentMethod.displayPinCode.rawValue),
                .init("RequestPasskey", "o", returns: "u", tag: AgentMethod.requestPasskey.rawValue),
                .init("DisplayPasskey", "ouq", tag: AgentMethod.displayPasskey.rawValue),
                .init("RequestConfirmation", "ou", tag: AgentMethod.requestConfirmation.rawValue),
                .init("RequestAuthorization", "o", tag: AgentMethod.requestAuthorization.rawValue),
                .init("AuthorizeService", "os", tag: AgentMethod.authorizeService.rawValue),
                .init("Cancel", tag: AgentMethod.cancel.rawValue),
            ])
    ]

    private let send: BusEventHandler

    init(send: @escaping BusEventHandler) {
        self.send = send
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        guard let method = AgentMethod(rawValue: method.tag) else { return }
        send(.agentRequest(method, call, isRouted: false))
    }
}
