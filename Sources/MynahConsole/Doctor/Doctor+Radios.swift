import MynahCore
import MynahProfiles
import MynahRun
import MynahSupport

/// The checks of the other radios, the profile, the limit of open files, and tools.
extension Doctor {
    var emulator: Finding {
        let id = "emulator"
        switch facts.emulator {
        case .alive(let name): return Finding(id, .fine, name)
        case .absent(let reason) where facts.wish == .netsim:
            return Finding(
                id, .stop, reason, meaning: "A run waits 30 s for it.", remedy: "start it: emulator -avd NAME"
            )
        case .absent(let reason): return Finding(id, .fine, "not in use: \(reason)")
        }
    }

    var virtualAir: Finding {
        let id = "virtualAir"
        guard let air = facts.air.value else { return .unknown(id, facts.air.reason ?? "") }
        return air.error.map { Finding.stop(id, $0) } ?? Finding(id, .fine, air.directory)
    }

    var controller: Finding {
        let id = "controller"
        switch facts.controllerError {
        case .unknown(let reason): return .unknown(id, reason)
        case .found(let error?): return .stop(id, error)
        case .found(nil):
            return Finding(
                id, .fine, "it can be opened",
                meaning: """
                    It was not asked for anything, because it may serve another program. A run ends with an \
                    error if it does not answer.
                    """)
        }
    }

    /// A finding with the issues of the profile on the radio, or `nil` if there is no profile.
    var profile: Finding? {
        guard let profile = facts.profile else { return nil }
        let issues = usesBlueZ ? profile.bluezIssues : profile.hostIssues
        let all = (profile.issues + issues).reduce(into: [ProfileIssue]()) { list, issue in
            if !list.contains(issue) { list.append(issue) }
        }
        let errors = all.filter { $0.severity == .error }
        let warnings = all.filter { $0.severity == .warning }
        let shown = errors.isEmpty ? warnings : errors
        guard let first = shown.first else {
            return Finding("profile", .fine, "\(profile.file) plays as it is")
        }
        let counts = [(errors.count, "error"), (warnings.count, "warning")].filter { $0.0 > 0 }
            .map { $0.0.counting($0.1) }
        let place = first.mark.map { "\(profile.file):\($0.line):\($0.column)" } ?? profile.file
        return Finding(
            "profile", errors.isEmpty ? .loss : .stop,
            "\(counts.joined(separator: " and ")) in \(profile.file)",
            meaning: "\(place): \(first.message)", remedy: remedy(for: profile))
    }

    /// The advice with the command that lists all issues of a profile.
    private func remedy(for profile: MachineFacts.Profile) -> String {
        // A profile with errors is not checked against a radio.
        let isOnBlueZ =
            usesBlueZ && !profile.playsCentrals && !profile.issues.contains { $0.severity == .error }
        return "mynah check \(isOnBlueZ ? "--radio bluez " : "")\(ShellWord.quoted(profile.file))"
    }

    /// The check of the limit of open files, which limits the number of devices and clients.
    var openFiles: Finding {
        let id = "openFiles"
        guard let limit = facts.fileLimit else { return Finding(id, .fine, "no limit") }
        guard limit < Self.usualFiles else { return Finding(id, .fine, "up to \(limit)") }
        return Finding(
            id, .loss, "up to \(limit)",
            meaning: "Each device and each client needs some: connections beyond it are refused.",
            remedy: "ulimit -n 1024")
    }

    /// A limit that is enough for the usual number of devices and clients.
    private static let usualFiles = 256

    /// The check for the module by which `mynah air` makes adapters; a run needs none of them.
    var vhci: Finding {
        let id = "vhci"
        let package = "sudo apt install linux-modules-extra-$(uname -r)"
        switch facts.adapterFile {
        case .unknown(let reason): return .unknown(id, reason)
        case .found(.ready): return Finding(id, .fine, "mynah air --vhci can make an adapter")
        case .found(.notPermitted):
            return Finding(id, .fine, "only root may write to /dev/vhci, as mynah air --vhci does")
        case .found(.loadable):
            return Finding(id, .fine, "not loaded; for mynah air --vhci: sudo modprobe hci_vhci")
        case .found(.absent):
            return Finding(
                id, .fine, "the kernel has no module hci_vhci; for mynah air --vhci, on Ubuntu: \(package)")
        }
    }

    /// The programs that read captures, as a finding; none is required.
    var captureTools: Finding {
        guard !facts.captureTools.isEmpty else {
            return Finding(
                "captureTools", .fine, "none is installed; tshark reads captures: sudo apt install tshark")
        }
        return Finding("captureTools", .fine, facts.captureTools.joined(separator: ", "))
    }
}
