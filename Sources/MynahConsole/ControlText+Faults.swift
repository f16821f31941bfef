import MynahEmulator
package import MynahSupport

// The faults of a device.
extension ControlText {
    /// A line for each fault: its name, whether it is on, and how often it was applied.
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

    /// The names of the faults of the devices that a command line names, or of all.
    package static func faultNames(_ answer: JSON, of words: [String]) -> [String] {
        guard let devices = answer.member("devices")?.arrayValue else { return [] }
        let named = devices.filter { words.contains($0.member("device")?.stringValue ?? "") }
        return (named.isEmpty ? devices : named).flatMap { list(of: $0).map(\.name) }
    }

    private static func list(of answer: JSON) -> [DeviceFault] {
        (answer.member("faults")?.arrayValue ?? []).map { fault in
            DeviceFault(
                name: PrintableText.of(fault.member("name")?.stringValue ?? ""),
                isOff: fault.member("off")?.boolValue ?? false,
                applied: fault.member("applied")?.integerValue ?? 0)
        }
    }
}

extension JSON {
    /// The member of a key, or `nil` if there is none or this is no object.
    fileprivate func member(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}
