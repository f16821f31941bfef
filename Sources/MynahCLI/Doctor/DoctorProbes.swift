import MynahBlueZ
import MynahConsole
import MynahCore
import MynahHCI
import MynahProfiles
import MynahRun
import MynahSupport

import Glibc

/// Collects the facts about the machine that `mynah doctor` checks.
struct DoctorProbes: Sendable {
    var radio: RadioChoice
    var adapter: String?
    var profile: String?
    private let files = MachineFiles()

    init(radio: RadioChoice, adapter: String?, profile: String?) {
        self.radio = radio
        self.adapter = adapter
        self.profile = profile
    }

    func facts() async -> MachineFacts {
        let kernel = await TimedProbe.fact { files.kernel { ManagementChannel.socketProblem } }
        let container = await TimedProbe.fact {
            files.container(user: geteuid(), variable: Self.variable)
        }
        let daemon = await BlueZFacts.asked(adapter, files, kernel, isWanted: radio.usesAdapters)
        let isInContainer = container.value?.kind != nil
        let tools = ["tshark", "wireshark", "btmon"]
        return MachineFacts(
            wish: wish, wantedAdapter: adapter ?? userChannel, kernel: kernel, container: container,
            switches: await TimedProbe.fact { switches },
            controllers: await TimedProbe.fact { Self.controllers(kernel) }, bluez: daemon.facts,
            configuration: await TimedProbe.fact {
                files.configuration(arguments: daemon.facts.arguments, isInContainer: isInContainer)
            },
            emulator: await TimedProbe.value { emulator } ?? .absent("the search failed"),
            air: await TimedProbe.fact { Self.air },
            controllerError: await TimedProbe.fact { controllerError }, profile: checkedProfile(daemon),
            captureTools: await TimedProbe.value {
                files.programs(tools, path: Self.variable("PATH") ?? "")
            } ?? [],
            fileLimit: OpenFiles.limit,
            hasRFKill: ["/usr/sbin/rfkill", "/sbin/rfkill", "/usr/bin/rfkill"].contains(
                where: files.isExecutable))
    }

    private static var air: Fact<MachineFacts.Air> {
        let air = SharedAir.outlook
        return .found(.init(directory: air.directory, error: air.problem))
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private var wish: MachineFacts.Wish {
        switch radio {
        case .auto: .auto
        case .bluez: .bluez
        case .virtual: .virtual
        case .netsim: .netsim
        case .hci(let address): .controller(ChosenRadio.hci(address).name, isUserChannel: userChannel != nil)
        }
    }

    /// The adapter of a `user:` address, such as `hci0`, or `nil` for any other radio.
    private var userChannel: String? {
        if case .hci(.userChannel(let index)) = radio { "hci\(index)" } else { nil }
    }

    private var switches: Fact<[MachineFacts.Switch]> {
        guard let found = RFKill().bluetooth else { return .unknown("the kernel lists no rfkill switches") }
        return .found(found.map { .init(name: $0.name, error: $0.error) })
    }

    private static func controllers(
        _ kernel: Fact<MachineFacts.Kernel>
    ) -> Fact<[String: MachineFacts.Controller]> {
        guard let kernel = kernel.value else { return .unknown(kernel.reason ?? "") }
        if case .hidden(let reason) = kernel.bluetooth { return .unknown(reason) }
        var found: [String: MachineFacts.Controller] = [:]
        for name in kernel.adapters {
            guard let index = UInt16(name.dropFirst(3)) else { continue }
            do throws(ManagementChannel.Problem) {
                let settings = try ManagementChannel.settings(of: index)
                found[name] = .init(supportsLE: settings.supportsLE, isLEOn: settings.isLEOn)
            } catch {
                return .unknown(error.description)
            }
        }
        return .found(found)
    }

    private var emulator: AutoRadio.Emulator {
        var instance: Int?
        if case .netsim(let named) = radio { instance = named }
        do throws(NetsimSearch.Absence) {
            return .alive("\(try NetsimSearch(.current).live(instance: instance))")
        } catch {
            return .absent(error.reason)
        }
    }

    private var controllerError: Fact<RadioError?> {
        guard case .hci(let address) = radio else { return .found(nil) }
        switch ControllerOutlook(address, mayTakeAdapters: files.mayTakeAdapters) {
        case .open: return .found(nil)
        case .failed(let error): return .found(error)
        case .unknown(let reason): return .unknown(reason)
        }
    }

    // MARK: The profile

    private func checkedProfile(_ daemon: BlueZFacts.Asked) -> MachineFacts.Profile? {
        guard let path = profile else { return nil }
        do throws(ProfileIssues) {
            let profile = try ProfileLoader.load(path: path)
            return MachineFacts.Profile(
                file: path, issues: profile.warnings,
                bluezIssues: KnownRadio.bluez.issues(with: profile, daemon.capabilities),
                hostIssues: KnownRadio.virtual.issues(with: profile),
                services: profile.services.map(\.uuid),
                // The advertising of an app has the interval of an iPhone.
                setsInterval: profile.advertising.map {
                    profile.app != nil || $0.advertisement.interval != nil
                } ?? false,
                playsCentrals: !profile.centrals.isEmpty)
        } catch {
            return MachineFacts.Profile(file: path, issues: error.issues)
        }
    }
}
