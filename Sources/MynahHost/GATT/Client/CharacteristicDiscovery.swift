import MynahCore
import MynahSupport

/// Finds the characteristics of a service (Core Specification, Vol 3, Part G, 4.6.1).
struct CharacteristicDiscovery: GATTProcedure {
    private let end: AttributeHandle
    private var walk: HandleWalk
    private var found: [RemoteCharacteristic] = []

    init(in handles: ClosedRange<AttributeHandle>) {
        walk = HandleWalk(handles)
        end = handles.upperBound
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[RemoteCharacteristic]> { next() }

    private func next() -> GATTStep<[RemoteCharacteristic]> {
        guard let rest = walk.rest else { return .done(found) }
        return .ask(ATTClientPDU.readByType(rest, AttributeType.characteristic))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[RemoteCharacteristic]> {
        switch answer {
        case .failure(.attributeNotFound): return .done(found)
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            guard takeDeclarations(bytes) else {
                return .violated("the peripheral returned invalid characteristics")
            }
            return next()
        }
    }

    private mutating func takeDeclarations(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard let length = reader.readUInt8(), length == 7 || length == 21, !reader.isAtEnd else {
            return false
        }
        while !reader.isAtEnd {
            guard let declaration = reader.readAttributeHandle(), let properties = reader.readUInt8(),
                let handle = reader.readAttributeHandle(), let type = reader.readBytes(Int(length) - 5),
                let uuid = BluetoothUUID(littleEndian: type), declaration < handle, handle <= end,
                // The search continues after the value, because a value is not a declaration.
                walk.advance(declaration...handle)
            else { return false }
            // The previous characteristic ends before this declaration; its end was not known earlier.
            if let last = found.indices.last { found[last].end = declaration - 1 }
            found.append(
                RemoteCharacteristic(
                    uuid: uuid, properties: CharacteristicProperties(rawValue: UInt16(properties)),
                    declaration: declaration, handle: handle, end: end))
        }
        return true
    }
}

/// Finds the descriptors in a range of handles (4.7.1).
struct DescriptorDiscovery: GATTProcedure {
    private var walk: HandleWalk
    private var found: [RemoteDescriptor] = []

    init(in handles: ClosedRange<AttributeHandle>) {
        walk = HandleWalk(handles)
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[RemoteDescriptor]> { next() }

    private func next() -> GATTStep<[RemoteDescriptor]> {
        guard let rest = walk.rest else { return .done(found) }
        return .ask(ATTClientPDU.findInformation(rest))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[RemoteDescriptor]> {
        switch answer {
        case .failure(.attributeNotFound): return .done(found)
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            guard takePairs(bytes) else { return .violated("the peripheral returned invalid descriptors") }
            return next()
        }
    }

    private mutating func takePairs(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard let format = reader.readUInt8(), format == 1 || format == 2, !reader.isAtEnd else {
            return false
        }
        while !reader.isAtEnd {
            guard let handle = reader.readAttributeHandle(),
                let type = reader.readBytes(format == 1 ? 2 : 16),
                let uuid = BluetoothUUID(littleEndian: type), walk.advance(handle...handle)
            else { return false }
            found.append(RemoteDescriptor(uuid: uuid, handle: handle))
        }
        return true
    }
}
