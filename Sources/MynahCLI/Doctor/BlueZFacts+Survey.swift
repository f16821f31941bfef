import MynahBlueZ
import MynahConsole
import MynahCore

extension BlueZFacts {
    /// Facts about bluetoothd, and the radio's capabilities that follow from them.
    struct Asked {
        var facts: BlueZFacts
        var capabilities: RadioCapabilities
    }

    /// Collects facts from the system bus and bluetoothd; calls neither of them if `isWanted` is `false`.
    static func asked(
        _ adapter: String?, _ files: MachineFiles, _ kernel: Fact<MachineFacts.Kernel>, isWanted: Bool
    ) async -> Asked {
        var survey = BlueZSurvey()
        survey.adapter = adapter
        let found = isWanted ? await survey.run() : BlueZSurvey.Result()
        let installed = isWanted ? await BlueZVersion.installed() : nil
        // bluetoothd may run outside of this container, with another version.
        let version = found.version ?? installed
        let facts = BlueZFacts(
            bus: survey.place, failure: found.failure.map { Failure(Stage($0.stage), $0.error) },
            isBusMissing: found.isBusMissing,
            isInstalled: BlueZVersion.programs.contains(where: files.isExecutable),
            startsOnDemand: found.isActivatable && files.startsBluetoothd
                && kernel.value?.adapters.isEmpty == false,
            version: version.map(Version.init), arguments: files.arguments(ofDaemon: found.process),
            adapter: found.adapter.map(Adapter.init))
        return Asked(
            facts: facts,
            capabilities: BlueZCapabilities.capabilities(
                version: version ?? .oldest, keepsInterval: found.adapter?.keepsInterval,
                adapter: found.adapter?.name))
    }
}

extension BlueZFacts.Stage {
    fileprivate init(_ stage: BlueZSurvey.Stage) {
        switch stage {
        case .bus: self = .bus
        case .daemon: self = .daemon
        case .policy: self = .policy
        case .adapter: self = .adapter
        }
    }
}

extension BlueZFacts.Version {
    fileprivate init(_ version: BlueZVersion) {
        self.init(
            text: version.description, oldest: BlueZVersion.oldest.description,
            isSupported: version >= .oldest, offersManyChannels: version < BlueZVersion(5, 67),
            overfillsAdvertisingData: version < BlueZVersion(5, 87))
    }
}

extension BlueZFacts.Adapter {
    fileprivate init(_ adapter: BlueZSurvey.Adapter) {
        self.init(
            name: adapter.name, address: adapter.address, isPowered: adapter.isPowered, roles: adapter.roles,
            keepsInterval: adapter.keepsInterval, activeSets: adapter.activeSets,
            freeSets: adapter.freeSets, setsError: adapter.setsError, services: adapter.services)
    }
}
