package import MynahCore
import MynahSupport

extension Fault {
    /// The reason that the fault has no effect on any radio, or `nil` if it can have one.
    ///
    /// The reason is a sentence without its full stop.
    package var mistake: String? {
        let meaningful = FaultSupport.meaningful[kind] ?? []
        guard meaningful.contains(trigger.kind) else {
            return "\(kind) does nothing on \(trigger.kind); it applies to \(Self.list(meaningful))"
        }
        return selectionMistake ?? delayMistake ?? effectMistake
    }

    private var selectionMistake: String? {
        guard (0...1).contains(selection.chance) else { return "chance is from 0 to 100 %" }
        switch selection.nth {
        case .range(let range) where range.lowerBound < 1: return "nth counts from 1"
        case .every(let period) where period < 1: return "nth: every N takes a number from 1"
        case .range, .every:
            if case .after = trigger { return "nth counts operations, and a fault after a time has none" }
        case .all: break
        }
        if let times = selection.times, times < 1 { return "times is a number from 1" }
        if case .order(let number)? = selection.central, number < 1 {
            return "central counts connections from 1"
        }
        if isOfConfiguration {
            guard [.read, .write, .discover].contains(trigger.kind) else {
                return "2902 is read, written and discovered; for \(trigger.kind), name the characteristic"
            }
            guard [.error, .delay, .noAnswer, .disconnect].contains(kind) else {
                return "faults of 2902 are error, delay, noAnswer and disconnect, and not \(kind)"
            }
        } else if attribute != nil, ![.read, .write, .notify, .subscribe].contains(trigger.kind) {
            return "\(trigger.kind) has no attribute; remove of"
        }
        if selection.central != nil, trigger.kind == .advertise {
            return "advertise concerns every central; remove central"
        }
        if selection.central != nil, kind == .refuseConnection {
            return "refuseConnection concerns every central; remove central"
        }
        return nil
    }

    private var delayMistake: String? {
        switch trigger {
        case .after(let time) where time <= .zero: return "after takes a time above 0"
        case .after where delay != .zero: return "a fault after a time has no delay; make the time longer"
        case .on(.advertise) where delay != .zero: return "advertise has no delay; use after"
        default: break
        }
        guard delay >= .zero else { return "delay takes a time above 0" }
        switch kind {
        case .delay where delay == .zero: return "the fault has neither an effect nor a delay"
        case .noAnswer, .reorder, .refuseConnection:
            return delay == .zero ? nil : "\(kind) cannot have a delay"
        case .drop where trigger.kind == .notify:
            return delay == .zero ? nil : "a value that is dropped cannot have a delay"
        default: return nil
        }
    }

    private var effectMistake: String? {
        switch effect {
        case .error(let error) where error.code == 0: "0x00 is not an error"
        case .truncate(let length) where !(0..<GATT.maximumValueLength).contains(length):
            "truncate takes a length from 0 to \(GATT.maximumValueLength - 1) bytes"
        case .corrupt(let corruption) where corruption.mask.allSatisfy { $0 == 0 }:
            "corrupt needs a byte that is not 00"
        case .corrupt(let corruption)
        where corruption.offset < 0
            || corruption.offset > GATT.maximumValueLength - corruption.mask.count:
            "corrupt changes bytes of a value, which has \(GATT.maximumValueLength) at most"
        case .value(let value) where value.count > GATT.maximumValueLength:
            "a value has \(GATT.maximumValueLength) bytes at most"
        case .mtu(let mtu) where !(GATT.defaultMTU...517).contains(mtu):
            "an MTU is from \(GATT.defaultMTU) to 517 bytes"
        case .advertise(let change, _) where change == AdvertisementChange():
            "advertise needs at least one field in with"
        case .advertise(_, let time?) where time <= .zero, .vanish(let time?) where time <= .zero:
            "for takes a time above 0"
        default: nil
        }
    }

    /// The names of triggers as a list in words, in the order of the enumeration's cases.
    fileprivate static func list(_ triggers: Set<FaultTrigger.Kind>) -> String {
        let names = FaultTrigger.Kind.allCases.filter(triggers.contains).map(\.rawValue)
        guard names.count > 1, let last = names.last else { return names.first ?? "nothing" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}

extension FaultTrigger.Kind: CustomStringConvertible {
    /// The name in a profile.
    package var description: String { rawValue }
}

extension FaultEffect.Kind: CustomStringConvertible {
    /// The name in a profile.
    package var description: String { rawValue }
}

extension RadioCapabilities {
    /// The longest delay after which the central still accepts an answer.
    package var longestFaultDelay: Duration {
        answerDeadline.map { $0 - .milliseconds(500) } ?? .seconds(29)
    }

    /// The reason that the radio cannot carry out a fault, or `nil` if it can.
    ///
    /// The reason is a sentence without its full stop. `properties` are those of the fault's characteristic,
    /// or `nil` if they are not known. `faults` are the faults that the radio supports. For a fault without
    /// effect on any radio, the result is its `mistake`.
    package func shortcoming(
        of fault: Fault, properties: CharacteristicProperties? = nil, with faults: FaultSupport
    ) -> String? {
        fault.mistake ?? support(of: fault, faults) ?? limit(of: fault, properties, faults)
            ?? centralLimit(of: fault)
    }

    private func support(of fault: Fault, _ faults: FaultSupport) -> String? {
        guard !fault.isOfConfiguration || faults.reachesConfigurations else {
            return "\(name) answers for 2902 by itself; choose --radio virtual, netsim or hci:"
        }
        guard !faults.allows(fault.kind, at: fault.trigger.kind) else { return nil }
        guard let triggers = faults.triggers[fault.kind], !triggers.isEmpty else {
            return "\(name) cannot carry out \(fault.kind)"
        }
        return """
            \(name) cannot carry out \(fault.kind) on \(fault.trigger.kind); it can on \(Fault.list(triggers))
            """
    }

    private func limit(
        of fault: Fault, _ properties: CharacteristicProperties?, _ faults: FaultSupport
    ) -> String? {
        if fault.trigger.kind.isRequest, fault.delay > longestFaultDelay {
            return "\(name) can hold up an answer for \(longestFaultDelay.text) at most"
        }
        // The radio answers such a write before it reports the write.
        if fault.trigger == .on(.write), properties?.contains(.writeWithoutResponse) == true,
            !writes.areRefusedBesideCommands, fault.delay > .zero || [.error, .noAnswer].contains(fault.kind)
        {
            return """
                \(name) cannot \(fault.kind == .error ? "refuse" : "hold up") a write of a characteristic \
                that has writeWithoutResponse
                """
        }
        switch fault.effect {
        case .error(let error):
            let codes: ErrorCodes? =
                switch fault.trigger {
                case .on(.read): readErrors
                case .on(.write): writes.errors
                default: nil
                }
            if let codes, !codes.contains(error) {
                return "\(name) cannot answer a \(fault.trigger.kind) with \(error); it can send \(codes)"
            }
        case .disconnect(let reason) where !faults.disconnectReasons.contains(reason):
            let reasons = faults.disconnectReasons.map { "0x" + Hex.encode([$0]) }
            return """
                \(name) cannot end a link with reason 0x\(Hex.encode([reason])); it can use \
                \(reasons.joined(separator: ", "))
                """
        case .loseBond(let way) where !faults.lostBonds.contains(way):
            let ways = FaultEffect.LostBond.allCases.filter(faults.lostBonds.contains).map(\.rawValue)
            return """
                \(name) cannot lose a bond with how: \(way.rawValue); it can with \
                how: \(ways.joined(separator: ", "))
                """
        default: break
        }
        return nil
    }

    private func centralLimit(of fault: Fault) -> String? {
        guard fault.selection.central != nil, !subscriptions.namesSubscribers,
            [.notify, .subscribe].contains(fault.trigger.kind)
        else { return nil }
        return "\(name) does not report which central subscribed, so a \(fault.trigger.kind) has no central"
    }
}

extension Fault {
    /// `true` if the fault applies only to some connections.
    var selectsConnections: Bool {
        selection.nth != .all || selection.times != nil || selection.chance < 1
            || selection.condition != nil
    }
}
