/// The control procedures that one side of a connection begins, one after the other (Core Specification, Vol
/// 6, Part B, 5.2).
struct ProcedureQueue: Sendable {
    /// The result of a request to begin a procedure.
    enum Start: Hashable, Sendable {
        case now
        /// The procedure begins after the earlier ones.
        case later
        /// The procedure never begins, because the peer has left too many unanswered.
        case never
    }

    private enum Procedure: Sendable {
        case encryption, features, lengths, parameters, phys, version
    }

    private static let limit = TransmitWindow.limit

    private var current: Procedure?
    /// The first PDUs of the procedures that wait.
    private var waiting: [LinkPDU] = []

    /// Begins a procedure with its first PDU, or queues it.
    mutating func begin(_ request: LinkPDU) -> Start {
        guard current != nil else {
            current = Self.procedure(begunBy: request)
            return .now
        }
        guard waiting.count < Self.limit else { return .never }
        waiting.append(request)
        return .later
    }

    /// Ends the current procedure if a PDU of the peer answers it.
    ///
    /// Returns the first PDU of the next procedure, which begins now. The result is `nil` if no procedure has
    /// ended or none waits.
    mutating func end(with answer: LinkPDU) -> LinkPDU? {
        guard let ended = Self.procedure(endedBy: answer), current == ended else { return nil }
        current = nil
        guard !waiting.isEmpty else { return nil }
        let next = waiting.removeFirst()
        current = Self.procedure(begunBy: next)
        return next
    }

    private static func procedure(begunBy request: LinkPDU) -> Procedure? {
        switch request {
        case .encryptionRequest: .encryption
        case .featureRequest: .features
        case .lengthRequest: .lengths
        case .parameterRequest: .parameters
        case .phyRequest: .phys
        case .version(_, _, _, isAnswer: false): .version
        default: nil
        }
    }

    private static func procedure(endedBy answer: LinkPDU) -> Procedure? {
        switch answer {
        case .encrypted, .encryptionRejected: .encryption
        case .featureResponse: .features
        case .lengthResponse: .lengths
        case .connectionUpdate, .parametersRejected: .parameters
        case .phyUpdate: .phys
        case .version: .version
        default: nil
        }
    }
}
