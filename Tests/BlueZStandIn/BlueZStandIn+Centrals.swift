import MynahDBus

extension BlueZStandIn {
    /// A central with an address, which plays a phone for the test.
    public func central(
        _ address: String = "F0:F1:F2:F3:F4:F5", on adapter: String = "hci0", named name: String? = nil
    ) -> VirtualCentral {
        if centrals[address] == nil {
            centrals[address] = CentralState(
                address: address, name: name, adapter: adapter,
                path: devicePath(address, on: adapter) ?? .root)
        }
        return VirtualCentral(self, address: address)
    }

    /// Whether a central is connected.
    public func isConnected(_ address: String) -> Bool { centrals[address]?.isConnected == true }

    // MARK: - Links

    /// A new device comes as InterfacesAdded with Connected already true; a known one changes its property.
    func connect(_ address: String, mtu: Int, to name: String) throws(ATTFailure) {
        guard let connection, let adapter = adapters[name], adapter.isPowered,
            let path = devicePath(address, on: name)
        else { throw .unlikely }
        guard adapter.advertisements.contains(where: { $0.isOnAir && $0.record.isConnectable }) else {
            throw .unlikely
        }
        centrals[address]?.adapter = name
        centrals[address]?.path = path
        centrals[address]?.isConnected = true
        centrals[address]?.mtu = mtu
        let isBonded = centrals[address]?.isBonded == true
        centrals[address]?.isEncrypted = isBonded
        // The controller stops advertising when a central connects.
        for index in adapter.advertisements.indices where adapter.advertisements[index].record.isConnectable {
            adapters[name]?.advertisements[index].isOnAir = false
        }
        if centrals[address]?.isKnown == true {
            tell("Connected", true, of: address)
        } else {
            centrals[address]?.isKnown = true
            try? connection.export(deviceObject(address), at: path)
            try? connection.emitInterfacesAdded(path, from: "/")
        }
        changed()
    }

    /// Ends a link; an unbonded central's subscriptions go, a bonded one's stay.
    func disconnect(_ address: String) {
        guard let central = centrals[address], central.isConnected else { return }
        centrals[address]?.isConnected = false
        centrals[address]?.isEncrypted = false
        if !central.isBonded {
            for handle in central.configurations.keys.sorted() {
                unsubscribe(handle, of: address)
            }
            centrals[address]?.configurations = [:]
        }
        sockets.removeAll { $0.central == address && configuration.version.hasSocketPerCentral }
        tell("Connected", false, of: address)
        if let adapter = adapters[central.adapter], adapter.isPowered {
            // With its link, what had stopped the adverts ends.
            for index in adapter.advertisements.indices {
                adapters[central.adapter]?.advertisements[index].isOnAir = true
            }
        }
        changed()
    }

    /// Takes a device away, as the daemon does 30 s after an unbonded one has left.
    func forget(_ address: String) {
        guard let connection, let central = centrals[address], central.isKnown else { return }
        centrals[address]?.isKnown = false
        connection.unexport(central.path)
        try? connection.emitInterfacesRemoved(central.path, ["org.bluez.Device1"], from: "/")
        changed()
    }

    func tell(_ property: String, _ value: DBusValue, of address: String) {
        guard let central = centrals[address], central.isKnown else { return }
        try? connection?.emitPropertiesChanged(central.path, "org.bluez.Device1", [(property, value)])
    }

    private func devicePath(_ address: String, on name: String) -> ObjectPath? {
        let element = "dev_" + address.split(separator: ":").joined(separator: "_")
        return try? ObjectPath("/org/bluez/\(name)/\(element)")
    }

    private func deviceObject(_ address: String) -> StandInObject {
        StandInObject(
            interfaces: { [Interfaces.device] },
            property: { [weak self] _, property in
                self?.assumeIsolated { $0.deviceProperty(property, address) }
            },
            set: { [weak self] _, property, value in
                self?.assumeIsolated { standIn in
                    if property == "Trusted" {
                        standIn.centrals[address]?.isTrusted = value.boolValue == true
                    }
                    standIn.tell(property, value, of: address)
                }
                return nil
            },
            call: { [weak self] call in
                self?.assumeIsolated { standIn in
                    standIn.checkAddressing(call)
                    if call.member == "Disconnect" { standIn.disconnect(address) }
                    call.reply()
                }
            })
    }

    private func deviceProperty(_ property: String, _ address: String) -> DBusValue? {
        guard let central = centrals[address] else { return nil }
        switch property {
        case "Address", "Alias": return .string(address)
        case "Name": return central.name.map { .string($0) }
        case "AddressType": return "random"
        case "Paired", "Bonded": return .bool(central.isBonded)
        case "Trusted": return .bool(central.isTrusted)
        case "Blocked", "LegacyPairing", "ServicesResolved": return false
        case "Connected": return .bool(central.isConnected)
        case "UUIDs": return .strings([])
        case "Adapter": return .objectPath(adapters[central.adapter]?.path ?? "/")
        default: return nil
        }
    }

    // MARK: - Attributes

    /// An attribute as a central finds it.
    struct Attribute {
        let owner: String
        let path: ObjectPath
        let interface: String
        let handle: UInt16
        let access: AttributeAccess
        let characteristic: StandInCharacteristic
        var isDescriptor: Bool { interface == "org.bluez.GattDescriptor1" }
    }

    /// Finds `2a37`, or a descriptor as `2a37/2901`; with a service before it as `180d:2a37`.
    func attribute(_ name: String, for address: String) throws(ATTFailure) -> (CentralState, Attribute) {
        guard let central = centrals[address], central.isConnected, let adapter = adapters[central.adapter]
        else {
            throw .unlikely
        }
        let parts = name.split(separator: ":").map(String.init)
        let path = (parts.last ?? "").split(separator: "/").compactMap { UUIDText.normalized(String($0)) }
        let service = parts.count > 1 ? UUIDText.normalized(parts[0]) : nil
        for application in adapter.applications {
            for candidate in application.services where service == nil || candidate.uuid == service {
                for characteristic in candidate.characteristics where characteristic.uuid == path.first {
                    guard path.count > 1 else {
                        return (
                            central,
                            Attribute(
                                owner: application.owner, path: characteristic.path,
                                interface: "org.bluez.GattCharacteristic1", handle: characteristic.handle,
                                access: characteristic.access, characteristic: characteristic)
                        )
                    }
                    guard let descriptor = characteristic.descriptors.first(where: { $0.uuid == path[1] })
                    else {
                        continue
                    }
                    return (
                        central,
                        Attribute(
                            owner: application.owner, path: descriptor.path,
                            interface: "org.bluez.GattDescriptor1",
                            handle: descriptor.handle, access: descriptor.access,
                            characteristic: characteristic)
                    )
                }
            }
        }
        throw .attributeNotFound
    }

    /// Encryption and authentication, checked before the application is asked.
    func check(_ level: AttributeAccess.Level?, _ central: CentralState, _ refusal: ATTFailure)
        throws(ATTFailure)
    {
        switch level {
        case nil: throw refusal
        case .open?: break
        case .encrypted?: if !central.isEncrypted { throw .encryption }
        case .authenticated?: if !central.isEncrypted || !central.isAuthenticated { throw .authentication }
        }
    }

    /// The options of an operation, as bluetoothd sends them; an offset of 0 is left out.
    func appendOptions(
        _ body: inout MessageWriter, _ central: CentralState, offset: Int, authorizing: Bool = false
    ) {
        body.appendOptions { options in
            options.appendOption("device", .objectPath(central.path))
            options.appendOption("link", "LE")
            options.appendOption("mtu", .uint16(UInt16(clamping: central.mtu)))
            if offset != 0 { options.appendOption("offset", .uint16(UInt16(clamping: offset))) }
            if authorizing { options.appendOption("prepare-authorize", true) }
        }
    }

    /// One ReadValue, from an offset, cut to one PDU.
    func read(_ name: String, offset: Int, by address: String, header: Int = 1) async throws(ATTFailure)
        -> [UInt8]
    {
        let (central, attribute) = try attribute(name, for: address)
        try check(attribute.access.read, central, .readNotPermitted)
        guard let connection else { throw .unlikely }
        let version = configuration.version
        let message: DBusMessage
        do throws(DBusError) {
            message = try await connection.call(
                attribute.owner, attribute.path, attribute.interface, "ReadValue",
                timeout: configuration.attributeTimeout
            ) { appendOptions(&$0, central, offset: offset) }
        } catch {
            throw ATTFailure(error, writing: false, version: version)
        }
        guard message.hasSignature("ay"), case .bytes(let value)? = try? message.values().first else {
            violate("ReadValue of \(attribute.path) was answered with '\(message.signature)'")
            throw .notSupported
        }
        return Array(value.prefix(512).prefix(central.mtu - header))
    }

    /// One WriteValue: awaited, or not where the characteristic takes commands.
    func write(
        _ name: String, _ value: [UInt8], offset: Int = 0, isCommand: Bool, by address: String
    ) async throws(ATTFailure) {
        let (central, attribute) = try attribute(name, for: address)
        try check(attribute.access.write, central, .writeNotPermitted)
        guard value.count + offset <= 512, value.count <= configuration.version.maximumWrite else {
            throw .valueLength
        }
        try await writeValue(value, offset, central, attribute, isCommand: isCommand)
    }

    func writeValue(
        _ value: [UInt8], _ offset: Int, _ central: CentralState, _ attribute: Attribute, isCommand: Bool,
        authorizing: Bool = false
    ) async throws(ATTFailure) {
        guard let connection else { throw .unlikely }
        let body: (inout MessageWriter) -> Void = { body in
            body.appendBytes(value)
            self.appendOptions(&body, central, offset: offset, authorizing: authorizing)
        }
        if attribute.access.hasWriteWithoutResponse || isCommand, !authorizing {
            // Success is told at once; the application cannot refuse.
            let serial = try? connection.sendWithoutReply(
                attribute.owner, attribute.path, attribute.interface, "WriteValue", body: body)
            if let serial { silentCalls.insert(serial) }
            return
        }
        let message: DBusMessage
        do throws(DBusError) {
            message = try await connection.call(
                attribute.owner, attribute.path, attribute.interface, "WriteValue",
                timeout: configuration.attributeTimeout, body: body)
        } catch {
            throw ATTFailure(error, writing: true, version: configuration.version)
        }
        guard message.hasSignature("") else {
            violate("WriteValue of \(attribute.path) was answered with a value")
            throw .unlikely
        }
    }

    /// Prepared writes: parts that follow each other become one WriteValue, at the first one's offset.
    func writePrepared(
        _ name: String, _ parts: [(offset: Int, value: [UInt8])], by address: String
    ) async throws(ATTFailure) {
        let (central, attribute) = try attribute(name, for: address)
        try check(attribute.access.write, central, .writeNotPermitted)
        guard parts.count <= 30 else { throw .prepareQueueFull }
        let end = configuration.version.maximumLongWrite
        guard parts.allSatisfy({ $0.offset + $0.value.count <= end }) else { throw .valueLength }
        if attribute.access.authorizes, !central.isTrusted {
            try await writeValue([], 0, central, attribute, isCommand: false, authorizing: true)
        }
        var merged: [(offset: Int, value: [UInt8])] = []
        for part in parts {
            if let last = merged.last, last.offset + last.value.count == part.offset {
                merged[merged.count - 1].value += part.value
            } else {
                merged.append(part)
            }
        }
        guard merged.count < 2 || attribute.access.isReliable else { throw .notSupported }
        for part in merged {
            try await writeValue(part.value, part.offset, central, attribute, isCommand: false)
        }
    }
}
