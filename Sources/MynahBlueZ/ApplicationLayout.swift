import MynahCore
import MynahDBus

/// The D-Bus objects of a GATT application: their paths, their order and their attribute handles.
///
/// bluetoothd assigns handles in the order in which the objects are listed. Each service requests an explicit
/// handle, so that its handles stay the same when it is registered again.
struct ApplicationLayout {
    /// An object of the application.
    enum Item {
        case service(ServiceDefinition, includes: [ObjectPath], handle: AttributeHandle?)
        case characteristic(CharacteristicDefinition, service: ObjectPath)
        case descriptor(DescriptorDefinition, characteristic: ObjectPath)
    }

    /// The path of the object manager, which identifies the application for bluetoothd.
    let root: ObjectPath
    let items: [(path: ObjectPath, item: Item)]
    /// The expected handle of each attribute.
    ///
    /// The handle of a service is the handle of its declaration.
    let handles: [AttributeKey: AttributeHandle]
    /// The first handle that follows the application.
    let nextHandle: AttributeHandle

    /// The first handle of the first application, far enough after bluetoothd's own services.
    static let firstHandle: AttributeHandle = 0x0100

    /// Lays out an application with handles from `startHandle` on.
    ///
    /// If `startHandle` is `nil`, bluetoothd chooses the handles.
    init(_ services: [ServiceDefinition], number: UInt32, startHandle: AttributeHandle?) throws(DBusError) {
        root = try ObjectPath("/org/mynah/application\(number)")
        var items: [(ObjectPath, Item)] = []
        var paths: [AttributeKey: ObjectPath] = [:]
        var handles: [AttributeKey: AttributeHandle] = [:]
        var handle = startHandle
        for (index, service) in services.enumerated() {
            let path = try root.appending("service\(index)")
            paths[service.key] = path
            let count = GattFlags.handleCount(of: service)
            if let start = handle, Int(start.rawValue) + count > 0xFFFE { handle = nil }
            items.append(
                (
                    path,
                    .service(
                        service, includes: service.includes.compactMap { paths[$0] },
                        handle: handle)
                ))
            if let start = handle { handles[service.key] = start }
            var next = handle.map { $0 + 1 + service.includes.count }
            for (index, characteristic) in service.characteristics.enumerated() {
                let characteristicPath = try path.appending("char\(index)")
                items.append((characteristicPath, .characteristic(characteristic, service: path)))
                if let declaration = next { handles[characteristic.key] = declaration + 1 }
                let firstDescriptor = next.map { $0 + 2 + GattFlags.madeDescriptors(of: characteristic) }
                for (index, descriptor) in characteristic.descriptors.enumerated() {
                    let descriptorPath = try characteristicPath.appending("desc\(index)")
                    items.append(
                        (descriptorPath, .descriptor(descriptor, characteristic: characteristicPath)))
                    if let first = firstDescriptor { handles[descriptor.key] = first + index }
                }
                next = next.map { $0 + GattFlags.handleCount(of: characteristic) }
            }
            handle = handle.map { $0 + count }
        }
        self.items = items
        self.handles = handles
        nextHandle = handle ?? .last
    }
}
