import MynahCore
import MynahProfiles
import MynahRun

/// The checks of `mynah doctor`, which depend only on the facts about a machine.
package struct Doctor: Sendable {
    package let facts: MachineFacts

    package init(_ facts: MachineFacts) { self.facts = facts }

    /// The findings of the checks for the chosen radio, in the order in which they are printed.
    package var findings: [Finding] { checks.map(forUser) }

    /// The finding, without `sudo` in its remedy if the user is root.
    ///
    /// Containers, in which the user is often root, seldom have `sudo`.
    private func forUser(_ finding: Finding) -> Finding {
        guard facts.container.value?.user == 0 else { return finding }
        var finding = finding
        finding.remedy = finding.remedy?.split(separator: "sudo ", omittingEmptySubsequences: false).joined()
        return finding
    }

    private var checks: [Finding] {
        switch facts.wish {
        case .auto: [radio] + ofAuto
        case .bluez: [radio] + ofBlueZ + common
        case .virtual: [radio, virtualAir] + common
        case .netsim: [radio, emulator] + common
        case .controller(_, true): [radio, kernel, container, rfkill, lowEnergy, controller] + common
        case .controller(_, false): [radio, controller] + common
        }
    }

    private var ofBlueZ: [Finding] {
        let daemon = BlueZChecks(facts)
        let settings = SettingsChecks(facts)
        return [
            kernel, container, rfkill, daemon.bus, daemon.busPolicy, daemon.daemon, daemon.adapter, lowEnergy,
            daemon.peripheralRole, daemon.advertisingSets, daemon.otherAdvertisers, settings.file,
            daemon.skippedAdapter("experimental") ?? settings.experimental, settings.reverseDiscovery,
            settings.attributeChannels, settings.exchangeMTU, settings.privacy, settings.services,
        ]
    }

    private var ofAuto: [Finding] {
        switch automatic {
        case .bluez, .failed: return ofBlueZ + [emulator] + common
        case .emulator: return (playsCentrals ? [] : ofBlueZ.map(lessened)) + [emulator] + common
        case .virtual:
            return (playsCentrals ? [] : ofBlueZ.map(lessened)) + [emulator, virtualAir] + common
        }
    }

    /// The finding with the verdict `loss` instead of `stop`, for a machine on which another radio can be
    /// used.
    private func lessened(_ finding: Finding) -> Finding {
        var finding = finding
        if finding.verdict == .stop { finding.verdict = .loss }
        return finding
    }

    private var common: [Finding] { [openFiles, profile, vhci, captureTools].compactMap { $0 } }

    // MARK: The radio

    private var playsCentrals: Bool { facts.profile?.playsCentrals == true }

    /// Whether a run would use BlueZ.
    var usesBlueZ: Bool {
        switch facts.wish {
        case .bluez: return true
        case .virtual, .netsim, .controller: return false
        case .auto: break
        }
        return switch automatic {
        case .bluez, .failed: true
        case .emulator, .virtual: false
        }
    }

    /// The radio that `--radio auto` selects on this machine.
    var automatic: AutoRadio {
        if playsCentrals {
            return AutoRadio.forPhone("a profile with central:", emulator: facts.emulator)
        }
        let hasAdapter = facts.kernel.value?.adapters.isEmpty == false
        return AutoRadio.forDevice(
            // If the bus starts bluetoothd on demand, a run will find the adapter.
            bluez: facts.bluez.startsOnDemand ? nil : facts.bluez.failure?.error,
            needsBlueZ: facts.wantedAdapter != nil || hasAdapter, emulator: facts.emulator)
    }

    var radio: Finding {
        let id = "radio"
        switch facts.wish {
        case .bluez: return Finding(id, .fine, nameOfBlueZ)
        case .virtual: return Finding(id, .fine, RadioNames.virtual)
        case .netsim: return Finding(id, .fine, "Android emulator's radio")
        case .controller(let name, _): return Finding(id, .fine, name)
        case .auto: break
        }
        switch automatic {
        case .bluez: return Finding(id, .fine, nameOfBlueZ)
        case .emulator(let warning):
            return Finding(id, playsCentrals ? .fine : .loss, warning.message)
        case .virtual(let warning):
            return Finding(
                id, playsCentrals ? .fine : .loss, warning.message,
                meaning: playsCentrals ? nil : "No phone sees the device.")
        case .failed(let error):
            return Finding(
                id, .stop, "BlueZ, which does not work: \(error.message)",
                meaning: facts.wantedAdapter == nil
                    ? "auto takes no other radio, because the kernel has an adapter."
                    : "auto takes no other radio, because an adapter was named.",
                remedy: "fix it as below, or choose --radio virtual, which needs no adapter")
        }
    }

    private var nameOfBlueZ: String {
        let version = facts.bluez.version.map { " \($0.text)" } ?? ""
        return "BlueZ\(version)" + (facts.bluez.adapter.map { " on \($0.name) (\($0.address))" } ?? "")
    }

    /// The name of the adapter that a run would use, or `nil` if there is none.
    var adapterName: String? {
        if let adapter = facts.bluez.adapter { return adapter.name }
        let known = facts.kernel.value?.adapters ?? []
        guard let wanted = facts.wantedAdapter else { return known.first }
        return known.first { $0.uppercased() == wanted.uppercased() }
    }
}
