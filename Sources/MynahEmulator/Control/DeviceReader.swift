import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahValues

/// Reads the state of devices, for tests.
struct DeviceReader {
    let devices: PlayedDevices
    let phone: Phone
    let faults: FaultControl
    let scenarios: ScenarioControl

    /// Returns the current state of the device with this event name, or `nil` if there is none.
    func snapshot(of label: String) async -> DeviceSnapshot? {
        guard let player = devices.player(called: label) else { return nil }
        let phone = await PhoneControl.status(of: phone)
        let faults = await faults.faults(of: player)
        let state = PlayedState(of: player)
        let status = state.status
        let memory = player.memory
        let attributes = self.attributes(of: player, status)
        let paths = Dictionary(attributes.all.map { ($0.key, $0.path) }) { first, _ in first }
        let namesSubscribers = phone.capabilities?.subscriptions.namesSubscribers == true
        return DeviceSnapshot(
            device: label, radio: phone.capabilities?.name ?? "", address: phone.capabilities?.address,
            state: phone.state, app: memory.device.app.map { _ in state.app },
            authorization: memory.device.app.map {
                memory.appSide.app?.access.authorization ?? $0.description.authorization
            },
            phone: memory.device.app?.phone,
            advertising: status.advertising,
            setNames: memory.device.advertisement?.sets.map(\.name) ?? [],
            advertisedServices: memory.device.advertisedServices,
            limits: limits(of: memory.device.identity),
            centrals: phone.links.map { link in
                let subscribed = status.subscriptions[link.central.id] ?? []
                return .init(
                    name: EventCentral(link.central).description, mtu: link.central.mtu,
                    isEncrypted: link.isEncrypted, isBonded: link.central.isPaired,
                    subscriptions: namesSubscribers ? subscribed.compactMap { paths[$0] } : nil)
            },
            variables: state.hasMemory ? memory.table.variables : memory.device.table.variables,
            faults: faults,
            scenarios: scenarios.scenarios(of: player),
            attributes: attributes.all.map { attribute in
                .init(
                    path: attribute.path, handle: attribute.handle, properties: attribute.properties.names,
                    updates: attribute.updates,
                    value: value(of: attribute.key, of: player),
                    layout: memory.table.layout(of: attribute.key))
            })
    }

    /// Returns the limits for links that the profile sets, by their keys in the profile.
    ///
    /// Only limits that are stricter than those of Mynah's host are included.
    private func limits(of identity: DeviceIdentity) -> [DeviceSnapshot.Limit] {
        let usual = DeviceIdentity(name: "")
        let (mtu, keySize) = (identity.largestMTU, identity.largestKeySize)
        return (identity.largestCentralCount.map { [.init(key: "centrals", number: $0)] } ?? [])
            + (mtu < usual.largestMTU ? [.init(key: "mtu", number: mtu)] : [])
            + (keySize < usual.largestKeySize ? [.init(key: "keySize", number: keySize)] : [])
    }

    /// Returns the current value of a device's attribute.
    func value(of name: AttributeName, in label: String) throws(ControlRefusal) -> [UInt8] {
        let player = try devices.player(named: label)
        let attribute = try attribute(named: name, of: player)
        guard let value = value(of: attribute.key, of: player) else {
            throw .conflict(PlayedState(of: player).noProcess("its values exist only while it runs"))
        }
        return value
    }

    /// Returns the layout of an attribute's value, or `nil` if it is not known.
    func layout(of name: AttributeName, in label: String) throws(ControlRefusal) -> ValueLayout? {
        let player = try devices.player(named: label)
        return player.memory.table.layout(of: try attribute(named: name, of: player).key)
    }

    /// Returns the names and the fields of a device's attributes, in attribute order.
    func attributeLayouts(of label: String) throws(ControlRefusal) -> [AttributeLayout] {
        let player = try devices.player(named: label)
        return attributes(of: player, PlayedState(of: player).status).all.map { attribute in
            AttributeLayout(path: attribute.path, layout: player.memory.table.layout(of: attribute.key))
        }
    }

    private func value(of attribute: AttributeKey, of player: DevicePlayer) -> [UInt8]? {
        if PlayedState(of: player).hasMemory {
            return player.memory.table.value(of: attribute, at: player.memory.elapsed)
        }
        return player.memory.device.services.staticValue(of: attribute)
    }

    // MARK: Names

    /// Returns the named characteristic or descriptor of a device.
    func attribute(
        named name: AttributeName, of player: DevicePlayer
    ) throws(ControlRefusal) -> DeviceAttributes.Attribute {
        let found: DeviceAttributes.Attribute?
        do throws(AttributeName.Problem) {
            found = try attributes(of: player, PlayedState(of: player).status).attribute(named: name)
        } catch {
            throw .notFound(error.message)
        }
        guard let found else { throw .notFound("\(name.text) is a service, which has no value") }
        return found
    }

    private func attributes(of player: DevicePlayer, _ status: ManagerStatus) -> DeviceAttributes {
        DeviceAttributes(player.memory.device.services, status.handles)
    }
}
