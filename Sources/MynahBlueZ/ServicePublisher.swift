import Logging
import MynahCore
import MynahDBus

/// Registers the applications of a `GATTApplicationRegistry` with bluetoothd.
final class ServicePublisher {
    /// The published applications and their attributes.
    private(set) var registry = GATTApplicationRegistry()
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Publishes services as one application.
    func publish(
        _ services: [ServiceDefinition], through adapter: AdapterClient
    ) async throws(RadioError) -> PublishedServices {
        let application = try registry.add(services)
        do throws(RadioError) {
            try export(application.layout, through: adapter)
            try await register(application.id, through: adapter)
        } catch {
            await withdraw(application.id, through: adapter)
            throw error
        }
        return registry.published(application.id)
    }

    /// Withdraws an application, and returns the keys of its attributes.
    @discardableResult
    func withdraw(_ id: PublishedServices.ID, through adapter: AdapterClient) async -> [AttributeKey] {
        guard let application = registry.remove(id) else { return [] }
        if application.isRegistered { await unregister(application.layout.root, through: adapter) }
        try? adapter.reach().daemon.unexport(application.layout)
        registry.removeAttributes(of: application)
        return application.keys
    }

    /// Withdraws all applications.
    func withdrawAll(through adapter: AdapterClient) async {
        for application in registry.all { await withdraw(application.id, through: adapter) }
        registry.removeAll()
    }

    /// Sets the value with which the radio answers reads; if it is `nil`, the `RadioSink` answers them.
    func setValue(_ value: [UInt8]?, of key: AttributeKey) {
        registry.setValue(value, of: key)
    }

    // MARK: Recovery

    /// Records that none of the applications is registered with bluetoothd any longer.
    func lost() {
        registry.forgetRegistrations()
    }

    /// Exports all applications on a new connection.
    func exportAll(through adapter: AdapterClient) throws(RadioError) {
        for application in registry.all { try export(application.layout, through: adapter) }
    }

    /// Registers the applications that bluetoothd does not have yet.
    func registerAll(through adapter: AdapterClient) async throws(RadioError) {
        for application in registry.all where !application.isRegistered {
            try await register(application.id, through: adapter)
        }
    }

    // MARK: Registration

    private func export(_ layout: ApplicationLayout, through adapter: AdapterClient) throws(RadioError) {
        try adapter.reach().daemon.export(layout, offersSockets: adapter.offersSockets)
    }

    private func register(
        _ id: PublishedServices.ID, through adapter: AdapterClient
    ) async throws(RadioError) {
        guard let handles = registry[id]?.layout.handles else { return }
        var registration = ApplicationRegistration(hasHandles: !handles.isEmpty)
        while let root = registry[id]?.layout.root {
            let (daemon, path) = try adapter.reach()
            switch registration.step {
            case .register: break
            case .registerAgain: await unregister(root, through: adapter)
            case .registerWithoutHandles:
                logger.info("handles are taken", metadata: ["application": "\(root)"])
                guard let (old, new) = try registry.releaseHandles(of: id) else { return }
                daemon.unexport(old)
                try export(new, through: adapter)
            }
            do throws(DBusError) {
                try await daemon.registerApplication(root, on: path)
                // The application was withdrawn meanwhile.
                if !registry.registered(id) { await unregister(root, through: adapter) }
                return
            } catch {
                try registration.refused(error)
            }
        }
    }

    private func unregister(_ root: ObjectPath, through adapter: AdapterClient) async {
        guard adapter.session.hasDaemon else { return }
        do throws(RadioError) {
            let (daemon, path) = try adapter.reach()
            try await daemon.unregisterApplication(root, on: path)
        } catch {
            logger.debug("left as it is", metadata: ["error": "\(error)"])
        }
    }
}
