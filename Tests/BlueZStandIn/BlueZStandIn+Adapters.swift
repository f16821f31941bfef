public import MynahDBus

extension BlueZStandIn {
    /// Plugs an adapter in.
    public func plugIn(_ adapter: StandInConfiguration.Adapter) throws(DBusError) {
        try appear(adapter)
        changed()
    }

    /// Pulls an adapter out.
    public func unplug(_ name: String = "hci0") {
        vanish(name, releasing: false)
        changed()
    }

    /// Powers an adapter on or off, as another program would; bluetoothd's Blocked error under rfkill.
    public func setPowered(_ powered: Bool, of name: String = "hci0") throws(DBusError) {
        if let error = power(powered, name) { throw error }
        changed()
    }

    /// Blocks or unblocks all adapters, as rfkill does.
    public func setBlocked(_ blocked: Bool) {
        var configuration = configuration
        configuration.isBlocked = blocked
        reconfigure(configuration)
        if blocked {
            for name in adapters.keys { _ = power(false, name) }
        }
        changed()
    }

    /// An adapter's alias, which is the GAP device name.
    public func alias(of name: String = "hci0") -> String? { adapters[name]?.alias }

    /// Whether an adapter is powered.
    public func isPowered(_ name: String = "hci0") -> Bool { adapters[name]?.isPowered == true }

    /// Whether an adapter can be paired with.
    public func isPairable(_ name: String = "hci0") -> Bool { adapters[name]?.isPairable == true }

    /// Whether an adapter is discoverable by itself.
    public func isDiscoverable(_ name: String = "hci0") -> Bool { adapters[name]?.isDiscoverable == true }

    // MARK: - Inside

    func appear(_ adapter: StandInConfiguration.Adapter) throws(DBusError) {
        guard let connection else { throw DBusError(.disconnected, "the stand-in does not run") }
        let name = adapter.name
        let path = try ObjectPath("/org/bluez/" + name)
        adapters[name] = AdapterState(
            configuration: adapter, path: path, alias: "stand-in", nextHandle: configuration.firstHandle)
        let object = StandInObject(
            interfaces: { [weak self] in self?.assumeIsolated { $0.interfaces(of: name) } ?? [] },
            property: { [weak self] interface, property in
                self?.assumeIsolated { $0.property(property, of: interface, on: name) }
            },
            set: { [weak self] _, property, value in
                self?.assumeIsolated { $0.set(property, value, on: name) }
            },
            call: { [weak self] call in self?.assumeIsolated { $0.handleAdapter(call, name) } })
        try connection.export(object, at: path)
        // The managers come a moment after the adapter.
        try connection.emitInterfacesAdded(path, from: "/")
        adapters[name]?.hasManagers = true
        try connection.emitInterfacesAdded(path, from: "/")
        if configuration.powersUp { _ = power(true, name) }
    }

    func vanish(_ name: String, releasing: Bool) {
        guard let connection, let adapter = adapters[name] else { return }
        dropLinks(on: name)
        for address in centrals.keys.sorted() where centrals[address]?.adapter == name {
            forget(address)
        }
        for advertisement in adapter.advertisements where releasing {
            callSilently(advertisement.owner, advertisement.path, "org.bluez.LEAdvertisement1", "Release")
        }
        adapters[name] = nil
        connection.unexport(adapter.path)
        try? connection.emitInterfacesRemoved(
            adapter.path,
            ["org.bluez.Adapter1", "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"],
            from: "/")
    }

    private func interfaces(of name: String) -> [DBusInterface] {
        adapters[name]?.hasManagers == true
            ? [Interfaces.adapter, Interfaces.gattManager, Interfaces.advertisingManager]
            : [Interfaces.adapter]
    }

    private func property(_ property: String, of interface: String, on name: String) -> DBusValue? {
        guard let adapter = adapters[name] else { return nil }
        if interface == "org.bluez.LEAdvertisingManager1" {
            return advertisingProperty(property, of: adapter)
        }
        switch property {
        case "Address": return .string(adapter.configuration.address)
        case "AddressType": return "public"
        case "Name": return "stand-in"
        case "Alias": return .string(adapter.alias)
        case "Class": return .uint32(0)
        case "Powered": return .bool(adapter.isPowered)
        case "Discoverable": return .bool(adapter.isDiscoverable)
        case "DiscoverableTimeout": return .uint32(adapter.discoverableTimeout)
        case "Pairable": return .bool(adapter.isPairable)
        case "PairableTimeout": return .uint32(adapter.pairableTimeout)
        case "Discovering": return false
        case "UUIDs": return .strings(adapter.configuration.services)
        case "Modalias": return .string("usb:v1D6Bp0246d05" + String(configuration.version.minor, radix: 16))
        case "Roles": return .strings(adapter.configuration.roles)
        default: return nil
        }
    }

    private func set(_ property: String, _ value: DBusValue, on name: String) -> DBusError? {
        guard let adapter = adapters[name] else { return DBusError(.unknownObject) }
        switch (property, value) {
        case ("Powered", .bool(let powered)): return power(powered, name)
        case ("Alias", .string(let alias)): adapters[name]?.alias = alias.isEmpty ? "stand-in" : alias
        case ("Discoverable", .bool(let on)):
            guard adapter.isPowered else {
                return DBusError("org.bluez.Error.NotReady", "Resource Not Ready")
            }
            adapters[name]?.isDiscoverable = on
        case ("Pairable", .bool(let on)):
            guard adapter.isPowered else {
                return DBusError("org.bluez.Error.NotReady", "Resource Not Ready")
            }
            adapters[name]?.isPairable = on
        case ("DiscoverableTimeout", .uint32(let seconds)): adapters[name]?.discoverableTimeout = seconds
        case ("PairableTimeout", .uint32(let seconds)): adapters[name]?.pairableTimeout = seconds
        default: return DBusError(.propertyReadOnly)
        }
        tell(property, value, on: name)
        changed()
        return nil
    }

    /// Off ends links and takes adverts off the air, where they stay although they count as active.
    private func power(_ on: Bool, _ name: String) -> DBusError? {
        guard let adapter = adapters[name] else { return DBusError(.unknownObject) }
        if on, configuration.isBlocked {
            return DBusError("org.bluez.Error.Blocked", "Blocked through rfkill")
        }
        guard adapter.isPowered != on else { return nil }
        if !on { dropLinks(on: name) }
        adapters[name]?.isPowered = on
        for index in adapter.advertisements.indices where !on {
            adapters[name]?.advertisements[index].isOnAir = false
        }
        tell("Powered", .bool(on), on: name)
        changed()
        return nil
    }

    func tell(_ property: String, _ value: DBusValue, on name: String) {
        guard let path = adapters[name]?.path else { return }
        try? connection?.emitPropertiesChanged(path, "org.bluez.Adapter1", [(property, value)])
    }

    private func dropLinks(on name: String) {
        for address in centrals.keys.sorted() where centrals[address]?.adapter == name {
            disconnect(address)
        }
    }

    private func handleAdapter(_ call: MethodCall, _ name: String) {
        if isMute { return unanswered.append(call) }
        checkAddressing(call)
        switch call.member {
        case "RegisterApplication": registerApplication(call, on: name)
        case "UnregisterApplication": unregisterApplication(call, on: name)
        case "RegisterAdvertisement": registerAdvertisement(call, on: name)
        case "UnregisterAdvertisement": unregisterAdvertisement(call, on: name)
        case "RemoveDevice": removeDevice(call, on: name)
        default: call.reply()
        }
    }

    private func removeDevice(_ call: MethodCall, on name: String) {
        var reader = call.reader()
        guard let path = try? reader.readObjectPath(),
            let address = centrals.first(where: { $0.value.path == path && $0.value.isKnown })?.key
        else { return call.fail(DBusError("org.bluez.Error.DoesNotExist", "Does Not Exist")) }
        disconnect(address)
        centrals[address]?.isBonded = false
        forget(address)
        call.reply()
        changed()
    }
}
