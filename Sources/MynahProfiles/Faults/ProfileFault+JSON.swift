package import MynahCore
import MynahFaults
package import MynahSupport

extension ProfileFault {
    /// Returns the fault in the JSON form of a profile; `tree` has the attributes of the device.
    package func json(in tree: AttributeTree) -> JSON {
        var members: [JSON.Member] = [.init("name", .string(fault.name))]
        switch fault.trigger {
        case .on(let operation): members.append(.init("on", .string(operation.rawValue)))
        case .after(let time): members.append(.init("after", .string(time.text)))
        }
        if let attribute {
            let path = tree.path(of: attribute) + (fault.isOfConfiguration ? "/2902" : "")
            members.append(.init("of", .string(path)))
        }
        members += fault.selection.members
        if fault.delay != .zero { members.append(.init("delay", .string(fault.delay.text))) }
        if let effect = fault.effect {
            members += effect.members(removing: removed.map { tree.path(of: $0) })
        }
        if fault.endsWithLink {
            members.append(.init("until", .string(FaultEnd.disconnected.rawValue)))
        }
        if fault.isOff { members.append(.init("off", .bool(true))) }
        return .object(members)
    }

    /// Returns the fault on one line for people: its members without the name and without quotation marks.
    package func text(in tree: AttributeTree) -> String {
        guard case .object(let members) = json(in: tree) else { return "" }
        return Self.text(members.filter { $0.key != "name" })
    }

    private static func text(_ members: [JSON.Member]) -> String {
        members.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
    }

    private static func text(_ value: JSON) -> String {
        switch value {
        case .object(let members): "{\(text(members))}"
        case .array(let items): "[\(items.map(text).joined(separator: ", "))]"
        case .string(let text): text.isEmpty ? "\"\"" : text
        default: value.text
        }
    }
}

extension FaultSelection {
    fileprivate var members: [JSON.Member] {
        var members: [JSON.Member] = []
        switch nth {
        case .all: break
        case .range(let range) where range.count == 1:
            members.append(.init("nth", .integer(range.lowerBound)))
        case .range(let range):
            members.append(.init("nth", .string("\(range.lowerBound)..\(range.upperBound)")))
        case .every(let period): members.append(.init("nth", .string("every \(period)")))
        }
        if let times { members.append(.init("times", .integer(times))) }
        if chance != 1 { members.append(.init("chance", .number(chance))) }
        switch central {
        case .address(let address)?: members.append(.init("central", .string(address.description)))
        case .order(let number)?: members.append(.init("central", .integer(number)))
        case nil: break
        }
        if let condition { members.append(.init("when", .string(condition.text))) }
        return members
    }
}

extension FaultCondition {
    /// The condition in the form of a profile.
    fileprivate var text: String {
        switch self {
        case .appState(let state): state
        case .variable(let name, let comparison, .number(let number)):
            "\(name) \(comparison.rawValue) \(number.json.text)"
        case .variable(let name, let comparison, .text(let text)):
            "\(name) \(comparison.rawValue) \"\(text)\""
        case .all(let conditions): conditions.map(\.text).joined(separator: " and ")
        }
    }
}

extension FaultEffect {
    fileprivate func members(removing removed: String?) -> [JSON.Member] {
        let word = [JSON.Member("do", .string(kind.rawValue))]
        switch self {
        case .error(let error): return [.init("error", .string("0x" + Hex.encode([error.code])))]
        case .truncate(let length): return [.init("truncate", .integer(length))]
        case .corrupt(let corruption):
            return [.init("corrupt", .string("xor \(Hex.encode(corruption.mask))@\(corruption.offset)"))]
        case .value(let value): return [.init("value", .object([.init("hex", .string(Hex.encode(value)))]))]
        case .mtu(let mtu): return [.init("mtu", .integer(mtu))]
        case .disconnect(let reason):
            return word + [.init("reason", .string("0x" + Hex.encode([reason])))]
        case .loseBond(let way): return word + [.init("how", .string(way.rawValue))]
        case .changeServices: return word + [.init("remove", .string(removed ?? ""))]
        case .advertise(let change, let time):
            return word + [.init("with", .object(change.members))] + Self.time(time)
        case .vanish(let time): return word + Self.time(time)
        case .drop, .duplicate, .reorder, .noAnswer, .refuseSubscription, .refuseConnection: return word
        }
    }

    private static func time(_ time: Duration?) -> [JSON.Member] {
        time.map { [.init("for", .string($0.text))] } ?? []
    }
}
