import MynahCore
import MynahSupport

// Starting encryption (Core Specification, Vol 6, Part B, 5.1.3). The air enciphers nothing: the sides show each other that they hold
// the same key, and where they don't the link ends as it does when the first enciphered PDU makes no sense.
extension VirtualController {
    /// In microseconds: how long the other side may take (Vol 6, Part B, 5.2).
    private static let limit: Int64 = 40_000_000

    /// What only those with the key, and the numbers that both drew, can say.
    private func proof(_ key: [UInt8], _ nonce: UInt64, _ own: UInt64) -> UInt64 {
        key.reduce(SplitMix.mix(nonce) ^ SplitMix.mix(own &+ 1)) { SplitMix.mix($0 &+ UInt64($1) &+ 1) }
    }

    mutating func enableEncryption(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt16(), let value = reader.readBytes(8),
            let diversifier = reader.readUInt16(), let key = reader.readBytes(16)
        else { return nil }
        guard let link = links[handle], !link.isEnding else { return .begun(.unknownConnectionIdentifier) }
        guard link.role == .central, !link.isHeld else { return .begun(.commandDisallowed) }
        let nonce = random.next()
        links[handle]?.encryption = .asked(key: key, nonce: nonce)
        wait(handle)
        initiate(.encryptionRequest(random: value, diversifier: diversifier, nonce: nonce), on: handle)
        return .begun(.success)
    }

    mutating func replyWithKey(_ reader: inout ByteReader, has: Bool) -> Answer? {
        guard let handle = reader.readUInt16() else { return nil }
        guard let link = links[handle] else { return .now(.unknownConnectionIdentifier, word(handle)) }
        guard case .awaitsKey(let nonce) = link.encryption else {
            return .now(.commandDisallowed, word(handle))
        }
        guard has else {
            refuse(handle)
            return .now(.success, word(handle))
        }
        guard let key = reader.readBytes(16) else { return nil }
        let own = random.next()
        links[handle]?.encryption = .awaitsProof(key: key, nonce: nonce, own: own)
        queue(.startEncryption(nonce: own), on: handle)
        return .now(.success, word(handle))
    }

    private mutating func wait(_ handle: UInt16) {
        links[handle]?.procedureEnd = now + Self.limit
        if let wake = links[handle]?.wake { links[handle]?.wake = min(wake, now + Self.limit) }
    }

    /// There is no key; a link that was encrypted ends, because it cannot go back (5.1.3.2).
    private mutating func refuse(_ handle: UInt16) {
        guard let link = links[handle] else { return }
        if link.isEncrypted { return terminate(handle, .pinOrKeyMissing) }
        finish(handle)
        queue(.encryptionRejected(.pinOrKeyMissing), on: handle)
    }

    /// Lets go what waited.
    private mutating func finish(_ handle: UInt16) {
        guard let held = links[handle]?.held else { return }
        links[handle]?.encryption = .idle
        links[handle]?.procedureEnd = nil
        links[handle]?.held = []
        for content in held { queue(content, on: handle) }
    }

    mutating func receiveEncryption(_ content: LinkPDU, on handle: UInt16) {
        guard let link = links[handle] else { return }
        switch (content, link.encryption) {
        case (.encryptionRequest(let value, let diversifier, let nonce), .idle) where link.role == .peripheral:
            guard wantsLE(HCIEvent.LESubevent.longTermKeyRequest) else { return refuse(handle) }
            links[handle]?.encryption = .awaitsKey(nonce: nonce)
            wait(handle)
            var writer = ByteWriter()
            writer.write(handle)
            writer.write(value)
            writer.write(diversifier)
            tellLE(HCIEvent.LESubevent.longTermKeyRequest, writer.bytes)
        case (.startEncryption(let other), .asked(let key, let nonce)):
            links[handle]?.encryption = .shown(key: key)
            queue(.encryptionProof(proof(key, nonce, other)), on: handle)
        case (.encryptionProof(let found), .awaitsProof(let key, let nonce, let own)):
            // A real central would notice by silence; here it is told.
            guard found == proof(key, nonce, own) else { return terminate(handle, .micFailure) }
            queue(.encrypted, on: handle)
            succeed(handle)
        case (.encrypted, .shown):
            succeed(handle)
        case (.encryptionRejected(let reason), .asked):
            finish(handle)
            tell(HCIEvent.encryptionChange, [reason.code] + word(handle) + [0])
        default:
            // Out of its order: nothing that a controller would act on.
            break
        }
    }

    private mutating func succeed(_ handle: UInt16) {
        let wasEncrypted = links[handle]?.isEncrypted ?? false
        links[handle]?.isEncrypted = true
        if wasEncrypted {
            tell(HCIEvent.encryptionKeyRefreshComplete, [0] + word(handle))
        } else {
            tell(HCIEvent.encryptionChange, [0] + word(handle) + [1])
        }
        finish(handle)
    }
}
