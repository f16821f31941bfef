import MynahSupport

/// The names by which a user can refer to a run's devices.
public struct DeviceNames: Sendable {
    /// The reason that a name is refused, as a sentence without its full stop.
    public struct Problem: Error, Hashable, Sendable {
        /// The problem, as a sentence.
        public var message: String
    }

    /// A device of the run.
    public struct Device: Hashable, Sendable {
        /// The device's name in events.
        public var label: String
        /// The profile's file; its name without the extension can also be used as the device's name.
        public var file: String
        /// Whether an app plays the device.
        public var isApp: Bool
        /// The names of the peripherals in the device's profile.
        public var peripherals: [String]
        /// The name of the phone that the device's app is on, or `nil` if it has none.
        package var phone: String?

        /// Makes a device.
        public init(label: String, file: String, isApp: Bool, peripherals: [String] = []) {
            self.label = label
            self.file = file
            self.isApp = isApp
            self.peripherals = peripherals
        }

        /// The file's name without its directory and its extension.
        var stem: String {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            return name.lastIndex(of: ".").map { $0 == name.startIndex ? name : String(name[..<$0]) } ?? name
        }
    }

    /// The devices, in the order of the command line.
    public let devices: [Device]

    /// Makes the names of these devices.
    public init(_ devices: [Device]) {
        self.devices = devices
    }

    /// The kind of object that a name refers to, with the object.
    public enum Meaning: Hashable, Sendable {
        case device(Device)
        /// The phone that this app is on.
        case phone(of: Device)
        /// A peripheral that the profile of an app names.
        case peripheral(String, of: Device)
    }

    /// The first app of each phone, in the order of the command line.
    package var phones: [Device] {
        var found: [Device] = []
        for device in devices where device.isApp && !found.contains(where: { $0.phone == device.phone }) {
            found.append(device)
        }
        return found
    }

    /// Returns the object with the given name: a device or a phone, or else a peripheral of an app's
    /// profile.
    public func meaning(of name: String) throws(Problem) -> Meaning {
        let isDevice = devices.contains { $0.label == name || $0.stem == name }
        if let app = phones.first(where: { $0.phone == name }) {
            guard isDevice else { return .phone(of: app) }
            let other = try device(named: name)
            guard other.phone != name else { return .device(other) }
            throw Problem(
                message: "\"\(name)\" fits \"\(other.label)\" (\(other.file)) and the phone \"\(name)\"")
        }
        if !isDevice, let peripheral = try peripheral(named: name) { return peripheral }
        return .device(
            try device(named: name, or: phones.compactMap(\.phone), devices.flatMap(\.peripherals)))
    }

    /// Returns the named peripheral of an app's profile, or `nil` if there is none.
    package func peripheral(named name: String) throws(Problem) -> Meaning? {
        let owners = devices.flatMap { device in device.peripherals.filter { $0 == name }.map { _ in device }
        }
        guard let owner = owners.first else { return nil }
        guard owners.count == 1 else {
            let list = NameList.text(
                owners.map { "a peripheral of \"\($0.label)\" (\($0.file))" }, separator: " and ")
            throw Problem(message: "\"\(name)\" fits \(list)")
        }
        return .peripheral(name, of: owner)
    }

    /// Returns the device with the given name, which is its event name or the stem of its file.
    public func device(named name: String) throws(Problem) -> Device {
        try device(named: name, or: [], [])
    }

    /// Returns the device with the given name; the errors also suggest the names of phones and peripherals.
    private func device(
        named name: String, or phones: [String], _ peripherals: [String]
    ) throws(Problem) -> Device {
        let found = devices.filter { $0.label == name || $0.stem == name }
        guard let first = found.first else {
            if case .peripheral(_, let app)? = try peripheral(named: name) {
                throw Problem(
                    message: "\"\(name)\" is a peripheral of \"\(app.label)\", and no device of the run; "
                        + "mynah ctl forget \"\(app.label)\" --peripheral \"\(name)\" forgets it")
            }
            let names = devices.flatMap { [$0.label, $0.stem] } + peripherals + phones
            let hint =
                NearestName.of(name, among: names).map { "; did you mean \"\($0)\"?" }
                ?? (devices.isEmpty
                    ? "; there are no devices" : "; the devices are \(Self.list(devices.map(\.label)))")
                + (phones.isEmpty ? "" : ", and the phones \(Self.list(phones))")
                + (peripherals.isEmpty ? "" : ", and the peripherals of apps \(Self.list(peripherals))")
            throw Problem(message: "there is no device \"\(name)\"\(hint)")
        }
        guard found.count == 1 else {
            let list = NameList.text(found.map { "\"\($0.label)\" (\($0.file))" }, separator: " and ")
            throw Problem(message: "\"\(name)\" fits \(list)")
        }
        return first
    }

    private static func list(_ names: [String]) -> String { NameList.text(names.map { "\"\($0)\"" }) }
}
