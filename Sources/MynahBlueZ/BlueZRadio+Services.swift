import Logging
public import MynahCore
import MynahDBus

// Publishing services.
extension BlueZRadio {
    /// Registers a batch as one GATT application.
    @discardableResult
    public func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        guard life.state == .running else {
            throw RadioError(.invalidState, "services can be published while the radio runs")
        }
        lastBatch += 1
        let id = PublishedServices.ID(lastBatch)
        let tree = try makeTree(services, number: lastBatch, startHandle: nextHandle)
        batches[id] = Batch(services: services, tree: tree)
        for (path, item) in tree.items { addAttribute(item, at: path) }
        do throws(RadioError) {
            try export(tree)
            try await register(id)
        } catch {
            await withdraw(id)
            throw error
        }
        // Later batches leave the first ones' handles alone, to the next round number.
        let next = batches[id]?.tree.nextHandle ?? nextHandle
        nextHandle = next < 0xFF00 ? (next + 0xF) & ~0xF : 0xFFFF
        return PublishedServices(id: id, handles: batches[id]?.tree.handles ?? [:])
    }

    /// Takes a batch back.
    public func withdraw(_ services: PublishedServices.ID) async {
        guard let batch = batches.removeValue(forKey: services) else { return }
        if batch.isRegistered, life.state != .stopped { await unregister(batch.tree.root) }
        if let connection, !connection.isClosed { batch.tree.unexport(from: connection) }
        for key in batch.services.flatMap(\.keys) {
            attributes[key] = nil
            socketSubscriptions.remove(key)
            for socket in Array(sockets.keys) where socket.attribute == key { sockets[socket] = nil }
        }
    }

    /// What the radio answers by itself; nil: the sink is asked.
    public func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        attributes[attribute]?.value = value
    }

    private func makeTree(
        _ services: [ServiceDefinition], number: UInt32, startHandle: UInt16?
    ) throws(RadioError) -> AttributeTree {
        do throws(DBusError) {
            return try AttributeTree(services, number: number, startHandle: startHandle)
        } catch {
            throw BlueZErrors.servicesError(error)
        }
    }

    private func addAttribute(_ item: AttributeTree.Item, at path: ObjectPath) {
        switch item {
        case .service:
            break
        case .characteristic(let definition, _):
            attributes[definition.key] = Attribute(
                path: path, uuid: definition.uuid, value: definition.value,
                permissions: definition.permissions, maximumLength: definition.maximumLength,
                delivery: definition.properties.delivery,
                sends: !definition.properties.isDisjoint(with: .anyUpdate))
        case .descriptor(let definition, _):
            attributes[definition.key] = Attribute(
                path: path, uuid: definition.uuid, value: definition.value,
                permissions: definition.permissions, maximumLength: definition.maximumLength)
        }
    }

    func export(_ tree: AttributeTree) throws(RadioError) {
        guard let connection else { throw RadioError(.lost, "the connection to the bus is closed") }
        do throws(DBusError) {
            try tree.export(on: connection, offersSockets: offersSockets, radio: self)
        } catch {
            tree.unexport(from: connection)
            throw BlueZErrors.servicesError(error)
        }
    }

    func register(_ id: PublishedServices.ID) async throws(RadioError) {
        guard let batch = batches[id] else { return }
        do throws(DBusError) {
            try await registerAnew(batch.tree.root)
        } catch {
            guard error.name == "org.bluez.Error.Failed", error.message.contains("database"),
                !batch.tree.handles.isEmpty
            else { throw BlueZErrors.servicesError(error) }
            // Somebody else has one of the handles: the daemon may choose.
            logger.info("handles are taken", metadata: ["application": "\(batch.tree.root)"])
            if let connection { batch.tree.unexport(from: connection) }
            let tree = try makeTree(batch.services, number: id.rawValue, startHandle: nil)
            batches[id]?.tree = tree
            try export(tree)
            do throws(DBusError) {
                try await registerApplication(tree.root)
            } catch {
                throw BlueZErrors.servicesError(error)
            }
        }
        batches[id]?.isRegistered = true
    }

    /// What bluetoothd has of it already is of an earlier attempt, whose answer came too late or not at all.
    private func registerAnew(_ root: ObjectPath) async throws(DBusError) {
        do throws(DBusError) {
            try await registerApplication(root)
        } catch {
            guard error.name == "org.bluez.Error.AlreadyExists" else { throw error }
            await unregister(root)
            try await registerApplication(root)
        }
    }

    private func registerApplication(_ root: ObjectPath) async throws(DBusError) {
        guard let connection, let adapter else { throw DBusError(.disconnected) }
        // bluetoothd asks for the objects before it answers, up to 25 s for each question.
        _ = try await connection.call(
            BlueZ.service, adapter.path, BlueZ.gattManager, "RegisterApplication", timeout: .seconds(30)
        ) { body in
            body.append(root)
            body.appendOptions()
        }
    }

    private func unregister(_ root: ObjectPath) async {
        guard let adapter, hasOwner, connection?.isClosed == false else { return }
        await attempt { () throws(RadioError) in
            _ = try await call(
                adapter.path, BlueZ.gattManager, "UnregisterApplication", timeout: .seconds(3),
                "withdrawing services"
            ) { $0.append(root) }
        }
    }

    func withdrawAll() async {
        await stopAdvertising()
        for id in Array(batches.keys) { await withdraw(id) }
    }
}

extension ServiceDefinition {
    var keys: [AttributeKey] {
        characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
    }
}

extension CharacteristicProperties {
    /// The one way of sending; nil where there are both or none.
    fileprivate var delivery: Delivery? {
        switch intersection(.anyUpdate) {
        case .notify: .notification
        case .indicate: .indication
        default: nil
        }
    }
}
