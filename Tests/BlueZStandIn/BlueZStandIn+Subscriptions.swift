import Glibc
import MynahDBus

/// A socket that an application gave for a characteristic's notifications.
final class NotifySocket: Sendable {
    let handle: UInt16
    let central: String
    let descriptor: DBusFileDescriptor
    let watch: GLibFileDescriptorWatch

    init(
        _ handle: UInt16, _ central: String, _ descriptor: DBusFileDescriptor,
        _ handler: @escaping @Sendable (GLibFileDescriptorWatch.Events) -> Void
    ) {
        self.handle = handle
        self.central = central
        self.descriptor = descriptor
        watch = GLibFileDescriptorWatch(descriptor, .readable, handler)
    }
}

extension BlueZStandIn {
    /// A write of the client characteristic configuration, which the application hears of only in part.
    func configure(_ name: String, _ value: UInt16, by address: String) async throws(ATTFailure) {
        let (central, attribute) = try attribute(name, for: address)
        guard attribute.access.notifies else { throw .attributeNotFound }
        try check(attribute.access.subscribe, central, .writeNotPermitted)
        let handle = attribute.handle
        guard central.configurations[handle, default: 0] != value else { return }
        guard value != 0 else {
            unsubscribe(handle, of: address)
            centrals[address]?.configurations[handle] = nil
            return changed()
        }
        guard value <= 2, value != 1 || attribute.access.hasNotify, value != 2 || attribute.access.hasIndicate
        else {
            throw .cccImproperlyConfigured
        }
        if !configuration.version.hasSocketPerCentral, sockets.contains(where: { $0.handle == handle }) {
            // The one socket serves all; the application hears nothing.
        } else if attribute.characteristic.wantsNotifySocket {
            if try await !acquire(attribute, central) { start(attribute) }
        } else {
            start(attribute)
        }
        // Also when 1 becomes 2, which is why it leaks.
        subscriberCounts[handle, default: 0] += 1
        centrals[address]?.configurations[handle] = value
        changed()
    }

    private func start(_ attribute: Attribute) {
        callSilently(attribute.owner, attribute.path, attribute.interface, "StartNotify")
    }

    func unsubscribe(_ handle: UInt16, of address: String) {
        sockets.removeAll {
            $0.handle == handle && ($0.central == address || !configuration.version.hasSocketPerCentral)
                && (configuration.version.hasSocketPerCentral || subscriberCounts[handle, default: 0] <= 1)
        }
        guard let count = subscriberCounts[handle], count > 0 else { return }
        subscriberCounts[handle] = count - 1
        guard count == 1, let (application, characteristic) = find(handle),
            !characteristic.wantsNotifySocket || application.owner.isEmpty
        else { return }
        callSilently(application.owner, characteristic.path, "org.bluez.GattCharacteristic1", "StopNotify")
    }

    private func find(_ handle: UInt16) -> (ApplicationState, StandInCharacteristic)? {
        for application in adapters.values.flatMap(\.applications) {
            for characteristic in application.services.flatMap(\.characteristics)
            where characteristic.handle == handle {
                return (application, characteristic)
            }
        }
        return nil
    }

    /// Asks for a socket.
    ///
    /// Returns `false` if StartNotify is to be called instead.
    ///
    /// Failed and NoReply end it there.
    private func acquire(_ attribute: Attribute, _ central: CentralState) async throws(ATTFailure) -> Bool {
        guard let connection else { throw .unlikely }
        do throws(DBusError) {
            let message = try await connection.call(
                attribute.owner, attribute.path, attribute.interface, "AcquireNotify"
            ) { appendOptions(&$0, central, offset: 0) }
            guard message.hasSignature("hq") else {
                violate("AcquireNotify was answered with '\(message.signature)'")
                return false
            }
            var reader = message.reader()
            add(try reader.readFileDescriptor(), attribute.handle, central.address)
            return true
        } catch {
            if error.name == .noReply || error.name == "org.bluez.Error.Failed" { throw .unlikely }
            return false
        }
    }

    private func add(_ descriptor: DBusFileDescriptor, _ handle: UInt16, _ address: String) {
        sockets.append(
            NotifySocket(handle, address, descriptor) { [weak self] events in
                self?.assumeIsolated { $0.socketEvent(events, descriptor, handle, address) }
            })
    }

    /// A value from a socket goes to its central, or in older versions to all.
    private func socketEvent(
        _ events: GLibFileDescriptorWatch.Events, _ descriptor: DBusFileDescriptor, _ handle: UInt16,
        _ address: String
    ) {
        if events.contains(.readable) {
            var buffer = [UInt8](repeating: 0, count: 512)
            let count = recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                let value = Array(buffer.prefix(count))
                for other in centrals.keys.sorted()
                where other == address || !configuration.version.socketReachesOneCentral {
                    if deliver(value, handle, to: other) == true,
                        configuration.version.socketTellsConfirmations
                    {
                        let confirmation: [UInt8] = [1]
                        _ = send(
                            descriptor.rawValue, confirmation, 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                    }
                }
            } else if count == 0 {
                sockets.removeAll { $0.descriptor === descriptor }
            }
        }
        if events.contains(.hangUp) { sockets.removeAll { $0.descriptor === descriptor } }
        changed()
    }

    /// A property change is one PDU for each subscriber; a Value that is only invalidated is an empty one.
    func characteristicChanged(_ owner: String, _ path: ObjectPath, _ reader: inout MessageReader) {
        var value: [UInt8]?
        try? reader.readOptions { key, inner throws(DBusError) in
            if key == "Value" { value = try inner.readBytes() }
        }
        if let invalidated = try? reader.readValue(), invalidated.stringsValue?.contains("Value") == true {
            value = []
        }
        guard let value else { return }
        for application in adapters.values.flatMap(\.applications) where application.owner == owner {
            for characteristic in application.services.flatMap(\.characteristics)
            where characteristic.path == path {
                for address in centrals.keys.sorted() {
                    if deliver(value, characteristic.handle, to: address) == true {
                        callSilently(owner, path, "org.bluez.GattCharacteristic1", "Confirm")
                    }
                }
            }
        }
        changed()
    }

    /// Sends one PDU to a central that is subscribed; says whether it was an indication, nil when nothing was
    /// sent.
    private func deliver(_ value: [UInt8], _ handle: UInt16, to address: String) -> Bool? {
        guard let central = centrals[address], central.isConnected,
            let configuration = central.configurations[handle], let (_, characteristic) = find(handle)
        else { return nil }
        let isIndication = configuration == 2
        centrals[address]?.inbox.append(
            StandInNotification(
                handle: handle, uuid: characteristic.uuid,
                value: Array(value.prefix(512).prefix(central.mtu - 3)),
                isIndication: isIndication))
        return isIndication
    }
}
