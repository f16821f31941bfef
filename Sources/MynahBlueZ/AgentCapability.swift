import MynahCore

/// The agent capabilities in bluetoothd's spelling (doc/org.bluez.AgentManager1.rst).
enum AgentCapability {
    static func name(of capability: IOCapability) -> String {
        switch capability {
        case .displayOnly: "DisplayOnly"
        case .displayYesNo: "DisplayYesNo"
        case .keyboardOnly: "KeyboardOnly"
        case .noInputNoOutput: "NoInputNoOutput"
        case .keyboardDisplay: "KeyboardDisplay"
        }
    }
}
