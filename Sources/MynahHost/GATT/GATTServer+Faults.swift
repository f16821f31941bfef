import MynahCore
import MynahFaults
import MynahHCI

// The requests to which faults apply before the server answers.
extension GATTServer {
    /// Describes a request to which faults can apply before the application receives the request.
    ///
    /// Returns `nil` if no such fault can apply to the PDU.
    func lowerRequest(
        in pdu: [UInt8], _ link: ConnectionHandle, _ security: LinkSecurity
    ) -> LowerRequest? {
        guard let request = try? ATTRequest(pdu) else { return nil }
        if let request = values.configurations.request(request, database) { return request }
        switch request {
        case .exchangeMTU: return .mtu
        case .findInformation, .findByTypeValue, .readByGroupType: return .discover([])
        case .readByType(_, let type):
            return type == AttributeType.characteristic || type == AttributeType.include ? .discover([]) : nil
        case .read(let handle), .readBlob(let handle, 0):
            return deniedValue(at: handle) { $0.canRead ? security.denial($0.read) : nil }.map { .read($0) }
        case .write(let handle, let value):
            return subscription(handle, value).map { .subscribe($0) }
                ?? deniedValue(at: handle) { $0.canWrite ? security.denial($0.write) : nil }.map {
                    .write($0)
                }
        case .executeWrite(isCancelled: false):
            return preparedSubscription(link).map { .subscribe($0.key) }
        default: return nil
        }
    }

    /// The characteristic to which a write subscribes, or `nil` if the write is not a subscription.
    private func subscription(_ handle: AttributeHandle, _ value: [UInt8]) -> AttributeKey? {
        guard case .configuration(let key, _)? = database[handle]?.content, key != serviceChanged,
            value.contains(where: { $0 != 0 })
        else { return nil }
        return key
    }

    private func preparedSubscription(
        _ link: ConnectionHandle
    ) -> (key: AttributeKey, handle: AttributeHandle)? {
        for write in prepared(link) {
            if let key = subscription(write.handle, write.value) { return (key, write.handle) }
        }
        return nil
    }

    /// The attribute whose value a request cannot access because of the link's security.
    ///
    /// The result is `nil` if the application receives the request, because faults apply to it there.
    private func deniedValue(
        at handle: AttributeHandle, _ denial: (Attribute.Access) -> ATTError?
    ) -> AttributeKey? {
        guard let attribute = database[handle], case .value(let key, _) = attribute.content,
            denial(attribute.access) != nil
        else { return nil }
        return key
    }

    /// Empties the prepare queue if the PDU, which a fault refused, is an Execute Write request.
    ///
    /// Returns the handle of the first queued write that would have subscribed, or `nil` if there is none.
    mutating func dropPrepared(executedBy pdu: [UInt8], _ link: ConnectionHandle) -> AttributeHandle? {
        guard case .executeWrite? = try? ATTRequest(pdu) else { return nil }
        defer { forgetPrepared(link) }
        return preparedSubscription(link)?.handle
    }
}
