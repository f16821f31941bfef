import MynahCore
import MynahSupport

/// A device that is updated with MCUmgr over the Simple Management Protocol (Zephyr, Device Management).
///
/// The OS group supports echo, reset, parameters and information. The image group supports the state of two
/// slots, upload and erase.
struct MCUManager: ServiceBehavior {
    static let characteristic: BluetoothUUID = "DA2E7828-FBCE-4E01-AE9E-261174997C48"

    /// The time from the response to a reset until the device restarts, as in Zephyr.
    static let resetDelay = Duration.milliseconds(250)
    /// The number of request buffers that the parameters report.
    private static let bufferCount: UInt64 = 4

    let handled = [characteristic]
    private(set) var slots = ImageSlots()
    private var links: [Peer.ID: ManagementRequests] = [:]
    private var reset: Duration?

    func due(_ service: some ServiceState) -> Duration? { reset }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        self = MCUManager()
        return []
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        let room = max(1, service.longestUpdate(to: central))
        return links[central, default: ManagementRequests()].add(value).flatMap { request in
            response(to: request, at: service.now).pieces(of: room).map {
                ServiceEffect.send($0, of: Self.characteristic, to: central)
            }
        }
    }

    mutating func disconnected(_ central: Peer.ID) { links[central] = nil }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        guard let reset, reset <= service.now else { return [] }
        self.reset = nil
        links = [:]
        slots.boot()
        return [.restart]
    }

    // MARK: Requests

    private mutating func response(to request: ManagementRequests.Request, at now: Duration) -> [UInt8] {
        let header: ManagementHeader
        let data: CBOR
        do throws(ManagementError) {
            switch request {
            case .tooLong(let request):
                header = request
                throw .status(.noMemory)
            case .complete(let request, let bytes):
                header = request
                guard request.version <= ManagementHeader.newestVersion else { throw .status(.tooNew) }
                data = try carryOut(request, bytes, at: now)
            }
        } catch {
            data = error.map(version: header.version)
        }
        return header.response.frame(data.encoded)
    }

    private mutating func carryOut(
        _ header: ManagementHeader, _ bytes: [UInt8], at now: Duration
    ) throws(ManagementError) -> CBOR {
        let request = try Self.map(bytes)
        switch (header.group, header.command, header.operation) {
        case (0, 0, ManagementHeader.Operation.read), (0, 0, ManagementHeader.Operation.write):
            guard let text = try request.field("d", \.string) else { throw .status(.invalid) }
            return .map([.init("r", .text(text))])
        case (0, 5, ManagementHeader.Operation.write):
            reset = now + Self.resetDelay
            return .map([])
        case (0, 6, ManagementHeader.Operation.read):
            return .map([
                .init("buf_size", .unsigned(UInt64(ManagementRequests.longest))),
                .init("buf_count", .unsigned(Self.bufferCount)),
            ])
        case (0, 7, ManagementHeader.Operation.read): return try Self.information(request)
        case (0, 8, ManagementHeader.Operation.read): return try Self.bootloader(request)
        case (1, 0, ManagementHeader.Operation.read): return slots.list
        case (1, 0, ManagementHeader.Operation.write):
            try slots.select(
                try request.field("hash", \.octets), confirm: try request.field("confirm", \.flag) ?? false)
            return slots.list
        case (1, 1, ManagementHeader.Operation.write): return try upload(request)
        case (1, 5, ManagementHeader.Operation.write):
            try slots.erase(slot: try request.field("slot", \.integer) ?? 1)
            return .map([])
        case (1, 6, ManagementHeader.Operation.read): return Self.slotInformation
        default: throw .status(.notSupported)
        }
    }

    /// Decodes the map in a request; returns an empty map if the request has no data.
    private static func map(_ bytes: [UInt8]) throws(ManagementError) -> CBOR {
        if bytes.isEmpty { return .map([]) }
        guard let request = try? CBOR(decoding: bytes), request.isMap else { throw .status(.invalid) }
        return request
    }

    private mutating func upload(_ request: CBOR) throws(ManagementError) -> CBOR {
        // The device has only image 0.
        guard try request.field("image", \.integer) ?? 0 == 0 else { throw .image(.noFreeSlot) }
        guard let offset = try request.field("off", \.integer) else { throw .image(.invalidOffset) }
        let progress = try slots.add(
            ImageSlots.Chunk(
                offset: Int(clamping: offset), data: try request.field("data", \.octets) ?? [],
                length: try request.field("len", \.integer).map { Int(clamping: $0) },
                hash: try request.field("sha", \.octets),
                isUpgrade: try request.field("upgrade", \.flag) ?? false))
        let matches = progress.matches.map { [CBOR.Entry("match", .boolean($0))] } ?? []
        return .map([.init("off", .unsigned(UInt64(progress.offset)))] + matches)
    }

    private static func information(_ request: CBOR) throws(ManagementError) -> CBOR {
        let format = try request.field("format", \.string) ?? "s"
        // The letters s and o stand for the names of the kernel and the operating system; a means all.
        guard !format.isEmpty, format.allSatisfy("soa".contains) else { throw .system(.invalidFormat) }
        return .map([.init("output", .text("Mynah"))])
    }

    private static func bootloader(_ request: CBOR) throws(ManagementError) -> CBOR {
        switch try request.field("query", \.string) {
        case nil: return .map([.init("bootloader", .text("MCUboot"))])
        // Mode 3 is two slots that are swapped without a scratch area.
        case "mode": return .map([.init("mode", .unsigned(3))])
        default: throw .system(.queryHasNoAnswer)
        }
    }

    private static var slotInformation: CBOR {
        let slots = (0...1).map { (slot: UInt64) in
            CBOR.map([
                .init("slot", .unsigned(slot)), .init("size", .unsigned(UInt64(ImageSlots.size))),
            ])
        }
        let image = CBOR.map([.init("image", .unsigned(0)), .init("slots", .array(slots))])
        return .map([.init("images", .array([image]))])
    }
}

extension CBOR {
    /// Returns the value for a key, or `nil` if it is missing; throws an error if it has another type.
    fileprivate func field<Value>(
        _ key: String, _ value: (CBOR) -> Value?
    ) throws(ManagementError) -> Value? {
        guard let field = self[key] else { return nil }
        guard let value = value(field) else { throw .status(.invalid) }
        return value
    }
}
