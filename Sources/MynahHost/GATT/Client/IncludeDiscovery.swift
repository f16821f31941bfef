import MynahCore
import MynahSupport

/// Finds the services that a service includes (Core Specification, Vol 3, Part G, 4.5.1).
///
/// An include declaration has no room for a 128-bit UUID, so such a UUID is read from the declaration of the
/// included service.
struct IncludeDiscovery: GATTProcedure {
    private var walk: HandleWalk
    private var found: [RemoteService] = []
    /// The handles of included services whose UUID was not read yet.
    private var unnamed: [ClosedRange<AttributeHandle>] = []

    init(in handles: ClosedRange<AttributeHandle>) {
        walk = HandleWalk(handles)
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[RemoteService]> { next() }

    private func next() -> GATTStep<[RemoteService]> {
        if let handles = unnamed.first { return .ask(ATTClientPDU.read(handles.lowerBound)) }
        guard let rest = walk.rest else { return .done(found) }
        return .ask(ATTClientPDU.readByType(rest, AttributeType.include))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[RemoteService]> {
        switch answer {
        case .failure(.attributeNotFound) where unnamed.isEmpty: return .done(found)
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            let isRight = unnamed.isEmpty ? takeDeclarations(bytes) : takeType(bytes)
            return isRight ? next() : .violated("the peripheral returned invalid included services")
        }
    }

    private mutating func takeDeclarations(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard let length = reader.readUInt8(), length == 6 || length == 8, !reader.isAtEnd else {
            return false
        }
        while !reader.isAtEnd {
            guard let declaration = reader.readAttributeHandle(), walk.advance(declaration...declaration),
                let handles = reader.readHandles()
            else { return false }
            if length == 6 {
                unnamed.append(handles)
            } else {
                guard let number = reader.readUInt16() else { return false }
                found.append(RemoteService(uuid: BluetoothUUID(number), isPrimary: false, handles: handles))
            }
        }
        return true
    }

    private mutating func takeType(_ bytes: [UInt8]) -> Bool {
        guard let uuid = BluetoothUUID(littleEndian: bytes) else { return false }
        found.append(RemoteService(uuid: uuid, isPrimary: false, handles: unnamed.removeFirst()))
        return true
    }
}
