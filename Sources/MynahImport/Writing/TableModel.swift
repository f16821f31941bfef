import MynahCore

/// The attribute table of an observed device, without the services that the radio itself adds.
struct TableModel {
    /// A service, with its handles in the capture.
    struct Service {
        var handle: AttributeHandle
        var uuid: BluetoothUUID
        var isPrimary: Bool
        var includes: [Int] = []
        var characteristics: [Characteristic] = []
        var notes: [String] = []
    }

    struct Characteristic {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties
        var value: AttributeHandle
        /// The handle of the Client Characteristic Configuration, or `nil` if there is none.
        var configuration: AttributeHandle?
        /// `true` if the characteristic can send values, but has no Client Characteristic Configuration.
        var lacksConfiguration = false
        var descriptors: [(handle: AttributeHandle, uuid: BluetoothUUID)] = []
        /// `true` if the Characteristic User Description can be written.
        var isDescriptionWritable = false
        var notes: [String] = []
    }

    private(set) var services: [Service] = []
    private(set) var notes: [String] = []
    /// The value handle of Device Name in the Generic Access service, or `nil` if it was not discovered.
    ///
    /// `appearanceHandle` is that of Appearance.
    private(set) var nameHandle: AttributeHandle?
    private(set) var appearanceHandle: AttributeHandle?

    init(_ table: ObservedTable) {
        let starts = table.services.keys.sorted()
        let declarations = SortedHandles(table.declarations.keys)
        let types = SortedHandles(table.types.keys)
        var indices: [AttributeHandle: Int] = [:]
        for (number, start) in starts.enumerated() {
            guard let service = table.services[start] else { continue }
            // A service ends before the next one begins, even if its declaration claims otherwise.
            let next = number + 1 < starts.count ? starts[number + 1] : nil
            let end = next.map { min(service.end, $0 - 1) } ?? service.end
            let inside = start < end ? declarations[(start + 1)...end] : []
            guard let uuid = service.uuid else {
                notes.append("a service was included, and its UUID was never read; it is left out")
                continue
            }
            if uuid == GATT.genericAccess || uuid == GATT.genericAttribute {
                for declaration in inside { noteOwn(table.declarations[declaration]) }
                continue
            }
            guard ImportedAdvertising.isService(uuid) else {
                notes.append("\(uuid) cannot be the UUID of a service; it is left out")
                continue
            }
            var result = Service(handle: start, uuid: uuid, isPrimary: service.isPrimary)
            for (position, declaration) in inside.enumerated() {
                guard let found = table.declarations[declaration] else { continue }
                let next = inside.dropFirst(position + 1).first
                let last = next.map { $0 - 1 } ?? end
                Self.add(found, until: last, table, types, to: &result)
            }
            if inside.isEmpty { result.notes.append("its characteristics were never discovered") }
            indices[start] = services.count
            services.append(result)
        }
        include(table, indices)
    }

    private mutating func noteOwn(_ declaration: ObservedTable.Declaration?) {
        switch declaration?.uuid.assignedNumber {
        case 0x2A00: nameHandle = declaration?.value
        case 0x2A01: appearanceHandle = declaration?.value
        default: break
        }
    }

    private static func add(
        _ declaration: ObservedTable.Declaration, until end: AttributeHandle, _ table: ObservedTable,
        _ types: SortedHandles, to service: inout Service
    ) {
        let uuid = declaration.uuid
        guard ImportedAdvertising.isService(uuid), declaration.properties != 0 else {
            service.notes.append("the characteristic \(uuid) is not one that a profile can have")
            return
        }
        var result = Characteristic(
            uuid: uuid, properties: CharacteristicProperties(rawValue: UInt16(declaration.properties)),
            value: declaration.value)
        let handles = declaration.value < end ? (declaration.value + 1)...end : nil
        for handle in handles.map({ types[$0] }) ?? [] {
            guard let type = table.types[handle], !AssignedNumbers.isDeclaration(type) else { continue }
            switch type {
            case GATT.clientConfiguration: result.configuration = handle
            case GATT.extendedProperties: extend(&result, with: table.readings[handle])
            default:
                let isOnce = [GATT.userDescription, "2905"].contains(type)
                if isOnce, result.descriptors.contains(where: { $0.uuid == type }) { continue }
                result.descriptors.append((handle, type))
            }
        }
        if result.configuration == nil, !result.properties.isDisjoint(with: .anyUpdate) {
            if let first = handles?.lowerBound, table.types[first] == nil {
                // A phone that knows the device may write the descriptor without discovering it.
                result.configuration = first
            } else {
                result.lacksConfiguration =
                    handles.map {
                        types[$0].count == Int($0.upperBound.rawValue - $0.lowerBound.rawValue) + 1
                    } ?? true
            }
        }
        service.characteristics.append(result)
    }

    /// Adds the properties of Characteristic Extended Properties to those of the declaration (Core
    /// Specification, Vol 3, Part G, 3.3.3.1).
    private static func extend(_ characteristic: inout Characteristic, with reading: ObservedTable.Reading?) {
        guard characteristic.properties.contains(.extendedProperties) else { return }
        guard let reading, let first = reading.value.first else {
            characteristic.notes.append("its extended properties were never read")
            return
        }
        let bits = CharacteristicProperties(rawValue: UInt16(first & 3) << 8)
        guard !bits.isEmpty else { return }
        characteristic.isDescriptionWritable = bits.contains(.writableAuxiliaries)
        characteristic.properties.remove(.extendedProperties)
        characteristic.properties.formUnion(bits)
    }

    private mutating func include(_ table: ObservedTable, _ indices: [AttributeHandle: Int]) {
        // For each service, the previous one with the same UUID, or `nil`.
        var last: [BluetoothUUID: Int] = [:]
        let earlier = services.enumerated().map { index, service in
            defer { last[service.uuid] = index }
            return last[service.uuid]
        }
        for handle in table.includes.keys.sorted() {
            guard let include = table.includes[handle], let target = indices[include.start],
                let owner = services.lastIndex(where: { $0.handle < handle }), owner != target,
                !services[owner].includes.contains(target)
            else { continue }
            if reaches(target, owner, earlier) {
                services[owner].notes.append("the services include each other, which a profile cannot have")
            } else {
                services[owner].includes.append(target)
            }
        }
    }

    /// Whether the service `from` must come after the service `goal` in a profile.
    ///
    /// Included services come first, and services with the same UUID keep their order.
    private func reaches(_ from: Int, _ goal: Int, _ earlier: [Int?]) -> Bool {
        var seen: Set<Int> = []
        var open = [from]
        while let index = open.popLast() {
            if index == goal { return true }
            guard seen.insert(index).inserted else { continue }
            open += services[index].includes
            if let before = earlier[index] { open.append(before) }
        }
        return false
    }
}
