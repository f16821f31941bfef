import MynahCore

/// The checks of bluetoothd's settings and plugins.
struct SettingsChecks {
    private let bluez: BlueZFacts
    private let profile: MachineFacts.Profile?
    /// The settings, or the defaults if they are unknown.
    private let configuration: MainConfiguration
    /// The reason why the settings are unknown, or `nil` if they are known.
    private let unknown: String?

    init(_ facts: MachineFacts) {
        bluez = facts.bluez
        profile = facts.profile
        configuration =
            facts.configuration.value ?? MainConfiguration(path: "/etc/bluetooth/main.conf", text: "")
        unknown = facts.configuration.reason
    }

    /// A finding that gives the reason if a setting cannot be checked, or `nil` if it can.
    ///
    /// Settings cannot be checked if there is no adapter or if they are unknown.
    private func unusable(_ id: String) -> Finding? {
        guard bluez.adapter != nil else { return Finding(id, .skipped, "there is no adapter") }
        return unknown.map { Finding.unknown(id, $0) }
    }

    /// The check of whether bluetoothd can read its settings.
    var file: Finding {
        let id = "mainConfiguration"
        if let finding = unusable(id) { return finding }
        guard let fault = configuration.fault else { return Finding(id, .fine, configuration.path) }
        return Finding(
            id, .loss, "\(configuration.path):\(fault.line): \(fault.reason)",
            meaning: "bluetoothd ignores the whole file, and uses its defaults.",
            remedy: configuration.commandCommentingOut(line: fault.line))
    }

    /// The plugins that bluetoothd's arguments disable (`-P`).
    private var missingPlugins: Set<String> {
        guard let arguments = bluez.arguments.value else { return [] }
        var names: Set<String> = []
        for (index, argument) in arguments.enumerated() {
            var list: Substring?
            if argument == "-P" || argument == "--noplugin" {
                list = arguments.indices.contains(index + 1) ? arguments[index + 1][...] : nil
            } else if argument.hasPrefix("--noplugin=") {
                list = argument.dropFirst("--noplugin=".count)
            } else if argument.hasPrefix("-P") {
                list = argument.dropFirst(2)
            }
            names.formUnion((list ?? "").split(separator: ",").map(String.init))
        }
        return names
    }

    /// The check of whether bluetoothd uses advertising intervals, which requires `--experimental` before
    /// 5.77.
    var experimental: Finding {
        let id = "experimental"
        if bluez.adapter?.keepsInterval == true {
            return Finding(id, .fine, "bluetoothd uses the intervals of profiles")
        }
        if profile?.setsInterval == false {
            return Finding(id, .fine, "not in use, and the profile sets no advertising interval")
        }
        return Finding(
            id, .loss, "bluetoothd runs without --experimental",
            meaning: "Before 5.77 it then advertises every 1.28 s, and ignores the profile's interval.",
            remedy: configuration.command("General", "Experimental", "true"))
    }

    /// The check of whether bluetoothd discovers the services of connected phones.
    ///
    /// The battery plugin of bluetoothd then makes iPhones ask to pair.
    var reverseDiscovery: Finding {
        let id = "reverseDiscovery"
        if let finding = unusable(id) { return finding }
        if configuration["General", "ReverseServiceDiscovery"] == "false" {
            return Finding(id, .fine, "bluetoothd does not discover the services of phones")
        }
        if configuration["GATT", "Client"] == "false" {
            return Finding(id, .fine, "bluetoothd is no GATT client")
        }
        if missingPlugins.contains("battery") {
            return Finding(id, .fine, "bluetoothd runs without its battery plugin")
        }
        return Finding(
            id, .loss, "bluetoothd discovers the services of phones that connect",
            meaning: "Its battery plugin reads an iPhone's battery level, and the iPhone asks to pair.",
            remedy: configuration.command("General", "ReverseServiceDiscovery", "false"))
    }

    /// The check of whether bluetoothd offers more than one ATT channel, which is the default before 5.67.
    var attributeChannels: Finding {
        let id = "attributeChannels"
        if let finding = unusable(id) { return finding }
        let set = configuration["GATT", "Channels"].flatMap { Int($0) }
        let isMany = set.map { $0 > 1 } ?? (bluez.version?.offersManyChannels ?? false)
        guard isMany else { return Finding(id, .fine, "one ATT channel") }
        return Finding(
            id, .loss, "\(set ?? 3) ATT channels (EATT)",
            meaning: "Phones may list the device twice, and long operations may fail.",
            remedy: configuration.command("GATT", "Channels", "1"))
    }

    var exchangeMTU: Finding {
        let id = "exchangeMTU"
        if let finding = unusable(id) { return finding }
        let largest = 517
        // bluetoothd ignores a value that is out of range.
        guard let mtu = configuration["GATT", "ExchangeMTU"].flatMap({ Int($0) }),
            (23..<largest).contains(mtu)
        else {
            return Finding(id, .fine, "an ATT_MTU of up to \(largest)")
        }
        return Finding(
            id, .loss, "main.conf sets ExchangeMTU = \(mtu)",
            meaning: "Notifications are cut to \(mtu - 3) bytes.",
            remedy: configuration.command("GATT", "ExchangeMTU", "\(largest)"))
    }

    var privacy: Finding {
        let id = "privacy"
        if let finding = unusable(id) { return finding }
        guard let mode = configuration["General", "Privacy"], mode != "off" else {
            return Finding(id, .fine, "the device has the adapter's own address")
        }
        return Finding(
            id, .loss, "main.conf sets Privacy = \(mode)",
            meaning: "The device's address changes, and only bonded phones recognize it.",
            remedy: configuration.command("General", "Privacy", "off"))
    }

    /// The plugins of bluetoothd that publish services, by the service's UUID.
    private static let plugins: [BluetoothUUID: String] = [
        "1844": "vcp", "1845": "vcp", "1846": "csip", "1848": "mcp", "1849": "mcp", "184B": "ccp",
        "184C": "ccp",
        "184D": "micp", "184E": "bap", "184F": "bass", "1850": "bap", "1855": "tmap", "1858": "gmap",
        "FDF0": "asha",
    ]

    /// The check of whether bluetoothd or another program already publishes a service of the profile.
    var services: Finding {
        let id = "services"
        guard let adapter = bluez.adapter else { return Finding(id, .skipped, "there is no adapter") }
        guard let profile else { return Finding(id, .skipped, "no profile was named") }
        let twice = profile.services.reduce(into: [BluetoothUUID]()) { list, uuid in
            if adapter.services.contains(uuid), !list.contains(uuid) { list.append(uuid) }
        }
        guard !twice.isEmpty else { return Finding(id, .fine, "bluetoothd publishes none of the profile's") }
        let plugins = Set(twice.compactMap { Self.plugins[$0] }).subtracting(missingPlugins).sorted()
        var remedies: [String] = []
        if twice.contains("180A") { remedies.append(configuration.command("General", "DeviceID", "false")) }
        if !plugins.isEmpty {
            let list = (plugins + missingPlugins.sorted()).joined(separator: ",")
            remedies.append(
                "add -P \(list) to bluetoothd's ExecStart with `sudo systemctl edit --full bluetooth`, then "
                    + "sudo systemctl restart bluetooth")
        }
        if twice.contains(where: { $0 != "180A" && Self.plugins[$0] == nil }) {
            remedies.append("end the other program that publishes it")
        }
        let names = twice.map { "\($0)" }.joined(separator: ", ")
        return Finding(
            id, .loss, "bluetoothd, or another program, publishes \(names) already",
            meaning: "A phone finds the service twice, and may use the wrong one.",
            remedy: remedies.joined(separator: "; and "))
    }
}
