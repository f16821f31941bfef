import MynahCore
import MynahDBus

/// A ReadValue or WriteValue call of bluetoothd for a central.
struct AttributeRequest {
    let isRead: Bool
    let options: RequestOptions
    /// The written bytes.
    let value: [UInt8]

    /// Reads a call, or returns `nil` if its arguments cannot be read.
    init?(_ call: MethodCall, isRead: Bool) {
        var reader = call.reader()
        guard let value = isRead ? [] : try? reader.readBytes(), let options = try? RequestOptions(&reader)
        else {
            return nil
        }
        self.init(isRead: isRead, options: options, value: value)
    }

    init(isRead: Bool, options: RequestOptions = RequestOptions(), value: [UInt8] = []) {
        self.isRead = isRead
        self.options = options
        self.value = value
    }

    /// The event with which the radio asks its `RadioSink` for an answer.
    ///
    /// If `answered` is not `nil`, the event reports a read that was already answered with this value.
    func event(
        _ key: AttributeKey, from central: Peer.ID, answered: [UInt8]? = nil, wantsResponse: Bool
    ) -> RadioEvent {
        guard isRead else {
            return .write(
                WriteRequest(
                    central: central, parts: [.init(attribute: key, offset: options.offset, value: value)],
                    wantsResponse: wantsResponse))
        }
        let request = ReadRequest(central: central, attribute: key, offset: options.offset)
        return answered.map { .answeredRead(request, $0) } ?? .read(request)
    }
}

extension PublishedAttribute {
    /// The way to handle a request.
    enum Verdict: Hashable {
        /// Answer a read with these bytes, which begin at its offset, or confirm a write.
        case answer([UInt8])
        case refuse(ATTError)
        case askSink
    }

    /// Returns how to handle a request of a central.
    func verdict(on request: AttributeRequest, isAuthorized: Bool) -> Verdict {
        let offset = request.options.offset
        // bluetoothd passes on every access to an attribute that has no permission at all, such as a
        // characteristic that is only notified (check_permissions).
        guard request.isRead ? isReadable : isWritable else {
            return .refuse(request.isRead ? .readNotPermitted : .writeNotPermitted)
        }
        let requirement = request.isRead ? permissions.read : permissions.write
        if requirement == .authorized, !isAuthorized { return .refuse(.insufficientAuthorization) }
        if request.isRead {
            guard let value else { return .askSink }
            guard offset <= value.count else { return .refuse(.invalidOffset) }
            return .answer(offset == 0 ? value : Array(value[offset...]))
        }
        // bluetoothd asks for authorization only; the bytes follow when the prepared write is executed.
        if request.options.preparesAuthorization { return .answer([]) }
        guard offset + request.value.count <= maximumLength else {
            return .refuse(.invalidAttributeValueLength)
        }
        return .askSink
    }

    /// The warning that bluetoothd dropped a write because the value is too long.
    ///
    /// Returns `nil` if `error` has another reason than the length.
    func droppedWriteWarning(_ error: ATTError, _ request: AttributeRequest) -> RadioWarning? {
        guard error == .invalidAttributeValueLength else { return nil }
        return RadioWarning(
            "writeDropped",
            """
            a write of \(request.value.count) bytes to \(uuid) was dropped, because its maximum is \
            \(maximumLength); bluetoothd cannot refuse writes if there is writeWithoutResponse
            """
        )
    }
}
