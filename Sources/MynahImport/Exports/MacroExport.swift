import MynahCore
import MynahSupport

/// Converts a macro of nRF Connect for Mobile (XML) to the profile of an app with a scenario.
enum MacroExport {
    /// The assumed duration of an operation without the waits that the macro has, in microseconds.
    private static let step: Int64 = 50_000
    /// The maximum number of operations of a macro.
    private static let limit = 500

    /// Returns the name and the text of the profile, with warnings about omitted operations.
    static func profile(
        _ root: XMLElement, from source: ProfileText.Source
    ) throws(ImportProblem) -> (name: String, text: String, warnings: [String]) {
        var warnings: [String] = []
        var script = Script(name: root.attributes["name"].flatMap { PlainText.name($0) } ?? "Macro")
        guard root.children.count <= limit else {
            throw ImportProblem("a macro can have \(limit) operations", onLine: root.line)
        }
        for element in root.children {
            guard try !script.take(element) else { continue }
            warnings.append("line \(element.line): <\(element.name)> is left out")
        }
        guard !script.phone.reads.isEmpty || !script.phone.writes.isEmpty || !script.steps.isEmpty else {
            throw ImportProblem("the macro has no operation that an app can carry out", onLine: root.line)
        }
        return (script.name, script.text(from: source), warnings)
    }

    private struct Script {
        let name: String
        var phone: ImportedPhone
        /// The steps of the scenario that check the values of reads.
        ///
        /// `steps` are all other steps.
        var readSteps: [String] = []
        var steps: [String] = []
        private var time: Int64 = 0

        init(name: String) {
            self.name = name
            phone = ImportedPhone(device: "Device", advertised: [])
            phone.notes = [
                "a macro names no device: add match to the peripheral, and services to the scan",
                "the app reads and subscribes first, and then writes; sleeps are the times of the writes",
            ]
        }

        /// Adds an operation; returns `false` if an app cannot carry it out.
        mutating func take(_ element: XMLElement) throws(ImportProblem) -> Bool {
            switch element.name {
            // An app discovers the services that it uses anyway.
            case "assert-service", "assert-server-service":
                let uuid = element.attributes["uuid"].flatMap { BluetoothUUID($0) }.map { " \($0.shortest)" }
                let assertion = "line \(element.line): <\(element.name)>\(uuid ?? "")"
                phone.notes.append("\(assertion) is left out; an app finds the services that it uses")
                return true
            case "sleep":
                guard let text = element.attributes["timeout"], let wait = Int64(text), wait >= 0,
                    wait <= 3_600_000
                else {
                    throw ImportProblem("the timeout of a <sleep> is in milliseconds", onLine: element.line)
                }
                time = min(time + wait * 1000, ImportedProfile.longestTime)
                return true
            case "read":
                let path = try path(element)
                if !phone.reads.contains(path) { phone.reads.append(path) }
                readSteps.append(step("value.read", path, try asserted(element)))
            case "write":
                let (path, value) = (try path(element), try ServerExport.value(of: element) ?? [])
                guard !value.isEmpty else { return false }
                time += MacroExport.step
                phone.writes.append(
                    .init(
                        to: path, value: value, withResponse: element.attributes["type"] != "WRITE_COMMAND",
                        after: time))
                steps.append(step("value.written", path, value))
            case "write-descriptor":
                guard try uuid(element, "uuid") == GATT.clientConfiguration else { return false }
                subscribe(try path(element))
            case "wait-for-notification", "wait-for-indication":
                let path = try path(element)
                subscribe(path)
                steps.append(step("value.updated", path, try asserted(element)))
            default: return false
            }
            return true
        }

        private mutating func subscribe(_ path: String) {
            if !phone.subscriptions.contains(path) { phone.subscriptions.append(path) }
        }

        private func step(_ event: String, _ path: String, _ value: [UInt8]?) -> String {
            let value = value.map { ", value: \(ProfileText.quoted(Hex.encode($0)))" } ?? ""
            return "{expect: \(event), of: \(Self.name(path))\(value), within: 1 min}"
        }

        /// Returns a path without the numbers after `~`, which events of a central do not have.
        private static func name(_ path: String) -> String {
            path.split(separator: "/").map { $0.prefix { $0 != "~" } }.joined(separator: "/")
        }

        private func asserted(_ element: XMLElement) throws(ImportProblem) -> [UInt8]? {
            guard let child = element.children.first(where: { $0.name == "assert-value" }) else { return nil }
            return try ServerExport.value(of: child)
        }

        private func uuid(_ element: XMLElement, _ name: String) throws(ImportProblem) -> BluetoothUUID {
            guard let uuid = element.attributes[name].flatMap({ BluetoothUUID($0) }) else {
                throw ImportProblem("a <\(element.name)> needs a \(name)", onLine: element.line)
            }
            return uuid.shortest
        }

        /// Returns the path of a characteristic, with numbers after `~` if its UUIDs are not unique.
        private func path(_ element: XMLElement) throws(ImportProblem) -> String {
            var parts: [String] = []
            for kind in ["service", "characteristic"] {
                let uuid = try uuid(element, "\(kind)-uuid")
                let number = element.attributes["\(kind)-instance-id"].flatMap { UInt8($0) } ?? 0
                parts.append("\(uuid)" + (number > 0 ? "~\(Int(number) + 1)" : ""))
            }
            return parts.joined(separator: "/")
        }

        func text(from source: ProfileText.Source) -> String {
            var text = ProfileText.text(of: phone, named: name, from: source)
            guard !(readSteps + steps).isEmpty else { return text }
            text += "\nscenarios:\n  - name: \(ProfileText.quoted(name))\n    steps:\n"
            for step in readSteps + steps { text += "      - \(step)\n" }
            return text
        }
    }
}
