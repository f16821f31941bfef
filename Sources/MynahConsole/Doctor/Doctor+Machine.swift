import MynahCore

/// The checks of the kernel, and of the container and the user namespace of this process.
extension Doctor {
    var kernel: Finding {
        let id = "kernel"
        guard let kernel = facts.kernel.value else { return .unknown(id, facts.kernel.reason ?? "") }
        // If bluetoothd has an adapter, the kernel must support Bluetooth, even if bluetoothd runs elsewhere.
        if facts.bluez.adapter != nil, !usesUserChannel { return advertisingData(kernel) }
        switch kernel.bluetooth {
        case .loaded: return advertisingData(kernel)
        case .hidden(let reason) where usesUserChannel:
            return Finding(
                id, .stop, "\(kernel.release) gives no Bluetooth socket: \(reason)",
                meaning: "Containers and network namespaces have no Bluetooth.",
                remedy: "run mynah outside, or with the host's network: docker run --network host IMAGE")
        case .hidden: return advertisingData(kernel)
        // A container uses the machine's kernel, but rarely has the files of that kernel's modules.
        case .loadable where isInContainer, .absent where isInContainer:
            return Finding(
                id, .stop, "\(kernel.release), whose Bluetooth is not loaded",
                meaning: "A container has the machine's kernel, and cannot load its modules.",
                remedy: "as root, outside the container: modprobe bluetooth")
        case .loadable:
            return Finding(
                id, .stop, "\(kernel.release), whose Bluetooth is not loaded",
                remedy: "sudo modprobe bluetooth")
        case .absent:
            return Finding(
                id, .stop, "\(kernel.release) has no Bluetooth",
                meaning: "No adapter works with this kernel.",
                remedy: "install one that has it, such as Debian's: sudo apt install linux-image-amd64")
        }
    }

    private var isInContainer: Bool { facts.container.value?.kind != nil }

    private var usesUserChannel: Bool {
        if case .controller(_, true) = facts.wish { true } else { false }
    }

    /// Checks for kernels that refuse the advertising data of BlueZ before 5.87, whose length is wrong (bluez
    /// issues 2268 and 2269).
    private func advertisingData(_ kernel: MachineFacts.Kernel) -> Finding {
        guard facts.bluez.version?.overfillsAdvertisingData == true, !usesUserChannel,
            Self.refusesAdvertisingData(kernel.release)
        else { return Finding("kernel", .fine, "\(kernel.release) with Bluetooth") }
        return Finding(
            "kernel", .loss, "\(kernel.release) may refuse every advertisement of BlueZ before 5.87",
            meaning: "A run then ends with \"the kernel refused the advertisement, although it fits\".",
            remedy: "install another kernel, or BlueZ 5.87")
    }

    /// Whether a kernel of this release is known to refuse the advertising data of BlueZ before 5.87.
    static func refusesAdvertisingData(_ release: String) -> Bool {
        let numbers = release.prefix { $0.isASCII && $0.isNumber || $0 == "." }.split(separator: ".")
            .compactMap { Int($0) }
        guard numbers.count >= 3 else { return false }
        return switch (numbers[0], numbers[1]) {
        case (6, 12): (93..<107).contains(numbers[2])
        case (6, 18): numbers[2] == 34
        default: false
        }
    }

    var container: Finding {
        let id = "container"
        guard let container = facts.container.value else { return .unknown(id, facts.container.reason ?? "") }
        let name = container.kind.map { "\($0) container" } ?? "no container"
        guard container.hasUserNamespace else { return Finding(id, .fine, name) }
        if usesUserChannel {
            return Finding(
                id, .stop, "\(name), in a user namespace",
                meaning: "The kernel gives adapters to programs of its first user namespace only.",
                remedy: "run mynah outside it")
        }
        guard container.outsideUser != container.user else {
            return Finding(id, .fine, "\(name), in a user namespace with the same user ID")
        }
        let outside = container.outsideUser.map { "user \($0)" } ?? "another user"
        return Finding(
            id, .stop, "\(name), in a user namespace: user \(container.user) here is \(outside) outside",
            meaning: "The message bus refuses a user whose ID differs inside and outside the container.",
            remedy: "run mynah outside it, or keep the user ID: podman run --userns=keep-id IMAGE"
        )
    }

    var rfkill: Finding {
        let id = "rfkill"
        guard let switches = facts.switches.value else { return .unknown(id, facts.switches.reason ?? "") }
        let adapter = adapterName
        // A switch of the machine turns off every adapter, and may remove it from its bus.
        let own = switches.filter { $0.name == adapter || !$0.name.hasPrefix("hci") }
        if let error = own.lazy.compactMap(\.error).first {
            var finding = Finding.stop(id, error)
            let isCommand = finding.remedy?.hasPrefix("sudo rfkill ") == true
            if isCommand, !facts.hasRFKill {
                finding.remedy = "sudo apt install rfkill && " + (error.remedy ?? "")
            }
            return finding
        }
        return Finding(id, .fine, adapter.map { "\($0) is not blocked" } ?? "nothing is blocked")
    }

    /// The check of whether the adapter supports LE, and LE is turned on.
    var lowEnergy: Finding {
        let id = "lowEnergy"
        let mode = facts.configuration.value?["General", "ControllerMode"]
        let name = adapterName
        let controller = name.flatMap { facts.controllers.value?[$0] }
        if let name, let controller, !controller.supportsLE {
            return Finding(
                id, .stop, "\(name) has no Bluetooth LE", meaning: "It is for classic Bluetooth only.",
                remedy: "use another adapter, or --radio virtual")
        }
        if mode == "bredr" {
            return Finding(
                id, .stop, "main.conf sets ControllerMode = bredr",
                meaning: "bluetoothd turns LE off, and no device can advertise.",
                remedy: facts.configuration.value?.command("General", "ControllerMode", "dual"))
        }
        guard let name else { return Finding(id, .skipped, "there is no adapter") }
        if let controller, !controller.isLEOn, !usesUserChannel {
            return Finding(
                id, .stop, "\(name) has LE, and it is off", meaning: "No device can advertise.",
                remedy: "sudo btmgmt --index \(name) le on")
        }
        guard controller != nil else {
            return .unknown(id, facts.controllers.reason ?? "the kernel does not list \(name)")
        }
        return Finding(id, .fine, usesUserChannel ? "\(name) has LE" : "\(name) has LE, and it is on")
    }
}
