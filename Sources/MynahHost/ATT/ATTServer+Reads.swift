import MynahCore
import MynahSupport

// Reading (Core Specification, Vol 3, Part F, 3.4.4).
extension ATTServer {
    mutating func read(
        _ handle: AttributeHandle, _ offset: Int, _ opcode: UInt8, _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        let attribute = try context.readable(handle)
        if case .databaseHash = attribute.content, client.awareness == .unaware {
            client.awareness = .informed
        }
        guard let value = client.known(attribute, context.database) else {
            guard case .value(let key, _) = attribute.content else {
                throw Denial(.unlikelyError, at: handle)
            }
            wait(for: .read(opcode: opcode, handle: handle))
            return [.read(key, offset: offset)]
        }
        guard offset <= value.count else { throw Denial(.invalidOffset, at: handle) }
        let response = ATTAction.send(ATTPDU.value(opcode + 1, value[offset...], mtu: mtu))
        guard case .value(let key, _) = attribute.content else { return [response] }
        return [.answered(key, offset: offset, Array(value[offset...])), response]
    }

    // MARK: Several at once

    /// Reads the remaining values of a Read Multiple request in order, and builds the response.
    ///
    /// If a value may not be read, its error is the response to the whole request (3.4.4.7, 3.4.4.11).
    mutating func continueMultiple(
        _ opcode: UInt8, _ handles: [AttributeHandle], _ values: [[UInt8]], _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        var (handles, values) = (handles[...], values)
        while let handle = handles.first {
            let attribute = try context.readable(handle)
            guard let value = client.known(attribute, context.database) else {
                guard case .value(let key, _) = attribute.content else {
                    throw Denial(.unlikelyError, at: handle)
                }
                wait(for: .multiple(opcode: opcode, handles: Array(handles), values: values))
                return [.read(key, offset: 0)]
            }
            values.append(value)
            handles = handles.dropFirst()
        }
        guard opcode == ATTOpcode.readMultipleVariableRequest else {
            return [.send(ATTPDU.value(opcode + 1, values.joined(), mtu: mtu))]
        }
        var writer = ByteWriter(capacity: mtu)
        for value in values {
            // A Value Length is never cut: the response ends before it (3.4.4.12). A value may be cut, and
            // its length field still has the full length.
            guard writer.bytes.count + 2 <= mtu - 1 else { break }
            writer.write(UInt16(truncatingIfNeeded: value.count))
            writer.write(value)
        }
        return [.send(ATTPDU.value(opcode + 1, writer.bytes, mtu: mtu))]
    }

    // MARK: By type

    mutating func readByType(
        _ range: ClosedRange<AttributeHandle>, _ type: BluetoothUUID, _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        let handles = context.database[range].filter { $0.type == type }.map(\.handle)
        guard !handles.isEmpty else { throw Denial(.attributeNotFound, at: range.lowerBound) }
        return try continueByType(range, handles, FoundAttributes(), context)
    }

    /// Reads attributes with values of equal length until none is left or the response is full (3.4.4.1).
    mutating func continueByType(
        _ range: ClosedRange<AttributeHandle>, _ handles: [AttributeHandle], _ found: FoundAttributes,
        _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        var (handles, found) = (handles[...], found)
        while let handle = handles.first, found.hasRoom(mtu: mtu) {
            let attribute: Attribute
            do throws(Denial) {
                attribute = try context.readable(handle)
            } catch {
                guard found.entries.isEmpty else { break }
                throw error
            }
            if case .databaseHash = attribute.content, client.awareness == .unaware {
                client.awareness = .informed
            }
            guard let value = client.known(attribute, context.database) else {
                guard case .value(let key, _) = attribute.content else {
                    throw Denial(.unlikelyError, at: handle)
                }
                wait(for: .byType(range: range, handles: Array(handles), found: found))
                return [.read(key, offset: 0)]
            }
            found.entries.append(.init(handle: handle, value: value))
            handles = handles.dropFirst()
        }
        return [.send(found.response(mtu: mtu))]
    }
}
