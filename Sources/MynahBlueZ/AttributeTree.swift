import MynahCore
import MynahDBus

/// One batch of services as D-Bus objects: paths, order and handles.
///
/// bluetoothd gives handles in the order in which the objects are listed. Each service wishes for an explicit handle, so
/// that registering again gives the same ones; a batch keeps its place for as long as the radio runs.
struct AttributeTree {
    /// One object, in the order in which it is listed.
    enum Item {
        case service(ServiceDefinition, includes: [ObjectPath], handle: UInt16?)
        case characteristic(CharacteristicDefinition, service: ObjectPath)
        case descriptor(DescriptorDefinition, characteristic: ObjectPath)
    }

    /// The object manager's path, which names the application.
    let root: ObjectPath
    let items: [(path: ObjectPath, item: Item)]
    /// Where each attribute is expected, the service's being its declaration's.
    let handles: [AttributeKey: UInt16]
    /// The first handle behind the batch.
    let nextHandle: UInt16

    /// The first handle that is wished for: far behind bluetoothd's own services.
    static let firstHandle: UInt16 = 0x0100

    /// Lays out a batch; `startHandle` nil leaves the handles to bluetoothd.
    init(_ services: [ServiceDefinition], number: UInt32, startHandle: UInt16?) throws(DBusError) {
        root = try ObjectPath("/org/mynah/application\(number)")
        var items: [(ObjectPath, Item)] = []
        var paths: [AttributeKey: ObjectPath] = [:]
        var handles: [AttributeKey: UInt16] = [:]
        var handle = startHandle.map(Int.init)
        for (index, service) in services.enumerated() {
            let path = try root.appending("service\(index)")
            paths[service.key] = path
            let count = GattFlags.handleCount(of: service)
            if let start = handle, start + count > 0xFFFE { handle = nil }
            items.append(
                (
                    path,
                    .service(
                        service, includes: service.includes.compactMap { paths[$0] },
                        handle: handle.map { UInt16($0) })
                ))
            if let start = handle { handles[service.key] = UInt16(start) }
            var next = handle.map { $0 + 1 + service.includes.count }
            for (index, characteristic) in service.characteristics.enumerated() {
                let characteristicPath = try path.appending("char\(index)")
                items.append((characteristicPath, .characteristic(characteristic, service: path)))
                if let declaration = next { handles[characteristic.key] = UInt16(declaration + 1) }
                let firstDescriptor = next.map { $0 + 2 + GattFlags.madeDescriptors(of: characteristic) }
                for (index, descriptor) in characteristic.descriptors.enumerated() {
                    let descriptorPath = try characteristicPath.appending("desc\(index)")
                    items.append(
                        (descriptorPath, .descriptor(descriptor, characteristic: characteristicPath)))
                    if let first = firstDescriptor { handles[descriptor.key] = UInt16(first + index) }
                }
                next = next.map { $0 + GattFlags.handleCount(of: characteristic) }
            }
            handle = handle.map { $0 + count }
        }
        self.items = items
        self.handles = handles
        nextHandle = handle.flatMap { UInt16(exactly: $0) } ?? 0xFFFF
    }

    /// Puts the objects onto the bus.
    func export(on connection: DBusConnection, offersSockets: Bool, radio: BlueZRadio) throws(DBusError) {
        connection.exportObjectManager(at: root)
        for (path, item) in items {
            let object: any DBusObject =
                switch item {
                case .service(let definition, let includes, let handle):
                    ServiceObject(definition, includes: includes, handle: handle)
                case .characteristic(let definition, let service):
                    CharacteristicObject(
                        definition, service: service, offersSockets: offersSockets, radio: radio)
                case .descriptor(let definition, let characteristic):
                    DescriptorObject(definition, characteristic: characteristic, radio: radio)
                }
            try connection.export(object, at: path)
        }
    }

    /// Takes them off again.
    func unexport(from connection: DBusConnection) {
        for (path, _) in items { connection.unexport(path) }
        connection.unexportObjectManager(at: root)
    }
}
