import MynahCore
import MynahSupport

/// Finds all services, or those with one UUID (Core Specification, Vol 3, Part G, 4.4.1 and 4.4.2).
struct ServiceDiscovery: GATTProcedure {
    private let isPrimary: Bool
    private let uuid: BluetoothUUID?
    private var walk = HandleWalk(AttributeHandle.all)
    private var found: [RemoteService] = []

    /// Finds the primary services with a UUID, or all primary services if `uuid` is `nil`.
    init(of uuid: BluetoothUUID? = nil) {
        isPrimary = true
        self.uuid = uuid
    }

    private init(isPrimary: Bool) {
        self.isPrimary = isPrimary
        uuid = nil
    }

    /// Finds all secondary services.
    static let secondary = ServiceDiscovery(isPrimary: false)

    func bearer(_ bearer: ATTClient.Bearer, after value: [RemoteService]) -> ATTClient.Bearer {
        var bearer = bearer
        bearer.hasDiscovered = true
        return bearer
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[RemoteService]> { next() }

    private func next() -> GATTStep<[RemoteService]> {
        guard let rest = walk.rest else { return .done(found) }
        guard let uuid else {
            return .ask(
                ATTClientPDU.readByGroupType(
                    rest, isPrimary ? AttributeType.primaryService : AttributeType.secondaryService))
        }
        return .ask(ATTClientPDU.findByTypeValue(rest, type: 0x2800, value: ATTClientPDU.onAir(uuid)))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[RemoteService]> {
        switch answer {
        case .failure(.attributeNotFound): return .done(found)
        case .failure(.unsupportedGroupType) where !isPrimary,
            .failure(.requestNotSupported) where !isPrimary:
            return .done(found)
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            var reader = ByteReader(bytes)
            guard uuid == nil ? takeGroups(&reader) : takeHandles(&reader) else {
                return .violated("the peripheral returned invalid services")
            }
            return next()
        }
    }

    private mutating func takeGroups(_ reader: inout ByteReader) -> Bool {
        guard let length = reader.readUInt8(), length == 6 || length == 20, !reader.isAtEnd else {
            return false
        }
        while !reader.isAtEnd {
            guard let handles = reader.readHandles(), let bytes = reader.readBytes(Int(length) - 4),
                let uuid = BluetoothUUID(littleEndian: bytes), walk.advance(handles)
            else { return false }
            found.append(RemoteService(uuid: uuid, isPrimary: isPrimary, handles: handles))
        }
        return true
    }

    private mutating func takeHandles(_ reader: inout ByteReader) -> Bool {
        guard let uuid, !reader.isAtEnd else { return false }
        while !reader.isAtEnd {
            guard let handles = reader.readHandles(), walk.advance(handles) else { return false }
            found.append(RemoteService(uuid: uuid, handles: handles))
        }
        return true
    }
}
