import MynahCore
import MynahSupport

// Finding attributes (Core Specification, Vol 3, Part F, 3.4.3 and 3.4.4.9).
extension ATTServer {
    /// Pairs of handle and type, all of one width.
    func findInformation(_ range: ClosedRange<UInt16>, _ context: Context) throws(Denial) -> [ATTAction] {
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

    /// Handles of attributes with this type and value, each with the end of its group.
    func findByTypeValue(
        _ range: ClosedRange<UInt16>, _ type: BluetoothUUID, _ value: [UInt8], _ context: Context
    ) throws(Denial) -> [ATTAction] {
        var writer = ByteWriter(capacity: mtu)
        writer.write(ATTOpcode.findByTypeValueResponse)
        for attribute in context.database[range] where attribute.type == type {
            guard attribute.matches(value) else { continue }
            guard writer.bytes.count + 4 <= mtu else { break }
            writer.write(attribute.handle)
            writer.write(attribute.groupEnd)
        }
        guard writer.bytes.count > 1 else { throw Denial(.attributeNotFound, at: range.lowerBound) }
        return [.send(writer.bytes)]
    }

    /// Services with their ends, all with UUIDs of one width.
    func readByGroupType(
        _ range: ClosedRange<UInt16>, _ type: BluetoothUUID, _ context: Context
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
    /// The last handle of the group that it begins; of what begins none it is its own (3.4.3.3).
    var groupEnd: UInt16 {
        if case .service(_, _, let end) = content { end } else { handle }
    }

    /// Whether a declaration has this value; a service's UUID in any width.
    func matches(_ value: [UInt8]) -> Bool {
        if case .service(let uuid, _, _) = content { return BluetoothUUID(littleEndian: value) == uuid }
        if case .constant(let own) = content { return own == value }
        return false
    }
}
