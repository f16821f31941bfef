import MynahCore
import MynahSupport

// Writing (Core Specification, Vol 3, Part F, 3.4.5 and 3.4.6).
extension ATTServer {
    mutating func write(
        _ handle: AttributeHandle, _ value: [UInt8], _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        let attribute = try context.writable(handle)
        guard value.count <= attribute.access.maximumLength else {
            throw Denial(.invalidAttributeValueLength, at: handle)
        }
        switch attribute.content {
        case .value(let key, _):
            wait(for: .write(opcode: ATTOpcode.writeRequest, handle: handle))
            return [.write([WriteRequest.Part(attribute: key, value: value)], wantsResponse: true)]
        case .configuration, .clientFeatures, .constant, .service, .databaseHash:
            return try client.write(value, to: attribute) + [.send([ATTOpcode.writeResponse])]
        }
    }

    /// Carries out or ignores a command, which never gets a response.
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
            // On an encrypted link, encryption replaces the signature. An attribute that requires encryption
            // does not accept a signed write instead (Vol 3, Part C, 10.2.2, 10.4).
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

    /// Adds a part to the prepare queue, and returns the response, which repeats the part.
    ///
    /// The complete value is checked when the queue is executed.
    mutating func prepare(
        _ handle: AttributeHandle, _ offset: UInt16, _ value: [UInt8], _ context: ATTContext
    ) throws(Denial) -> [ATTAction] {
        _ = try context.writable(handle)
        try prepared.add(PrepareQueue.Entry(handle: handle, offset: offset, value: value))
        return [.send(ATTPDU.prepareWriteResponse(handle, offset, value))]
    }

    /// Executes or cancels the whole queue, which is empty afterwards.
    ///
    /// The host's own attributes change only after the application has accepted its writes.
    mutating func execute(_ isCancelled: Bool, _ context: ATTContext) throws(Denial) -> [ATTAction] {
        let queue = prepared
        prepared = PrepareQueue()
        guard !isCancelled, let first = queue.entries.first else {
            return [.send([ATTOpcode.executeWriteResponse])]
        }
        let (parts, own) = try queue.writes(client, context)
        guard !parts.isEmpty else { return try finish(own, context) }
        wait(for: .execute(handle: first.handle, own))
        return [.write(parts, wantsResponse: true)]
    }

    /// Carries out the queued writes to the host's own attributes, and returns the response.
    mutating func finish(_ own: [PrepareQueue.OwnWrite], _ context: ATTContext) throws(Denial) -> [ATTAction]
    {
        var actions: [ATTAction] = []
        for write in own {
            // The service may have been removed while the application handled its writes.
            guard let attribute = context.database[write.handle] else { continue }
            switch attribute.content {
            case .configuration, .clientFeatures: actions += try client.write(write.value, to: attribute)
            case .value, .constant, .service, .databaseHash: continue
            }
        }
        return actions + [.send([ATTOpcode.executeWriteResponse])]
    }

}
