import MynahCore
import MynahSupport

// Each side of a link has one control procedure of its own at a time (Core Specification, Vol 6, Part B, 5.2).
extension VirtualController {
    /// Begins a procedure with its first PDU, after those that this side has begun already.
    mutating func initiate(_ request: LinkPDU, on handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        guard links[at: index].procedure == nil else {
            guard links[at: index].waitingRequests.count < VirtualLink.sentLimit else {
                return end(handle, .connectionTimeout)
            }
            links[at: index].waitingRequests.append(request)
            return
        }
        links[at: index].procedure = request.begins
        queue(request, on: handle)
    }

    /// Ends this side's procedure if this is the peer's answer, and begins the next.
    mutating func conclude(_ answer: LinkPDU, on handle: UInt16) {
        guard let ended = answer.ends, let index = links.index(of: handle),
            links[at: index].procedure == ended
        else { return }
        links[at: index].procedure = nil
        guard !links[at: index].waitingRequests.isEmpty else { return }
        initiate(links[at: index].waitingRequests.removeFirst(), on: handle)
    }
}

/// A control procedure in which the side that begins it waits for an answer.
enum LinkProcedure: Hashable, Sendable {
    case encryption, features, lengths, parameters, phys, version
}

extension LinkPDU {
    /// The procedure that it is the first PDU of.
    fileprivate var begins: LinkProcedure? {
        switch self {
        case .encryptionRequest: .encryption
        case .featureRequest: .features
        case .lengthRequest: .lengths
        case .parameterRequest: .parameters
        case .phyRequest: .phys
        case .version(_, _, _, isAnswer: false): .version
        default: nil
        }
    }

    /// The procedure of its receiver that it ends.
    fileprivate var ends: LinkProcedure? {
        switch self {
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
