import MynahCore
import MynahSupport

/// The checks of bluetoothd, from the system bus to the adapter.
struct BlueZChecks {
    private let bluez: BlueZFacts
    /// The kind of container in which this process runs, or `nil` if it is not in a container.
    private let container: String?

    init(_ facts: MachineFacts) {
        bluez = facts.bluez
        container = facts.container.value?.kind
    }

    private var failure: BlueZFacts.Failure? { bluez.failure }

    /// The finding that a check was skipped because an earlier stage failed, or `nil` if none did.
    private func skipped(_ id: String, _ stage: BlueZFacts.Stage) -> Finding? {
        guard let failure, failure.stage < stage else { return nil }
        let reason =
            switch failure.stage {
            case .bus: "there is no D-Bus system bus"
            case .daemon: "bluetoothd does not answer"
            case .policy: "this user may not call bluetoothd"
            case .adapter: "there is no adapter"
            }
        return Finding(id, .skipped, reason)
    }

    var bus: Finding {
        let id = "bus"
        guard let failure, failure.stage == .bus else { return Finding(id, .fine, bluez.bus) }
        guard bluez.isBusMissing, let kind = container else {
            return .stop(id, failure.error)
        }
        var finding = Finding.stop(id, failure.error, meaning: "The machine's bus is not in this container.")
        let socket = "/run/dbus/system_bus_socket"
        finding.remedy =
            ["docker", "podman"].contains(kind)
            ? "\(kind) run -v \(socket):\(socket) IMAGE" : "bind \(socket) of the machine into the container"
        return finding
    }

    var daemon: Finding {
        let id = "daemon"
        if let skipped = skipped(id, .daemon) { return skipped }
        let version =
            bluez.version.map { "bluetoothd \($0.text)" } ?? "bluetoothd, of an unknown version"
        if let failure, failure.stage == .daemon {
            guard bluez.isInstalled || container != nil else {
                return Finding(
                    id, .stop, "bluetoothd is not installed", remedy: "sudo apt install bluez")
            }
            guard bluez.startsOnDemand else { return .stop(id, failure.error) }
            return Finding(
                id, .loss, failure.error.message,
                meaning:
                    "A run makes the bus start bluetoothd. Its settings and adapters were not checked.",
                remedy: failure.error.remedy)
        }
        guard let found = bluez.version, !found.isSupported else { return Finding(id, .fine, version) }
        return Finding(
            id, .loss, version, meaning: "Mynah is tested with \(found.oldest) and later.",
            remedy: "install BlueZ \(found.oldest) or later")
    }

    /// The check of whether the bus allows this user to call bluetoothd.
    var busPolicy: Finding {
        let id = "busPolicy"
        if let skipped = skipped(id, .policy) { return skipped }
        // Without bluetoothd, the bus's answer says nothing about its policy.
        if failure?.stage == .daemon { return Finding(id, .skipped, "bluetoothd does not answer") }
        if let failure, failure.stage == .policy { return .stop(id, failure.error) }
        return Finding(id, .fine, "this user may talk to bluetoothd")
    }

    var adapter: Finding {
        let id = "adapter"
        if let skipped = skipped(id, .adapter) { return skipped }
        guard let adapter = bluez.adapter else {
            guard let failure else { return .unknown(id, "bluetoothd did not list its adapters") }
            return .stop(id, failure.error)
        }
        let power = adapter.isPowered ? "on" : "off; a run turns it on, and off at its end"
        return Finding(id, .fine, "\(adapter.name) (\(adapter.address)) is \(power)")
    }

    /// The finding that a check of the adapter was skipped, or `nil` if there is an adapter.
    func skippedAdapter(_ id: String) -> Finding? { bluez.adapter == nil ? noAdapter(id) : nil }

    private func noAdapter(_ id: String) -> Finding {
        skipped(id, .adapter) ?? Finding(id, .skipped, "there is no adapter")
    }

    var peripheralRole: Finding {
        let id = "peripheralRole"
        guard let adapter = bluez.adapter else { return noAdapter(id) }
        guard let roles = adapter.roles else { return .unknown(id, "bluetoothd reports no Roles") }
        guard roles.contains("peripheral") else {
            let list = roles.isEmpty ? "no role" : roles.joined(separator: ", ")
            return Finding(
                id, .stop, "\(adapter.name) can be \(list)", meaning: "It cannot be a peripheral.",
                remedy: "use another adapter, or --radio virtual")
        }
        return Finding(id, .fine, "\(adapter.name) can be a peripheral")
    }

    var advertisingSets: Finding {
        let id = "advertisingSets"
        guard let adapter = bluez.adapter else { return noAdapter(id) }
        guard let free = adapter.freeSets else {
            return .unknown(id, "bluetoothd reports no SupportedInstances")
        }
        if let error = adapter.setsError { return .stop(id, error) }
        return Finding(id, .fine, "\(free) of \((adapter.activeSets ?? 0) + free) are free")
    }

    var otherAdvertisers: Finding {
        let id = "otherAdvertisers"
        guard let adapter = bluez.adapter else { return noAdapter(id) }
        guard let active = adapter.activeSets else {
            return .unknown(id, "bluetoothd reports no ActiveInstances")
        }
        guard active > 0 else { return Finding(id, .fine, "none") }
        return Finding(
            id, .loss,
            active.counting("advertisement") + " of other programs on \(adapter.name)",
            meaning: "They share the radio's time and address with the device.",
            remedy: "end the other programs; `bluetoothctl show` counts the sets (ActiveInstances)")
    }
}
