import MynahCore
import MynahSupport

// Reading (Core Specification, Vol 3, Part F, 3.4.4).
extension ATTServer {
    /// The attribute, if it may be read: handle, permission, the link's protection, then whether it is served
    /// now.
    func readable(_ handle: AttributeHandle, _ context: Context) throws(Denial) -> Attribute {
        guard let attribute = context.database[handle] else { throw Denial(.invalidHandle, at: handle) }
        guard attribute.access.canRead else { throw Denial(.readNotPermitted, at: handle) }
        if let denial = context.security.denial(attribute.access.read) { throw Denial(denial, at: handle) }
        guard !context.database.isDisabled(attribute) else { throw Denial(.unlikelyError, at: handle) }
        return attribute
    }

    /// The value, if the host itself has it; `nil` if the application is asked for it.
    func known(_ attribute: Attribute, _ context: Context) -> [UInt8]? {
        switch attribute.content {
        case .constant, .service: return attribute.constantValue
        case .value(_, let fixed): return fixed
        case .configuration:
            let value = configurations[attribute.handle] ?? 0
            return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        case .clientFeatures: return [clientFeatures]
        case .databaseHash: return context.database.hash
        }
    }

    mutating func read(
        _ handle: AttributeHandle, _ offset: Int, _ opcode: UInt8, _ context: Context
    ) throws(Denial) -> [ATTAction] {
        let attribute = try readable(handle, context)
        if case .databaseHash = attribute.content, awareness == .unaware { awareness = .informed }
        guard let value = known(attribute, context) else {
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

    /// Reads the values in order.
    ///
    /// The error of the first that may not be read is the answer (3.4.4.7, 3.4.4.11).
    mutating func continueMultiple(
        _ opcode: UInt8, _ handles: [AttributeHandle], _ values: [[UInt8]], _ context: Context
    ) throws(Denial) -> [ATTAction] {
        var (handles, values) = (handles[...], values)
        while let handle = handles.first {
            let attribute = try readable(handle, context)
            guard let value = known(attribute, context) else {
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
            // A Value Length is never cut: the response ends before it (3.4.4.12). A value may be, its length
            // is the whole's.
            guard writer.bytes.count + 2 <= mtu - 1 else { break }
            writer.write(UInt16(truncatingIfNeeded: value.count))
            writer.write(value)
        }
        return [.send(ATTPDU.value(opcode + 1, writer.bytes, mtu: mtu))]
    }

    // MARK: By type

    mutating func readByType(
        _ range: ClosedRange<AttributeHandle>, _ type: BluetoothUUID, _ context: Context
    ) throws(Denial) -> [ATTAction] {
        let handles = context.database[range].filter { $0.type == type }.map(\.handle)
        guard !handles.isEmpty else { throw Denial(.attributeNotFound, at: range.lowerBound) }
        return try continueByType(range, handles, [], context)
    }

    /// Takes attributes of one length until the response is full (3.4.4.1).
    mutating func continueByType(
        _ range: ClosedRange<AttributeHandle>, _ handles: [AttributeHandle], _ found: [Found],
        _ context: Context
    ) throws(Denial) -> [ATTAction] {
        var (handles, found) = (handles[...], found)
        while let handle = handles.first, hasRoom(found) {
            let attribute: Attribute
            do throws(Denial) {
                attribute = try readable(handle, context)
            } catch {
                guard found.isEmpty else { break }
                throw error
            }
            if case .databaseHash = attribute.content, awareness == .unaware { awareness = .informed }
            guard let value = known(attribute, context) else {
                guard case .value(let key, _) = attribute.content else {
                    throw Denial(.unlikelyError, at: handle)
                }
                wait(for: .byType(range: range, handles: Array(handles), found: found))
                return [.read(key, offset: 0)]
            }
            found.append(Found(handle: handle, value: value))
            handles = handles.dropFirst()
        }
        return [.send(byTypeResponse(found))]
    }

    /// Whether one more of the first's length fits.
    private func hasRoom(_ found: [Found]) -> Bool {
        guard let first = found.first else { return true }
        guard found.allSatisfy({ $0.value.count == first.value.count }) else { return false }
        return 2 + (found.count + 1) * (2 + first.value.count) <= mtu
    }

    func byTypeResponse(_ found: [Found]) -> [UInt8] {
        // A length is one byte: at most 253 of a value's bytes go into it.
        let length = min(found.first?.value.count ?? 0, mtu - 4, 253)
        var writer = ByteWriter(capacity: mtu)
        writer.write([ATTOpcode.readByTypeResponse, UInt8(2 + length)])
        for entry in found where entry.value.count == found[0].value.count {
            guard writer.bytes.count + 2 + length <= mtu else { break }
            writer.write(entry.handle)
            writer.write(entry.value.prefix(length))
        }
        return writer.bytes
    }
}
