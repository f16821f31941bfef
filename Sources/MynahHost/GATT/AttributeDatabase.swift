import MynahCore
import MynahSupport

/// The attributes of a server, by handle.
///
/// Handles are stable: services that are withdrawn and published again unchanged get their former handles, so
/// that a client's cache stays valid.
struct AttributeDatabase: Sendable {
    /// Services that were published together.
    struct Batch: Sendable {
        var range: ClosedRange<AttributeHandle>
        var shape: [UInt8]
        var isPublished: Bool
    }

    private(set) var attributes: [Attribute] = []
    /// The Database Hash, or `nil` until it is needed after a change of the services.
    private var madeHash = Lock<[UInt8]?>(nil)
    private var batches: [Batch] = []
    private var handles: [AttributeKey: AttributeHandle] = [:]
    /// The disabled attributes, which no client may access: descriptors by their own keys, and Client
    /// Characteristic Configurations by the characteristics' keys.
    private var disabled: (texts: Set<AttributeKey>, configurations: Set<AttributeKey>) = ([], [])

    /// The Database Hash of the published services.
    ///
    /// The hash is calculated only when it is needed. Few clients read it, and libcrypto allocates 200 kB for
    /// the first calculation.
    var hash: [UInt8] {
        madeHash.withLock { made in
            if let made { return made }
            let hash = SecurityToolbox.databaseHash(hashInput)
            made = hash
            return hash
        }
    }

    /// The handle of an attribute, or `nil` if it is not published.
    func handle(of key: AttributeKey) -> AttributeHandle? { handles[key] }

    subscript(handle: AttributeHandle) -> Attribute? {
        index(from: handle).flatMap { attributes[$0].handle == handle ? attributes[$0] : nil }
    }

    /// The attributes in a range of handles, in order.
    subscript(range: ClosedRange<AttributeHandle>) -> ArraySlice<Attribute> {
        guard let start = index(from: range.lowerBound) else { return [] }
        let end = attributes[start...].partitionPoint { $0.handle > range.upperBound }
        return attributes[start..<end]
    }

    /// The index of the first attribute with at least this handle, or `nil` if there is none.
    private func index(from handle: AttributeHandle) -> Int? {
        let index = attributes[...].partitionPoint { $0.handle >= handle }
        return index < attributes.endIndex ? index : nil
    }

    /// Publishes services; returns the range of their handles, or `nil` if there are too few free handles.
    ///
    /// `isOwn` is `true` for the host's own services; some of their values are calculated or stored per
    /// client.
    mutating func publish(
        _ services: [ServiceDefinition], isOwn: Bool = false
    ) -> ClosedRange<AttributeHandle>? {
        let count = services.reduce(0) { $0 + $1.attributeCount }
        guard count > 0 else { return nil }
        let shape = services.shape
        let range: ClosedRange<AttributeHandle>
        if let place = batches.firstIndex(where: { !$0.isPublished && $0.shape == shape }) {
            range = batches[place].range
            batches[place].isPublished = true
        } else {
            let last = batches.map(\.range.upperBound).max() ?? AttributeHandle.none
            guard count <= AttributeHandle.last.rawValue - last.rawValue else { return nil }
            range = last + 1...last + count
            batches.append(Batch(range: range, shape: shape, isPublished: true))
        }
        var builder = AttributeBuilder(next: range.lowerBound, isOwn: isOwn)
        for service in services { builder.place(service) }
        for service in services { builder.add(service) }
        let index = index(from: range.lowerBound) ?? attributes.endIndex
        attributes.insert(contentsOf: builder.attributes, at: index)
        handles.merge(builder.handles) { _, new in new }
        madeHash = Lock(nil)
        return range
    }

    /// Withdraws the services in a range that `publish` returned.
    mutating func withdraw(_ range: ClosedRange<AttributeHandle>) {
        guard let place = batches.firstIndex(where: { $0.range == range && $0.isPublished }) else { return }
        batches[place].isPublished = false
        attributes.removeAll { range.contains($0.handle) }
        handles = handles.filter { !range.contains($0.value) }
        madeHash = Lock(nil)
    }

    /// Sets the value with which the host answers reads; if it is `nil`, the application answers them.
    mutating func setFixed(_ value: [UInt8]?, of key: AttributeKey) {
        guard let handle = handles[key], let index = index(from: handle),
            case .value = attributes[index].content
        else { return }
        attributes[index].content = .value(key, fixed: value)
    }

    /// Disables or enables a characteristic's descriptors and Client Characteristic Configuration, but not
    /// its value.
    mutating func setDisabled(_ isDisabled: Bool, _ characteristic: CharacteristicDefinition) {
        let descriptors = characteristic.descriptors.map(\.key)
        if isDisabled {
            disabled.texts.formUnion(descriptors)
            disabled.configurations.insert(characteristic.key)
        } else {
            disabled.texts.subtract(descriptors)
            disabled.configurations.remove(characteristic.key)
        }
    }

    /// Whether clients may not access an attribute now.
    func isDisabled(_ attribute: Attribute) -> Bool {
        switch attribute.content {
        case .value(let key, _): disabled.texts.contains(key)
        case .configuration(let key, _): disabled.configurations.contains(key)
        case .constant, .service, .clientFeatures, .databaseHash: false
        }
    }

    /// The input of the Database Hash: declarations with their values, and types of descriptors (Core
    /// Specification, Vol 3, Part G, 7.3).
    var hashInput: [UInt8] {
        var writer = ByteWriter()
        for attribute in attributes {
            guard let number = attribute.type.assignedNumber else { continue }
            switch number {
            case 0x2800...0x2803, 0x2900:
                writer.write(attribute.handle)
                writer.write(number)
                writer.write(attribute.constantValue)
            case 0x2901...0x2905:
                writer.write(attribute.handle)
                writer.write(number)
            default: break
            }
        }
        return writer.bytes
    }
}

extension Attribute {
    /// The value of a declaration or of another attribute with constant content; empty for others.
    var constantValue: [UInt8] {
        switch content {
        case .constant(let value): value
        case .service(let uuid, _, _): uuid.onAir
        case .value(_, let fixed): fixed ?? []
        case .configuration, .clientFeatures, .databaseHash: []
        }
    }
}

extension BluetoothUUID {
    /// The bytes of a UUID in ATT, with 16 or 128 bits (Core Specification, Vol 3, Part F, 3.2.1).
    var onAir: [UInt8] {
        (width == .bits32 ? (assignedNumber == nil ? in128Bits : shortest) : self).littleEndianBytes
    }
}

extension ArraySlice {
    /// The index of the first element that satisfies a predicate.
    ///
    /// All elements after it must also satisfy the predicate.
    func partitionPoint(where holds: (Element) -> Bool) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
