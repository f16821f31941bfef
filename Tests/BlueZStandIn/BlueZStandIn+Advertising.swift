public import MynahDBus

extension BlueZStandIn {
    /// The current advertisements.
    public func advertisements(on name: String = "hci0") -> [StandInAdvertisement] {
        guard let adapter = adapters[name], adapter.isPowered else { return [] }
        return adapter.advertisements.filter(\.isOnAir).map { advertisement in
            let record = advertisement.record
            var interval: ClosedRange<UInt32>?
            if let minimum = record.minimumInterval, let maximum = record.maximumInterval, minimum <= maximum
            {
                interval = minimum...maximum
            }
            return StandInAdvertisement(
                path: advertisement.path, data: advertisement.air.data,
                scanResponse: advertisement.air.scanResponse,
                isConnectable: record.isConnectable, secondaryChannel: record.secondaryChannel,
                interval: interval)
        }
    }

    /// How many advertisements are registered, on the air or not.
    public func advertisementCount(on name: String = "hci0") -> Int {
        adapters[name]?.advertisements.count ?? 0
    }

    /// How many applications have been asked for an advertisement's properties and have not answered.
    public func unansweredCount(on name: String = "hci0") -> Int { adapters[name]?.unanswered.count ?? 0 }

    /// Ends an advertisement as a timeout does: Release, and it is gone.
    public func release(_ path: ObjectPath, on name: String = "hci0") {
        guard let index = adapters[name]?.advertisements.firstIndex(where: { $0.path == path }),
            let advertisement = adapters[name]?.advertisements.remove(at: index)
        else { return }
        callSilently(advertisement.owner, path, "org.bluez.LEAdvertisement1", "Release")
        tellInstances(of: name)
        changed()
    }

    // MARK: - Inside

    func advertisingProperty(_ property: String, of adapter: AdapterState) -> DBusValue? {
        let version = configuration.version
        let hasCapabilities = configuration.isExperimental || !version.needsExperimentalForIntervals
        let active = UInt8(clamping: adapter.advertisements.count)
        switch property {
        case "ActiveInstances": return .byte(active)
        case "SupportedInstances":
            return .byte(UInt8(clamping: configuration.maximumAdvertisements - Int(active)))
        case "SupportedIncludes":
            return .strings(["tx-power", "appearance", "local-name"] + (version.minor >= 67 ? ["rsi"] : []))
        case "SupportedSecondaryChannels": return .strings(["1M", "2M", "Coded"])
        case "SupportedFeatures" where hasCapabilities: return .strings(["CanSetTxPower", "HardwareOffload"])
        case "SupportedCapabilities" where hasCapabilities:
            return .options([
                "MaxAdvLen": .byte(UInt8(clamping: adapter.configuration.maximumData)),
                "MaxScnRspLen": .byte(UInt8(clamping: adapter.configuration.maximumData)),
                "MinTxPower": .int16(-34), "MaxTxPower": .int16(7),
            ])
        default: return nil
        }
    }

    func tellInstances(of name: String) {
        guard let adapter = adapters[name] else { return }
        try? connection?.emitPropertiesChanged(
            adapter.path, "org.bluez.LEAdvertisingManager1",
            ["ActiveInstances", "SupportedInstances"].compactMap { property in
                advertisingProperty(property, of: adapter).map { (property, $0) }
            })
    }

    /// Looks for objects on the advertisement's path, then asks for its properties, and only then answers.
    func registerAdvertisement(_ call: MethodCall, on name: String) {
        var reader = call.reader()
        guard let path = try? reader.readObjectPath(), let connection, let adapter = adapters[name] else {
            return call.fail(
                DBusError("org.bluez.Error.InvalidArguments", "Invalid arguments in method call"))
        }
        let owner = call.sender
        let unanswered = UnansweredAdvertisement(owner: owner, path: path)
        guard !adapter.advertisements.contains(where: { $0.owner == owner && $0.path == path }),
            !adapter.unanswered.contains(unanswered)
        else { return call.fail(DBusError("org.bluez.Error.AlreadyExists", "Already Exists")) }
        let count = adapter.advertisements.count + adapter.unanswered.count
        guard count < configuration.maximumAdvertisements else {
            return call.fail(DBusError("org.bluez.Error.NotPermitted", "Maximum advertisements reached"))
        }
        adapters[name]?.unanswered.append(unanswered)
        follow(owner)
        do throws(DBusError) {
            try connection.send(
                owner, path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", completion: { _ in })
            try connection.send(
                owner, path, "org.freedesktop.DBus.Properties", "GetAll",
                body: { $0.append("org.bluez.LEAdvertisement1") },
                completion: { [weak self] result in
                    self?.assumeIsolated { $0.registerAdvertisement(owner, path, on: name, result, call) }
                })
        } catch {
            call.fail(error)
        }
    }

    private func registerAdvertisement(
        _ owner: String, _ path: ObjectPath, on name: String, _ result: Result<DBusMessage, DBusError>,
        _ call: MethodCall
    ) {
        guard let adapter = adapters[name] else { return }
        if case .failure(let error) = result, error.name == .noReply { return }
        adapters[name]?.unanswered.removeAll { $0 == UnansweredAdvertisement(owner: owner, path: path) }
        guard case .success(let message) = result, let properties = try? message.values().first,
            let record = try? AdvertisementRecord(
                properties, version: configuration.version, isExperimental: configuration.isExperimental)
        else { return call.fail(DBusError("org.bluez.Error.Failed", "Failed to parse advertisement.")) }
        for name in (properties.entries ?? []).compactMap(\.key.stringValue) where record.isUnknown(name) {
            violate("\(name) of \(path) is unknown to this version, and not sent")
        }
        guard adapter.isPowered,
            let air = record.air(alias: adapter.alias, maximumData: adapter.configuration.maximumData)
        else { return call.fail(DBusError("org.bluez.Error.Failed", "Failed to register advertisement")) }
        adapters[name]?.advertisements.append(
            AdvertisementState(owner: owner, path: path, record: record, air: air))
        call.reply()
        tellInstances(of: name)
        changed()
    }

    func unregisterAdvertisement(_ call: MethodCall, on name: String) {
        var reader = call.reader()
        let path = try? reader.readObjectPath()
        guard
            let index = adapters[name]?.advertisements.firstIndex(where: {
                $0.owner == call.sender && $0.path == path
            })
        else { return call.fail(DBusError("org.bluez.Error.DoesNotExist", "Does Not Exist")) }
        adapters[name]?.advertisements.remove(at: index)
        call.reply()
        tellInstances(of: name)
        changed()
    }

    /// A live update: everything in one signal is read before the instance is sent again.
    func advertisementChanged(
        _ owner: String, _ path: ObjectPath, _ changes: DBusValue, _ invalidated: [String]
    ) {
        for name in adapters.keys.sorted() {
            guard let adapter = adapters[name],
                let index = adapter.advertisements.firstIndex(where: { $0.owner == owner && $0.path == path })
            else { continue }
            var record = adapter.advertisements[index].record
            let names = invalidated + (changes.entries ?? []).compactMap(\.key.stringValue)
            for property in names where record.isUnknown(property) || record.isIgnoredLive(property) {
                violate("\(property) of \(path) is not looked at in a live update")
            }
            let cleared = invalidated.filter { !record.isIgnoredLive($0) }
            var isSentAgain = !cleared.isEmpty
            for property in cleared {
                record.clear(property)
            }
            for entry in changes.entries ?? [] {
                guard let property = entry.key.stringValue, !record.isIgnoredLive(property) else { continue }
                do throws(AdvertisementRecord.Refused) {
                    if try record.parse(property, entry.value.unwrapped) { isSentAgain = true }
                } catch {
                    log.append("\(error.property) of \(path) was refused and cleared")
                    violate("\(error.property) of \(path) was refused in a live update")
                }
            }
            adapters[name]?.advertisements[index].record = record
            guard isSentAgain else { continue }
            guard let air = record.air(alias: adapter.alias, maximumData: adapter.configuration.maximumData)
            else {
                violate("the live update of \(path) does not fit")
                if configuration.version.abortsOnFailedUpdate { abort() }
                continue
            }
            // The kernel sends a scan response that changed, and none that became empty: the old one stays.
            let old = adapter.advertisements[index].air.scanResponse
            adapters[name]?.advertisements[index].air = air
            if air.scanResponse.isEmpty { adapters[name]?.advertisements[index].air.scanResponse = old }
            adapters[name]?.advertisements[index].isOnAir = adapter.isPowered
        }
        changed()
    }

    private func abort() {
        hasAborted = true
        changed()
        Task { await crash() }
    }
}
