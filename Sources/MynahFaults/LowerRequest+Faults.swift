import MynahCore

extension LowerRequest {
    /// The operation that faults decide about.
    var operation: FaultRules.Operation {
        switch self {
        // The radio asks about reads and writes only if the link's protection denies them.
        case .read(let key): .init(.read, of: [key], isDenied: true)
        case .write(let key): .init(.write, of: [key], isDenied: true)
        case .subscribe(let key): .init(.subscribe, of: [key])
        case .discover: .init(.discover)
        case .mtu: .init(.mtu)
        }
    }
}

extension FaultRules.Decision {
    /// `true` if the decision changes the value that is read.
    var changesValue: Bool { effect?.changed([]) != nil }

    /// The answer to a read with the bytes that the effect makes of it.
    func changed(_ outcome: PendingReply.Outcome) -> PendingReply.Outcome {
        outcome.map { effect?.changed($0) ?? $0 }
    }

    /// The decision about a request that the radio answers by itself.
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
