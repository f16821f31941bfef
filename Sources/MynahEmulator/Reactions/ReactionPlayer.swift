import Mynah
import MynahCore
import MynahProfiles
import MynahValues

/// Carries out the rules in a device's profile.
///
/// Belongs to the device's player, and runs on the phone's executor. The values of a rule are sent after the
/// write response. If the rule ends the link, the link ends after the values are sent.
final class ReactionPlayer {
    /// A rule to carry out, with the attribute and the fields that triggered it.
    private struct Match {
        var rule: Reaction
        /// The characteristic to which the rule belongs, or `nil` if the rule is for links.
        var attribute: AttributeKey?
        var fields: [NamedField]
        var isSubscription = false
    }

    private let memory: DeviceMemory
    private let answers: AnswerSender
    private let behaviors: ServicePlayer?
    private let link: PlayerLink
    private var rules: [AttributeKey: Profile.Reactions] = [:]
    /// The attributes and codes of the warnings that were reported, so that each is reported only once.
    private var reported: Set<String> = []

    init(of memory: DeviceMemory, with sender: DeviceSender, _ link: PlayerLink) {
        self.memory = memory
        answers = sender.answers
        behaviors = sender.behaviors
        self.link = link
        begin()
    }

    /// Loads the device's rules again; the keys of its attributes may have changed.
    func begin() {
        rules = [:]
        reported = []
        answers.clear()
        for (position, reactions) in memory.device.responses.reactions {
            if let key = memory.device.key(at: position) { rules[key] = reactions }
        }
    }

    // MARK: Requests

    /// Answers a write that triggers a rule; returns `nil` if the write triggers none.
    func write(_ request: WriteRequest, _ central: Central) -> PendingReply.Outcome? {
        guard !rules.isEmpty, request.parts.contains(where: { rules[$0.attribute] != nil }) else {
            return nil
        }
        do throws(ATTError) {
            var values = try memory.table.newValues(of: request)
            var matches: [Match] = []
            // In the order of the parts.
            var seen: Set<AttributeKey> = []
            for attribute in request.parts.map(\.attribute) where seen.insert(attribute).inserted {
                guard let value = values[attribute], let match = match(value, of: attribute) else { continue }
                if request.wantsResponse, let error = match.rule.error { throw error }
                matches.append(match)
                if !match.rule.storesValue { values[attribute] = nil }
            }
            guard !matches.isEmpty else { return nil }
            // The remaining parts are handled as if there were no rules.
            var rest = request
            rest.parts.removeAll { values[$0.attribute] == nil }
            if !rest.parts.isEmpty,
                case .failure(let error) = ServicePlayer.carryOut(rest, central, by: behaviors, in: memory)
            {
                throw error
            }
            for match in matches { carryOut(match, for: central) }
            return .success([])
        } catch {
            return .failure(error)
        }
    }

    private func match(_ value: [UInt8], of attribute: AttributeKey) -> Match? {
        let fields = memory.table.layout(of: attribute)?.decode(value)
        return rules[attribute]?.write.first(for: value, fields, memory.table.variables).map {
            Match(rule: $0, attribute: attribute, fields: fields ?? [])
        }
    }

    /// Carries out the rules for a new subscription; `central` is `nil` if the radio does not identify it.
    func subscribed(to attribute: AttributeKey, by central: Central?) {
        guard !rules.isEmpty, let rule = rules[attribute]?.subscribe.first(memory.table.variables) else {
            return
        }
        carryOut(
            Match(rule: rule, attribute: attribute, fields: [], isSubscription: true), for: central)
    }

    /// Carries out the rules for a new link of a central.
    ///
    /// A rule that sends values is carried out after this call. Only then does the central count as
    /// subscribed to characteristics that notify every central.
    func linkBegan(of central: Central) {
        let rules = memory.device.responses.links.connect
        guard rules.contains(where: { !$0.answers.isEmpty || !$0.notified.isEmpty }) else {
            return linkChanged(\.connect, of: central)
        }
        link.emulator.enqueue { [index = link.index] in
            $0.player(index)?.reactions.linkChanged(\.connect, of: central)
        }
    }

    /// Carries out the rules for a new or ended link of a central, or for its pairing.
    func linkChanged(_ rules: KeyPath<Profile.LinkRules, [Reaction]>, of central: Central) {
        guard let rule = memory.device.responses.links[keyPath: rules].first(memory.table.variables) else {
            return
        }
        carryOut(Match(rule: rule, fields: []), for: central)
    }

    // MARK: Effects

    private func carryOut(_ match: Match, for central: Central?) {
        let rule = match.rule
        if !rule.changes.isEmpty {
            do throws(LayoutProblem) {
                try setVariables(rule.applied(to: memory.table.variables, match.fields))
            } catch {
                report("variableNotSet", match.attribute, "changes no variable: \(error.message)")
            }
        }
        for answer in rule.answers { send(answer, match, to: central) }
        for position in rule.notified {
            guard let key = memory.device.key(at: position),
                let value = memory.table.value(of: key, at: memory.elapsed)
            else { continue }
            // A value of the subscribed characteristic is sent only to the new subscriber.
            answers.add(
                value, of: key, to: match.isSubscription && key == match.attribute ? central?.id : nil)
        }
        answers.deliverLater()
        guard rule.disconnects || rule.advertises != nil else { return }
        link.emulator.enqueue { [index = link.index] in
            await $0.control.rules.end(rule, of: index, for: central)
        }
    }

    /// Replaces the device's variables.
    ///
    /// A value that depends on a changed variable is sent to its subscribers, unless it has `every`. Throws,
    /// and changes nothing, if a value cannot be computed from the new variables.
    func setVariables(_ variables: Variables) throws(LayoutProblem) {
        for key in try memory.table.setVariables(variables) where memory.table.entries[key]?.every == nil {
            // A behavior sends its own values.
            guard behaviors?.sends(key) != true,
                let value = memory.table.value(of: key, at: memory.elapsed)
            else { continue }
            answers.add(value, of: key)
        }
        answers.deliverLater()
    }

    private func send(_ answer: Reaction.Answer, _ match: Match, to central: Central?) {
        guard let key = memory.device.key(at: answer.target) else { return }
        let value: [UInt8]
        do throws(LayoutProblem) {
            value = try answer.value.bytes(memory.table.variables, match.fields)
        } catch {
            return report("answerNotMade", match.attribute, "sends no answer: \(error.message)")
        }
        answers.answer(
            value, of: key, to: central, after: answer.delay, inPieces: answer.isInPieces)
    }

    private func report(_ code: String, _ attribute: AttributeKey?, _ message: String) {
        guard reported.insert("\(code) \(attribute?.rawValue ?? 0)").inserted else { return }
        memory.events.warn(code, "a rule of \(attribute.map(memory.table.name) ?? "the device") \(message)")
    }
}

extension EmulatedDevice {
    /// Returns the key of the characteristic at a position in the profile's tree, or `nil` if there is none.
    func key(at position: AttributeTree.Position) -> AttributeKey? {
        guard services.indices.contains(position.service), let index = position.characteristic else {
            return nil
        }
        let characteristics = services[position.service].characteristics
        return characteristics.indices.contains(index) ? characteristics[index].key : nil
    }
}
