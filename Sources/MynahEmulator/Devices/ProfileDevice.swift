import MynahCore
public import MynahProfiles

extension EmulatedDevice {
    /// Makes the device that a profile describes; its values depend only on `seed` and `clockStart`.
    ///
    /// `label` is the device's name in events; the default is the profile's name. `clockStart` is the start
    /// of the device's clocks, in seconds since 1970.
    public init(
        _ profile: Profile, seed: UInt64, label: String? = nil,
        clockStart: Int64 = GeneratorRun.repeatableStart
    ) {
        let seed = profile.deviceSeed(seed)
        var table = AttributeTable()
        table.variables = profile.variables
        var services: [ServiceDefinition] = []
        let tree = profile.attributeTree
        let seeds = profile.valueSeeds(seed)
        var behaviors: [BehavingService] = []
        for (index, service) in profile.services.enumerated() {
            var behaving = BehavingService(service)
            let characteristics = service.characteristics.enumerated().map { number, characteristic in
                let run = GeneratorRun(
                    seed: seeds[index][number],
                    interval: characteristic.every ?? AttributeTable.usualTick, start: clockStart)
                return Self.definition(
                    of: characteristic, in: service, at: .init(service: index, characteristic: number), tree,
                    run, &behaving, table: &table)
            }
            if let behaving { behaviors.append(behaving) }
            services.append(
                ServiceDefinition(
                    uuid: service.uuid, isPrimary: service.isPrimary,
                    includes: service.includes.map { services[$0].key },
                    characteristics: characteristics))
        }
        self.init(
            name: profile.name, label: label, identity: profile.device, services: services, table: table,
            advertisement: profile.advertising?.advertisement, passkey: profile.passkey,
            app: profile.app.map { app in
                // Apps of a named phone keep their own state, under their own names.
                let name = profile.phone == nil ? label ?? profile.name : profile.name
                return EmulatedApp(app, name: name, centrals: profile.centrals)
            })
        advertised.values = AdvertisedValues(
            profile.advertising?.values ?? [], seed: seed, clockStart: clockStart)
        app?.phone = profile.phone?.name
        if app == nil { nameConfigurations() }
        if let channel = profile.app?.channel, let position = try? channel.psm.resolve(in: tree),
            let index = position.characteristic
        {
            responses.psm = services[position.service].characteristics[index].key
            // Without a stored value, the radio asks the app at each read.
            self.services[position.service].characteristics[index].value = nil
        }
        parameterRequest = profile.parameterRequest
        centrals = profile.centrals
        for (index, service) in profile.services.enumerated() {
            for (number, characteristic) in service.characteristics.enumerated()
            where !characteristic.reactions.isEmpty {
                responses.reactions[.init(service: index, characteristic: number)] = characteristic.reactions
            }
        }
        responses.links = profile.linkRules
        responses.behaviors = behaviors
        faults = profile.faults
        scenarios = profile.scenarios
        self.seed = seed
    }

    /// Records the paths of Client Characteristic Configuration descriptors (0x2902), so that faults can
    /// name them.
    ///
    /// iOS hides these descriptors from an app.
    private mutating func nameConfigurations() {
        for index in services.indices {
            for number in services[index].characteristics.indices
            where services[index].characteristics[number].hasConfiguration {
                services[index].characteristics[number].configurationKey = AttributeKey()
            }
        }
    }

    private static func definition(
        of characteristic: Profile.Characteristic, in service: Profile.Service,
        at position: AttributeTree.Position, _ tree: AttributeTree, _ run: GeneratorRun,
        _ behaving: inout BehavingService?, table: inout AttributeTable
    ) -> CharacteristicDefinition {
        let source: AttributeTable.Source
        var recording: RecordedValues?
        switch characteristic.value {
        case .bytes(let bytes):
            source = .stored(bytes)
        case .generated(let definition):
            let generator = definition.makeGenerator(for: run)
            recording = (definition as? RecordedDefinition)?.values
            if let reader = generator as? any VariableReader, !reader.names.isEmpty {
                source = .computed(reader)
            } else {
                source = .generated { generator.value(at: $0) }
            }
        }
        var entry = AttributeTable.Entry(
            service: service.uuid, characteristic: characteristic.uuid, descriptor: nil,
            path: tree.numberedPath(of: position), source: source,
            maximumLength: characteristic.maximumLength,
            readError: characteristic.readError,
            writeError: characteristic.writeError,
            every: behaving?.sends(characteristic.uuid) == true ? nil : characteristic.every,
            recording: recording, layout: characteristic.layout, asked: characteristic.asked,
            isInPieces: characteristic.updates.isInPieces)
        var result = CharacteristicDefinition(
            uuid: characteristic.uuid, properties: characteristic.properties,
            permissions: characteristic.permissions,
            maximumLength: characteristic.maximumLength)
        result.updates = characteristic.updates
        let isChanged = behaving?.changes(characteristic.uuid) == true
        if characteristic.isStatic, !isChanged, case .bytes(let bytes) = characteristic.value {
            result.value = bytes
        }
        table.add(entry, as: result.key)
        behaving?.add(characteristic, as: result.key)
        for (index, descriptor) in characteristic.descriptors.enumerated() {
            let isStatic = !descriptor.properties.contains(.write)
            let definition = DescriptorDefinition(
                uuid: descriptor.uuid, properties: descriptor.properties, permissions: descriptor.permissions,
                value: isStatic ? descriptor.value : nil, maximumLength: descriptor.maximumLength)
            entry.descriptor = descriptor.uuid
            var position = position
            position.descriptor = index
            entry.path = tree.numberedPath(of: position)
            entry.source = .stored(descriptor.value)
            entry.maximumLength = descriptor.maximumLength
            (entry.readError, entry.writeError, entry.every) = (nil, nil, nil)
            (entry.recording, entry.layout, entry.asked, entry.isInPieces) = (nil, nil, [], false)
            table.add(entry, as: definition.key)
            result.descriptors.append(definition)
        }
        return result
    }
}
