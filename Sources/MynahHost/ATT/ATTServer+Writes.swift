import MynahCore
import MynahSupport

// Writing (Core Specification, Vol 3, Part F, 3.4.5 and 3.4.6).
extension ATTServer {
    /// The attribute, if it may be written with a request: handle, permission, the link's protection, then
    /// whether it is served now.
    private func writable(_ handle: AttributeHandle, _ context: Context) throws(Denial) -> Attribute {
        guard let attribute = context.database[handle] else { throw Denial(.invalidHandle, at: handle) }
        guard attribute.access.canWrite else { throw Denial(.writeNotPermitted, at: handle) }
        if let denial = context.security.denial(attribute.access.write) { throw Denial(denial, at: handle) }
        guard !context.database.isDisabled(attribute) else { throw Denial(.unlikelyError, at: handle) }
        return attribute
    }

    mutating func write(
        _ handle: AttributeHandle, _ value: [UInt8], _ context: Context
    ) throws(Denial) -> [ATTAction] {
        let attribute = try writable(handle, context)
        guard value.count <= attribute.access.maximumLength else {
            throw Denial(.invalidAttributeValueLength, at: handle)
        }
        switch attribute.content {
        case .value(let key, _):
            wait(for: .write(opcode: ATTOpcode.writeRequest, handle: handle))
            return [.write([WriteRequest.Part(attribute: key, value: value)], wantsResponse: true)]
        case .configuration(let key, let allowed):
            return try configure(handle, key, allowed, value) + [.send([ATTOpcode.writeResponse])]
        case .clientFeatures:
            return try takeFeatures(handle, value) + [.send([ATTOpcode.writeResponse])]
        case .constant, .service, .databaseHash:
            throw Denial(.writeNotPermitted, at: handle)
        }
    }

    /// A command is carried out or ignored, and never answered.
    func command(
        _ request: ATTRequest, _ pdu: [UInt8], _ database: AttributeDatabase, _ security: LinkSecurity
    ) -> [ATTAction] {
        let (handle, value, isSigned): (AttributeHandle, [UInt8], Bool)
        switch request {
        case .writeCommand(let to, let bytes): (handle, value, isSigned) = (to, bytes, false)
        case .signedWriteCommand(let to, let bytes, _): (handle, value, isSigned) = (to, bytes, true)
        default: return []
        }
        guard let attribute = database[handle], case .value(let key, _) = attribute.content,
            value.count <= attribute.access.maximumLength
        else { return [] }
        let part = WriteRequest.Part(attribute: key, value: value)
        if isSigned {
            // On an encrypted link, encryption takes the place of the signature. An attribute that
            // requires encryption does not accept a signed write instead (Vol 3, Part C, 10.2.2, 10.4).
            guard attribute.access.canSign, !security.isEncrypted,
                security.denial(attribute.access.write) == nil
            else { return [] }
            return [.signedWrite(part, pdu: pdu)]
        }
        // An attribute that accepts signed writes also accepts commands on an encrypted link.
        guard attribute.access.canCommand || attribute.access.canSign && security.isEncrypted,
            security.denial(attribute.access.write) == nil
        else { return [] }
        return [.write([part], wantsResponse: false)]
    }

    // MARK: Prepared

    /// Puts a part into the queue and echoes it.
    ///
    /// The whole value is checked when the queue is executed.
    mutating func prepare(
        _ handle: AttributeHandle, _ offset: UInt16, _ value: [UInt8], _ context: Context
    ) throws(Denial) -> [ATTAction] {
        _ = try writable(handle, context)
        guard prepared.count < Self.prepareLimit else { throw Denial(.prepareQueueFull, at: handle) }
        prepared.append(Prepared(handle: handle, offset: offset, value: value))
        return [.send(ATTPDU.prepareWriteResponse(handle, offset, value))]
    }

    /// Executes or cancels the queue as a whole.
    ///
    /// The queue is empty afterwards either way.
    ///
    /// The host's own attributes change after the application has accepted its part.
    mutating func execute(_ isCancelled: Bool, _ context: Context) throws(Denial) -> [ATTAction] {
        let queue = prepared
        prepared = []
        guard !isCancelled, !queue.isEmpty else { return [.send([ATTOpcode.executeWriteResponse])] }
        var parts: [WriteRequest.Part] = []
        var ends: [AttributeHandle: Int] = [:]
        var own: [OwnWrite] = []
        for entry in queue {
            let attribute = try writable(entry.handle, context)
            guard case .value(let key, _) = attribute.content else {
                try Self.add(entry, to: &own, known(attribute, context) ?? [])
                continue
            }
            let end = Int(entry.offset) + entry.value.count
            guard entry.offset <= attribute.access.maximumLength else {
                throw Denial(.invalidOffset, at: entry.handle)
            }
            guard end <= attribute.access.maximumLength else {
                throw Denial(.invalidAttributeValueLength, at: entry.handle)
            }
            if let last = parts.last, last.attribute == key, ends[entry.handle] == Int(entry.offset) {
                parts[parts.count - 1].value += entry.value
            } else {
                parts.append(
                    WriteRequest.Part(attribute: key, offset: Int(entry.offset), value: entry.value))
            }
            ends[entry.handle] = end
        }
        for write in own { try check(write, context) }
        guard !parts.isEmpty else { return try finish(own, context) }
        wait(for: .execute(handle: queue[0].handle, own))
        return [.write(parts, wantsResponse: true)]
    }

    /// The octets of a part replace those at its offset: the host's own attributes have a fixed length.
    private static func add(
        _ entry: Prepared, to own: inout [OwnWrite], _ current: [UInt8]
    ) throws(Denial) {
        let index =
            own.firstIndex { $0.handle == entry.handle }
            ?? {
                own.append(OwnWrite(handle: entry.handle, value: current))
                return own.count - 1
            }()
        let (offset, count) = (Int(entry.offset), own[index].value.count)
        guard offset <= count else { throw Denial(.invalidOffset, at: entry.handle) }
        guard offset + entry.value.count <= count else {
            throw Denial(.invalidAttributeValueLength, at: entry.handle)
        }
        own[index].value.replaceSubrange(offset..<offset + entry.value.count, with: entry.value)
    }

    /// Carries out the writes of a queue to the host's own attributes, and answers.
    mutating func finish(_ own: [OwnWrite], _ context: Context) throws(Denial) -> [ATTAction] {
        var actions: [ATTAction] = []
        for write in own {
            // Its service may have been withdrawn while the application thought about its part.
            guard let attribute = context.database[write.handle] else { continue }
            switch attribute.content {
            case .configuration(let key, let allowed):
                actions += try configure(write.handle, key, allowed, write.value)
            case .clientFeatures:
                actions += try takeFeatures(write.handle, write.value)
            case .value, .constant, .service, .databaseHash:
                continue
            }
        }
        return actions + [.send([ATTOpcode.executeWriteResponse])]
    }

    private func check(_ write: OwnWrite, _ context: Context) throws(Denial) {
        var trial = self
        _ = try trial.finish([write], context)
    }

    // MARK: The host's own

    /// Writes a Client Characteristic Configuration: two bytes, with bits for the characteristic's properties
    /// only (Vol 3, Part G, 3.3.3.3).
    private mutating func configure(
        _ handle: AttributeHandle, _ key: AttributeKey, _ allowed: CharacteristicProperties, _ value: [UInt8]
    ) throws(Denial) -> [ATTAction] {
        guard value.count == 2 else { throw Denial(.invalidAttributeValueLength, at: handle) }
        let bits = UInt16(value[0]) | UInt16(value[1]) << 8
        let known: UInt16 = (allowed.contains(.notify) ? 1 : 0) | (allowed.contains(.indicate) ? 2 : 0)
        guard bits & ~3 == 0 else { throw Denial(.valueNotAllowed, at: handle) }
        guard bits & ~known == 0 else { throw Denial(.cccdImproperlyConfigured, at: handle) }
        let old = configurations[handle] ?? 0
        guard bits != old else { return [] }
        configurations[handle] = bits == 0 ? nil : bits
        return [.configured(key, bits)]
    }

    /// A feature that was set cannot be taken back (Vol 3, Part G, 7.2).
    private mutating func takeFeatures(
        _ handle: AttributeHandle, _ value: [UInt8]
    ) throws(Denial) -> [ATTAction] {
        guard let first = value.first else { throw Denial(.invalidAttributeValueLength, at: handle) }
        guard clientFeatures & ~first == 0 else { throw Denial(.valueNotAllowed, at: handle) }
        clientFeatures = first & 0x07
        return [.clientFeatures(clientFeatures)]
    }
}
