import MynahCore
import MynahSupport

// Finding attributes (Core Specification, Vol 3, Part F, 3.4.3 and 3.4.4.9).
extension ATTServer {
    /// Answers Find Information with handles and attribute types.
    ///
    /// All types in one response have the same width.
    func findInformation(
        _ range: ClosedRange<AttributeHandle>, _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        let attributes = context.database[range]
        guard let first = attributes.first else { throw Denial(.attributeNotFound, at: range.lowerBound) }
        let width = first.type.onAir.count
        var writer = ByteWriter(capacity: mtu)
        writer.write([ATTOpcode.findInformationResponse, width == 2 ? 1 : 2])
        for attribute in attributes {
            let type = attribute.type.onAir
            guard type.count == width, writer.bytes.count + 2 + width <= mtu else { break }
            writer.write(attribute.handle)
            writer.write(type)
        }
        return [.send(writer.bytes)]
    }

    mutating func findByTypeValue(
        _ range: ClosedRange<AttributeHandle>, _ type: BluetoothUUID, _ value: [UInt8], _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        let handles = context.database[range].filter { $0.type == type }.map(\.handle)
        return try continueSearch(
            ValueSearch(start: range.lowerBound, value: value, handles: handles), context)
    }

    /// Continues a Find By Type Value request: compares values until none is left or the response is full.
    ///
    /// If an attribute may not be read, or if reading it fails, it does not match (3.4.3.3).
    mutating func continueSearch(_ search: ValueSearch, _ context: ATTContext) throws(Denial) -> [ATTAction] {
        var search = search
        while let handle = search.handles.first, 1 + 4 * (search.found.count + 1) <= mtu {
            guard let attribute = try? context.readable(handle) else {
                search.skip()
                continue
            }
            if let value = client.known(attribute, context.database) {
                search.compared(attribute.isEqual(value, search.value), attribute.groupEnd)
            } else if case .value(let key, _) = attribute.content,
                search.value.count <= attribute.access.maximumLength
            {
                wait(for: .valueSearch(search))
                return [.read(key, offset: 0)]
            } else {
                search.skip()
            }
        }
        guard !search.found.isEmpty else { throw Denial(.attributeNotFound, at: search.start) }
        var writer = ByteWriter(capacity: 1 + 4 * search.found.count)
        writer.write(ATTOpcode.findByTypeValueResponse)
        for group in search.found {
            writer.write(group.lowerBound)
            writer.write(group.upperBound)
        }
        return [.send(writer.bytes)]
    }

    /// Answers Read By Group Type with services and their last handles.
    ///
    /// All service UUIDs in one response have the same width.
    func readByGroupType(
        _ range: ClosedRange<AttributeHandle>, _ type: BluetoothUUID, _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        guard type == AttributeType.primaryService || type == AttributeType.secondaryService else {
            throw Denial(.unsupportedGroupType, at: range.lowerBound)
        }
        var writer = ByteWriter(capacity: mtu)
        var width = 0
        for attribute in context.database[range] where attribute.type == type {
            let value = attribute.constantValue
            if width == 0 {
                width = value.count
                writer.write([ATTOpcode.readByGroupTypeResponse, UInt8(4 + width)])
            }
            guard value.count == width, writer.bytes.count + 4 + width <= mtu else { break }
            writer.write(attribute.handle)
            writer.write(attribute.groupEnd)
            writer.write(value)
        }
        guard width > 0 else { throw Denial(.attributeNotFound, at: range.lowerBound) }
        return [.send(writer.bytes)]
    }
}

extension Attribute {
    /// The last handle of the group that begins with this attribute (3.4.3.3).
    ///
    /// For an attribute that does not begin a group, this is its own handle.
    var groupEnd: AttributeHandle {
        if case .service(_, _, let end) = content { end } else { handle }
    }

    /// Whether the attribute's value equals the requested value.
    ///
    /// The UUID of a service may be in its 16-bit or 128-bit form.
    fileprivate func isEqual(_ value: [UInt8], _ wanted: [UInt8]) -> Bool {
        if case .service(let uuid, _, _) = content { return BluetoothUUID(littleEndian: wanted) == uuid }
        return value == wanted
    }
}
