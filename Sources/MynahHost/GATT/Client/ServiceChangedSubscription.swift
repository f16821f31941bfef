import MynahCore
import MynahSupport

/// The state of a client's subscription to Service Changed (Core Specification, Vol 3, Part G, 7.1).
enum ServiceChanged: Hashable, Sendable {
    /// The client has not looked for Service Changed yet.
    case unknown
    /// The server has no Service Changed characteristic, or the client is searching for it.
    case unavailable
    /// The server refused the subscription to the characteristic with this value handle.
    case refused(AttributeHandle)
    /// The client is subscribed to the characteristic with this value handle.
    case subscribed(AttributeHandle)

    /// The value handle of Service Changed, or `nil` if it is not known.
    var handle: AttributeHandle? {
        switch self {
        case .unknown, .unavailable: nil
        case .refused(let handle), .subscribed(let handle): handle
        }
    }
}

/// Finds Service Changed, and subscribes to its indications if the client is not subscribed yet.
struct ServiceChangedSubscription: GATTProcedure {
    private enum State {
        case service
        case characteristic(ClosedRange<AttributeHandle>)
        case configuration(AttributeHandle)
        case writing(AttributeHandle)
    }

    private var state = State.service

    func bearer(_ bearer: ATTClient.Bearer, after value: ServiceChanged) -> ATTClient.Bearer {
        var bearer = bearer
        bearer.serviceChanged = value
        return bearer
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<ServiceChanged> {
        .ask(
            ATTClientPDU.findByTypeValue(
                AttributeHandle.all, type: 0x2800, value: ATTClientPDU.onAir(GATT.genericAttribute)))
    }

    /// Returns the next step; an error or an invalid answer ends the procedure without a subscription.
    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<ServiceChanged> {
        guard case .success(let bytes) = answer else {
            if case .writing(let handle) = state { return .done(.refused(handle)) }
            return .done(.unavailable)
        }
        var reader = ByteReader(bytes)
        switch state {
        case .service:
            guard let handles = reader.readHandles() else { return .done(.unavailable) }
            return find(in: handles)
        case .characteristic(let range): return takeDeclarations(&reader, range)
        case .configuration(let handle): return takeConfiguration(&reader, handle)
        case .writing(let handle): return .done(.subscribed(handle))
        }
    }

    private mutating func find(in range: ClosedRange<AttributeHandle>) -> GATTStep<ServiceChanged> {
        state = .characteristic(range)
        return .ask(ATTClientPDU.readByType(range, AttributeType.characteristic))
    }

    private mutating func takeDeclarations(
        _ reader: inout ByteReader, _ range: ClosedRange<AttributeHandle>
    ) -> GATTStep<ServiceChanged> {
        guard let length = reader.readUInt8(), length == 7 || length == 21 else { return .done(.unavailable) }
        var last = range.lowerBound
        while let declaration = reader.readAttributeHandle(), reader.readUInt8() != nil,
            let handle = reader.readAttributeHandle(), let type = reader.readBytes(Int(length) - 5)
        {
            // Each answer must advance the range, or a hostile server could keep this running for ever.
            guard range.contains(declaration), declaration < handle, handle <= range.upperBound else { break }
            last = max(last, handle)
            if BluetoothUUID(littleEndian: type) == AttributeType.serviceChanged {
                state = .configuration(handle)
                return .ask(ATTClientPDU.readByType(handle...range.upperBound, GATT.clientConfiguration))
            }
        }
        guard last > range.lowerBound, last < range.upperBound else { return .done(.unavailable) }
        return find(in: last + 1...range.upperBound)
    }

    private mutating func takeConfiguration(
        _ reader: inout ByteReader, _ handle: AttributeHandle
    ) -> GATTStep<ServiceChanged> {
        guard reader.readUInt8() == 4, let place = reader.readAttributeHandle(),
            let bits = reader.readUInt16()
        else {
            return .done(.unavailable)
        }
        guard bits & 2 == 0 else { return .done(.subscribed(handle)) }
        state = .writing(handle)
        return .ask(ATTClientPDU.write(place, [2, 0]))
    }
}
