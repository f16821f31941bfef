import MynahCore

/// The queue of a client's prepared writes (Core Specification, Vol 3, Part F, 3.4.6).
struct PrepareQueue: Sendable {
    /// One prepared write, of a part of a value.
    struct Entry: Hashable {
        var handle: AttributeHandle
        var offset: UInt16
        var value: [UInt8]
    }

    /// The value that prepared writes give to one of the host's own attributes.
    struct OwnWrite: Hashable {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    /// The largest number of prepared writes in the queue.
    static let limit = 128

    private(set) var entries: [Entry] = []

    /// Adds a part; throws `prepareQueueFull` if there is no room.
    mutating func add(_ entry: Entry) throws(ATTServer.Denial) {
        guard entries.count < Self.limit else { throw ATTServer.Denial(.prepareQueueFull, at: entry.handle) }
        entries.append(entry)
    }

    /// The writes that the queue makes to the application's values and to the host's own attributes.
    ///
    /// Throws if one of the writes is not allowed.
    func writes(
        _ client: ATTClientState, _ context: ATTContext
    ) throws(ATTServer.Denial) -> (parts: [WriteRequest.Part], own: [OwnWrite]) {
        var parts: [WriteRequest.Part] = []
        var ends: [AttributeHandle: Int] = [:]
        var own: [OwnWrite] = []
        for entry in entries {
            let attribute = try context.writable(entry.handle)
            guard case .value(let key, _) = attribute.content else {
                try Self.add(entry, to: &own, client.known(attribute, context.database) ?? [])
                continue
            }
            let end = Int(entry.offset) + entry.value.count
            guard entry.offset <= attribute.access.maximumLength else {
                throw ATTServer.Denial(.invalidOffset, at: entry.handle)
            }
            guard end <= attribute.access.maximumLength else {
                throw ATTServer.Denial(.invalidAttributeValueLength, at: entry.handle)
            }
            if let last = parts.last, last.attribute == key, ends[entry.handle] == Int(entry.offset) {
                parts[parts.count - 1].value += entry.value
            } else {
                parts.append(
                    WriteRequest.Part(attribute: key, offset: Int(entry.offset), value: entry.value))
            }
            ends[entry.handle] = end
        }
        for write in own {
            guard let attribute = context.database[write.handle] else { continue }
            var trial = client
            switch attribute.content {
            case .configuration, .clientFeatures: _ = try trial.write(write.value, to: attribute)
            case .value, .constant, .service, .databaseHash: continue
            }
        }
        return (parts, own)
    }

    /// Writes a part of the value of one of the host's own attributes; throws if the part exceeds the value's
    /// length.
    private static func add(
        _ entry: Entry, to own: inout [OwnWrite], _ current: [UInt8]
    ) throws(ATTServer.Denial) {
        let index =
            own.firstIndex { $0.handle == entry.handle }
            ?? {
                own.append(OwnWrite(handle: entry.handle, value: current))
                return own.count - 1
            }()
        let (offset, count) = (Int(entry.offset), own[index].value.count)
        guard offset <= count else { throw ATTServer.Denial(.invalidOffset, at: entry.handle) }
        guard offset + entry.value.count <= count else {
            throw ATTServer.Denial(.invalidAttributeValueLength, at: entry.handle)
        }
        own[index].value.replaceSubrange(offset..<offset + entry.value.count, with: entry.value)
    }
}
