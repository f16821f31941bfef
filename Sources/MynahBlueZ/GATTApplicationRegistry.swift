import MynahCore
import MynahDBus

/// Services that were published together, as one application of bluetoothd's GattManager1.
struct GATTApplication {
    let id: PublishedServices.ID
    let services: [ServiceDefinition]
    /// The D-Bus objects of the application.
    fileprivate(set) var layout: ApplicationLayout
    /// Whether bluetoothd has registered the application.
    fileprivate(set) var isRegistered = false

    /// The keys of the application's characteristics and descriptors.
    var keys: [AttributeKey] {
        services.flatMap { $0.characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) } }
    }
}

/// The published applications and their attributes.
///
/// This part has no I/O. An application keeps its number, and therefore its object paths and handles, as long
/// as the radio runs.
struct GATTApplicationRegistry {
    private var applications: [PublishedServices.ID: GATTApplication] = [:]
    private var attributes: [AttributeKey: PublishedAttribute] = [:]
    private var lastNumber: UInt32 = 0
    private var nextHandle = ApplicationLayout.firstHandle

    /// A published attribute, or `nil` if it is not published.
    subscript(key: AttributeKey) -> PublishedAttribute? { attributes[key] }

    /// A published application, or `nil` if it is not published.
    subscript(id: PublishedServices.ID) -> GATTApplication? { applications[id] }

    /// All applications, in the order of their publication.
    var all: [GATTApplication] { applications.values.sorted { $0.id.rawValue < $1.id.rawValue } }

    /// Adds services as a new application, which is not registered yet.
    mutating func add(_ services: [ServiceDefinition]) throws(RadioError) -> GATTApplication {
        lastNumber += 1
        let id = PublishedServices.ID(lastNumber)
        let layout = try Self.layout(services, id, startHandle: nextHandle)
        let application = GATTApplication(id: id, services: services, layout: layout)
        applications[id] = application
        for (path, item) in layout.items {
            switch item {
            case .service: break
            case .characteristic(let definition, _):
                attributes[definition.key] = PublishedAttribute(definition, at: path)
            case .descriptor(let definition, _):
                attributes[definition.key] = PublishedAttribute(definition, at: path)
            }
        }
        return application
    }

    /// Removes and returns an application, or returns `nil` if it is not published.
    ///
    /// Centrals can use its attributes until `removeAttributes` is called.
    mutating func remove(_ id: PublishedServices.ID) -> GATTApplication? {
        applications.removeValue(forKey: id)
    }

    /// Removes the attributes of an application that was removed.
    mutating func removeAttributes(of application: GATTApplication) {
        for key in application.keys { attributes[key] = nil }
    }

    /// Removes everything; the next application gets the first handles again, but a new number.
    mutating func removeAll() {
        applications = [:]
        attributes = [:]
        nextHandle = ApplicationLayout.firstHandle
    }

    /// Sets the value with which the radio answers reads; if it is `nil`, the `RadioSink` answers them.
    mutating func setValue(_ value: [UInt8]?, of key: AttributeKey) {
        attributes[key]?.value = value
    }

    // MARK: Registration

    /// Records the registration of an application; returns whether the application is still published.
    mutating func registered(_ id: PublishedServices.ID) -> Bool {
        applications[id]?.isRegistered = true
        return applications[id] != nil
    }

    /// Reserves the handles of an application that was registered for the first time, and returns them.
    ///
    /// The next application begins at a multiple of 16.
    mutating func published(_ id: PublishedServices.ID) -> PublishedServices {
        guard let layout = applications[id]?.layout else { return PublishedServices(id: id) }
        let next = layout.nextHandle
        nextHandle = next < 0xFF00 ? AttributeHandle(rawValue: (next.rawValue + 0xF) & ~0xF) : .last
        return PublishedServices(id: id, handles: layout.handles)
    }

    /// Records that none of the applications is registered with bluetoothd any longer.
    mutating func forgetRegistrations() {
        for id in Array(applications.keys) { applications[id]?.isRegistered = false }
    }

    /// Gives an application a new layout without explicit handles, so that bluetoothd chooses them.
    ///
    /// Returns the layouts before and after, or `nil` if the application is not published.
    mutating func releaseHandles(
        of id: PublishedServices.ID
    ) throws(RadioError) -> (old: ApplicationLayout, new: ApplicationLayout)? {
        guard let application = applications[id] else { return nil }
        let layout = try Self.layout(application.services, id, startHandle: nil)
        applications[id]?.layout = layout
        return (application.layout, layout)
    }

    private static func layout(
        _ services: [ServiceDefinition], _ id: PublishedServices.ID, startHandle: AttributeHandle?
    ) throws(RadioError) -> ApplicationLayout {
        do throws(DBusError) {
            return try ApplicationLayout(services, number: id.rawValue, startHandle: startHandle)
        } catch {
            throw BlueZErrors.servicesError(error)
        }
    }
}
