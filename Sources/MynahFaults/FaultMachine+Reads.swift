import MynahCore

// Reads of values that the radio would answer by itself, and reads in parts.
extension FaultMachine {
    /// The answer to a later part of a long read, or `nil` if the whole value is not known here.
    func rest(_ request: ReadRequest) -> PendingReply.Outcome? {
        links.reading(request)?.value.map { request.part(of: $0) }
    }

    /// The answer to a read of a static value, and the event that reports it.
    ///
    /// Returns `nil` if the attribute has no static value.
    func ownAnswer(to request: ReadRequest) -> (outcome: PendingReply.Outcome, event: RadioEvent)? {
        guard let value = services.values[request.attribute] else { return nil }
        let outcome = request.part(of: value)
        switch outcome {
        case .success(let part): return (outcome, .answeredRead(request, part))
        case .failure(let error):
            let refused = RefusedRequest(
                central: request.central, attribute: request.attribute, access: .read, error: error)
            return (outcome, .refused(refused))
        }
    }

    /// Keeps the value for the later parts of a long read, and returns the requested part.
    mutating func snapshot(_ outcome: PendingReply.Outcome, _ request: ReadRequest) -> PendingReply.Outcome {
        guard case .success(let value) = outcome else { return outcome }
        links.noteRead(request, value: value)
        return request.part(of: value)
    }
}

extension ReadRequest {
    /// The bytes of a value from the read's offset on.
    fileprivate func part(of value: [UInt8]) -> PendingReply.Outcome {
        offset <= value.count ? .success(Array(value[offset...])) : .failure(.invalidOffset)
    }
}
