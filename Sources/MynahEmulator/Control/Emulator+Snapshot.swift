import Mynah
package import MynahCore
import MynahLifecycle
import MynahProfiles
package import MynahValues

// Snapshots and values, for tests.
extension Emulator {
    /// The state of a device now, by its name in events; `nil` if there is none.
    package func snapshot(of label: String) async -> DeviceSnapshot? {
        guard let player = players.first(where: { $0.device.label == label }) else { return nil }
        let phone = await PhoneControl.status(of: phone)
        let faults = await faults(of: player)
        let status = status(of: player)
        let attributes = attributes(of: player, status)
        let paths = Dictionary(attributes.all.map { ($0.key, $0.path) }) { first, _ in first }
        let namesSubscribers = phone.capabilities?.subscriptions.namesSubscribers == true
        return DeviceSnapshot(
            device: label, radio: phone.capabilities?.name ?? "", address: phone.capabilities?.address,
            state: phone.state, app: player.device.app.map { _ in appState(of: player) },
            authorization: player.device.app.map {
                player.appSide.app?.access.authorization ?? $0.description.authorization
            },
            phone: player.device.app?.phone,
            advertising: status.advertising, advertisedServices: player.device.advertisedServices,
            centrals: phone.links.map { link in
                let subscribed = status.subscriptions[link.central.id] ?? []
                return .init(
                    name: EventCentral(link.central).description, mtu: link.central.mtu,
                    isEncrypted: link.isEncrypted, isBonded: link.central.isPaired,
                    subscriptions: namesSubscribers ? subscribed.compactMap { paths[$0] } : nil)
            },
            variables: hasMemory(player) ? player.table.variables : player.device.table.variables,
            faults: faults,
            scenarios: scenarios(of: player),
            attributes: attributes.all.map { attribute in
                .init(
                    path: attribute.path, handle: attribute.handle, properties: attribute.properties.names,
                    value: value(of: attribute.key, of: player),
                    layout: player.table.layout(of: attribute.key))
            })
    }

    /// The value that a device's attribute has now.
    package func value(of name: AttributeName, in label: String) throws(ControlRefusal) -> [UInt8] {
        let player = try player(named: label)
        let attribute = try attribute(named: name, of: player)
        guard let value = value(of: attribute.key, of: player) else {
            throw .conflict(noProcess(player, "its values exist only while it runs"))
        }
        return value
    }

    /// The layout of an attribute's value, or `nil` if it is not known.
    package func layout(of name: AttributeName, in label: String) throws(ControlRefusal) -> ValueLayout? {
        let player = try player(named: label)
        return player.table.layout(of: try attribute(named: name, of: player).key)
    }

    /// The names and the fields of a device's attributes, in attribute order.
    package func attributeLayouts(of label: String) throws(ControlRefusal) -> [AttributeLayout] {
        let player = try player(named: label)
        return attributes(of: player, status(of: player)).all.map { attribute in
            AttributeLayout(path: attribute.path, layout: player.table.layout(of: attribute.key))
        }
    }

    private func value(of attribute: AttributeKey, of player: DevicePlayer) -> [UInt8]? {
        if hasMemory(player) { return player.table.value(of: attribute, at: player.elapsed) }
        return player.device.services.staticValue(of: attribute)
    }

    // MARK: Names

    /// The player of a device.
    func player(named label: String) throws(ControlRefusal) -> DevicePlayer {
        guard isRunning else { throw .conflict("the run of \(label) is not under way") }
        if let player = players.first(where: { $0.device.label == label }) { return player }
        throw .notFound("there is no device \"\(label)\"; the devices are \(labels.quoted)")
    }

    /// A characteristic or descriptor of a device.
    func attribute(
        named name: AttributeName, of player: DevicePlayer
    ) throws(ControlRefusal) -> DeviceAttributes.Attribute {
        let found: DeviceAttributes.Attribute?
        do throws(AttributeName.Problem) {
            found = try attributes(of: player, status(of: player)).attribute(named: name)
        } catch {
            throw .notFound(error.message)
        }
        guard let found else { throw .notFound("\(name.text) is a service, which has no value") }
        return found
    }

    private func attributes(of player: DevicePlayer, _ status: ManagerStatus) -> DeviceAttributes {
        DeviceAttributes(player.device.services, status.handles)
    }

    /// A device's services and advertising on the radio.
    func status(of player: DevicePlayer) -> ManagerStatus {
        guard player.device.app != nil else { return player.manager?.access.status ?? ManagerStatus() }
        return player.appSide.app?.access.status ?? ManagerStatus()
    }

    // MARK: Apps

    /// The state of the app that plays a device.
    func appState(of player: DevicePlayer) -> AppState { player.appSide.app?.access.state ?? .notRunning }

    /// Whether a device has memory: an app without a process has none.
    func hasMemory(_ player: DevicePlayer) -> Bool {
        guard player.device.app != nil else { return true }
        return switch appState(of: player) {
        case .foreground, .background, .suspended: true
        case .notRunning, .terminated, .quit: false
        }
    }

    /// Says that an app has no process, and what follows.
    func noProcess(_ player: DevicePlayer, _ consequence: String) -> String {
        let state = appState(of: player).rawValue
        return "the app \(player.device.label) is not running, it is \(state): \(consequence)"
    }
}

extension [String] {
    /// The names in quotation marks, with commas.
    var quoted: String { map { "\"\($0)\"" }.joined(separator: ", ") }
}
