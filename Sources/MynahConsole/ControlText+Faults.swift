import MynahEmulator
package import MynahSupport

// The faults of a device.
extension ControlText {
    /// A line for each fault: its name, its state, and how often it was applied.
    package static func faults(_ answer: JSON) -> [String] {
        let faults = list(of: answer)
        let width = faults.map { DisplayWidth.of($0.name) }.max() ?? 0
        return faults.map { fault in
            let line = "\(ScreenLine.pad(fault.name, width))  \(fault.isOff ? "off" : "on")"
            guard fault.applied > 0 else { return line }
            let times = fault.applied == 1 ? "once" : "\(fault.applied) times"
            return line + (fault.isOff ? "  " : "   ") + "applied \(times)"
        }
    }

    /// The names of the faults of the devices in a command line, or of all devices if it names none.
    package static func faultNames(_ answer: JSON, of words: [String]) -> [String] {
        devices(answer, of: words).flatMap { list(of: $0).map(\.name) }
    }

    /// The devices whose names are in a command line, or all devices if it names none.
    static func devices(_ answer: JSON, of words: [String]) -> [JSON] {
        let devices = answer["devices"]?.arrayValue ?? []
        let named = devices.filter { words.contains($0["device"]?.stringValue ?? "") }
        return named.isEmpty ? devices : named
    }

    private static func list(of answer: JSON) -> [DeviceFault] {
        (answer["faults"]?.arrayValue ?? []).map { fault in
            DeviceFault(
                name: PrintableText.of(fault["name"]?.stringValue ?? ""),
                isOff: fault["off"]?.boolValue ?? false,
                applied: fault["applied"]?.integerValue ?? 0)
        }
    }
}
