import MynahCore

extension LowerRequest {
    /// The operations as which faults see the request, in order.
    ///
    /// If faults apply to several of them, only the first of these determines the answer.
    var operations: [FaultRules.Operation] {
        switch self {
        // The radio passes on reads and writes only if the link's security does not allow them.
        case .read(let key): [.init(.read, of: [key], isDenied: true)]
        case .write(let key): [.init(.write, of: [key], isDenied: true)]
        case .subscribe(let key): [.init(.subscribe, of: [key])]
        case .readConfiguration(let key): [.init(.read, of: [key.configuration], isNamedAlone: true)]
        case .writeConfiguration(let key, let subscribes):
            [.init(.write, of: [key.configuration], isNamedAlone: true)]
                + (subscribes ? [.init(.subscribe, of: [key.characteristic])] : [])
        case .discover(let keys): [.init(.discover, of: keys.map(\.configuration))]
        case .mtu: [.init(.mtu)]
        }
    }

    /// The attribute and the kind of access for the report of a refusal, or `nil` if the request accesses no
    /// value.
    var refusable: (key: AttributeKey, access: RefusedRequest.Access)? {
        switch self {
        case .read(let key): (key, .read)
        case .write(let key), .subscribe(let key): (key, .write)
        case .readConfiguration(let key): (key.characteristic, .read)
        case .writeConfiguration(let key, _): (key.characteristic, .write)
        case .discover, .mtu: nil
        }
    }
}

extension FaultRules.Decision {
    /// `true` if the effect changes the value that the central reads.
    var changesValue: Bool { effect?.changed([]) != nil }

    /// The answer to a read, with its bytes as changed by the effect.
    func changed(_ outcome: PendingReply.Outcome) -> PendingReply.Outcome {
        outcome.map { effect?.changed($0) ?? $0 }
    }

    /// The verdict for a request that the radio would otherwise answer by itself.
    var verdict: LowerVerdict {
        switch effect {
        case .error(let error): .refuse(error)
        case .refuseSubscription: .refuse(.writeNotPermitted)
        case .mtu(let mtu): .mtu(mtu)
        case .noAnswer, .disconnect, .vanish: .ignore
        default: .proceed
        }
    }
}
