import MynahCore
import MynahSupport

extension ImportedProfile {
    /// The maximum number of rules of one characteristic; more writes are assumed to be a file transfer.
    static let ruleLimit = 2048
    /// The ATT_MTU that Mynah's devices offer by default.
    private static let usualMTU = 517
    /// The time by which a value may be earlier than the value before it, in microseconds.
    ///
    /// If a value is even earlier, the clock is assumed to have been set back.
    static let smallJump: Int64 = 1_000_000
    /// The maximum number of values of one recording.
    static let recordingLimit = 100_000

    /// Makes the profile of an observed device; `fallback` is the name of a device without one.
    init(_ device: ObservedDevice, fallback: String) {
        let server = device.server
        let table = TableModel(server.table)
        let advertised = device.advertising.content
        let read = table.nameHandle.flatMap { server.table.readings[$0] }.flatMap {
            PlainText.name(String(decoding: $0.value, as: UTF8.self))
        }
        let heard = advertised.localName.flatMap { PlainText.name($0) }
        name = read ?? heard ?? fallback
        deviceName = read ?? heard
        if let value = table.appearanceHandle.flatMap({ server.table.readings[$0]?.value }), value.count == 2
        {
            let number = UInt16(value[0]) | UInt16(value[1]) << 8
            // The value 0 means an unknown appearance, as if there were none.
            appearance = number == 0 ? nil : number
        }
        appearance = appearance ?? advertised.appearance
        if let handle = table.appearanceHandle, server.table.readings[handle] == nil, appearance == nil {
            notes.append("the appearance was never read")
        }
        io = device.io
        parameters = device.wantedParameters
        if device.otherParametersCount > 0 {
            notes.append("it requested other connection parameters later; these are the first")
        }
        advertising = [ImportedAdvertising](device.advertising, appearance: appearance)
        if !server.isDiscovered { notes.append("no connection to the device was seen") }
        if device.usesEnhancedATT {
            notes.append("some requests went over Enhanced ATT (EATT), which is not imported")
        }
        if let mtu = device.offeredMTU, mtu < Self.usualMTU {
            notes.append("the device offered an ATT_MTU of \(mtu)")
        }
        notes += server.notes + table.notes
        let sent = SentValues(server, table)
        let model = CharacteristicModel(device: device, table: table, sent: sent)
        states = sent.states.map(\.endsWithLink)
        services = table.services.map { service in
            Service(
                uuid: service.uuid, isPrimary: service.isPrimary, includes: service.includes,
                characteristics: service.characteristics.map(model.characteristic),
                notes: service.notes)
        }
        if advertising.isEmpty {
            // The number of a connection, or an address, is not a name.
            advertising = [
                ImportedAdvertising(
                    name: deviceName, services: services.filter(\.isPrimary).map(\.uuid),
                    because: "no advertisement of the device was seen")
            ]
        }
        notes += StrayNotes(server, table).texts
        limitTurns()
        warnings = server.limits.filter { $0.handle == nil }.map(\.text)
        for characteristic in services.flatMap(\.characteristics) where characteristic.isCut {
            warnings.append("only the first \(Self.recordingLimit) values of \(characteristic.uuid) are kept")
        }
    }
}

extension ImportedProfile {
    /// The maximum number of values in `Rule.turns`; the profile needs at most one variable for each of them.
    ///
    /// This is slightly less than the maximum number of variables of a profile.
    private static let turnLimit = 900

    /// Removes elements of `Rule.turns` if a profile cannot have enough variables for them.
    private mutating func limitTurns() {
        var room = Self.turnLimit
        for service in services.indices {
            for index in services[service].characteristics.indices {
                var cut = false
                for rule in services[service].characteristics[index].rules.indices {
                    var turns = services[service].characteristics[index].rules[rule].turns
                    guard let width = turns.first?.count else { continue }
                    let count = min(turns.count, room / width)
                    cut = cut || count < turns.count
                    turns.removeLast(turns.count - count)
                    services[service].characteristics[index].rules[rule].turns = count > 1 ? turns : []
                    room -= count * width
                }
                guard cut else { continue }
                services[service].characteristics[index].notes.append(
                    "there are more answers than a profile gives in turn; only the first are kept")
            }
        }
    }
}

/// Builds the characteristics of an observed device.
private struct CharacteristicModel {
    let device: ObservedDevice
    let sent: SentValues
    /// The indices of the service and the characteristic, by value handle.
    private var places: [AttributeHandle: (service: Int, characteristic: Int)] = [:]
    private var canSend: Set<AttributeHandle> = []
    private var writes: [AttributeHandle: [Int]] = [:]

    init(device: ObservedDevice, table: TableModel, sent: SentValues) {
        self.device = device
        self.sent = sent
        for (service, content) in table.services.enumerated() {
            for (index, characteristic) in content.characteristics.enumerated() {
                places[characteristic.value] = (service, index)
                if !characteristic.properties.isDisjoint(with: .anyUpdate) {
                    canSend.insert(characteristic.value)
                }
            }
        }
        for (index, write) in server.writes.enumerated() { writes[write.handle, default: []].append(index) }
    }

    private var server: ObservedServer { device.server }

    func characteristic(_ found: TableModel.Characteristic) -> ImportedProfile.Characteristic {
        var result = ImportedProfile.Characteristic(
            uuid: found.uuid, properties: found.properties, notes: found.notes)
        if found.properties.contains(.read) {
            result.permissions.read = requirement(found.value, isWrite: false)
            result.readError = error(found.value, isWrite: false)
            result.notes += passing(found.value, isWrite: false)
        }
        if !found.properties.isDisjoint(with: .anyWrite) {
            result.permissions.write = requirement(found.value, isWrite: true)
            addWrites(found, &result)
        }
        if let configuration = found.configuration, canSend.contains(found.value) {
            result.permissions.notify = requirement(configuration, isWrite: true)
        }
        addValue(found, &result)
        result.descriptors = found.descriptors.map { handle, uuid in
            descriptor(
                handle, uuid, isWritable: uuid == GATT.userDescription && found.isDescriptionWritable)
        }
        return result
    }

    // MARK: Values

    private func addValue(
        _ found: TableModel.Characteristic, _ result: inout ImportedProfile.Characteristic
    ) {
        let isSender = canSend.contains(found.value)
        if isSender { addGreetings(found, &result) }
        if isSender {
            result.subscription = sent.subscription(to: found)
            if let note = sent.note(onSubscriptionsTo: found) { result.notes.append(note) }
        }
        if let place = sent.exceptions[found.value] {
            let time = server.sent.time(at: place) - (linkStart(of: place) ?? server.sent.time(at: place))
            result.notes.append(
                """
                one value that no request caused is left out: \
                \(PlainText.hex(server.sent.value(at: place))), \
                \(Self.seconds(time)) after the link began
                """)
        }
        if isSender, let places = sent.recorded[found.value] {
            let initial = initial(found, before: places)
            let recorded = recording(places, of: found, &result)
            result.value = .recorded(recorded, initial: initial)
            return
        }
        if isSender, !sent.answering.contains(found.value), sent.exceptions[found.value] == nil {
            result.notes.append("no value was sent")
        }
        guard found.properties.contains(.read) else { return }
        if let reading = server.table.readings[found.value] {
            if reading.value.count > GATT.maximumValueLength {
                result.notes.append("its value is longer than 512 bytes")
            } else {
                if !reading.value.isEmpty { result.value = .bytes(reading.value) }
                if !reading.isWhole { result.notes.append("only the beginning of its value was read") }
                if reading.hasChanged {
                    result.notes.append("later reads had other values; this is the first")
                }
            }
        } else if result.readError == nil {
            result.notes.append("its value was never read")
        }
    }

    /// Returns the value that was read before the first value was sent.
    ///
    /// Returns `nil` if the two values are equal, or if no such value was read.
    private func initial(
        _ found: TableModel.Characteristic, before places: [Int]
    ) -> [UInt8]? {
        guard found.properties.contains(.read), let reading = server.table.readings[found.value],
            reading.isWhole, reading.value.count <= GATT.maximumValueLength, let first = places.first,
            reading.time < server.sent.time(at: first), reading.value != Array(server.sent.value(at: first))
        else { return nil }
        return reading.value
    }

    /// A link, with the start of the subscription or of the link, from which the times of values are counted.
    private struct Origin: Hashable {
        var link: Int
        var start: Int64?
    }

    /// Returns the values that were sent during one subscription, which is the one with the most values.
    private func recording(
        _ places: [Int], of found: TableModel.Characteristic,
        _ result: inout ImportedProfile.Characteristic
    ) -> [ImportedProfile.RecordedValue] {
        let subscriptions = subscriptions(found)
        // Both lists are in the order of the capture, so for each value only the subscriptions since the
        // previous value have to be searched.
        var groups: [(start: Int64?, places: [Int])] = []
        var known: [Origin: Int] = [:]
        var starts: [Int: Int64] = [:]
        var position = 0
        for place in places {
            let (time, link) = (server.sent.time(at: place), server.sent.link(at: place))
            while position < subscriptions.count, subscriptions[position].sentAt <= time {
                starts[subscriptions[position].link] = subscriptions[position].time
                position += 1
            }
            let start = starts[link] ?? server.start(ofLink: link)
            let origin = Origin(link: link, start: start)
            if let index = known[origin] {
                groups[index].places.append(place)
            } else {
                known[origin] = groups.count
                groups.append((start, [place]))
            }
        }
        guard var best = groups.max(by: { $0.places.count < $1.places.count }), let first = best.places.first
        else { return [] }
        if groups.count > 1 {
            result.notes.append("it was sent in \(groups.count) subscriptions; this is the longest of them")
        }
        let limit = ImportedProfile.recordingLimit
        result.isCut =
            best.places.count > limit || server.limits.contains { $0.handle == found.value }
        if result.isCut {
            result.notes.append("only the first \(limit) values are kept")
            best.places.removeLast(max(0, best.places.count - limit))
        }
        var start = best.start ?? server.sent.time(at: first)
        let long = best.places.count { server.sent.value(at: $0).count > GATT.maximumValueLength }
        if long > 0 {
            let values = long.counting("value is", "values are")
            result.notes.append("\(values) longer than 512 bytes, and left out")
        }
        var last: Int64 = 0
        return best.places.compactMap { place in
            let value = server.sent.value(at: place)
            guard value.count <= GATT.maximumValueLength else { return nil }
            // The recording must not end if the clock was set back during the capture.
            let time = server.sent.time(at: place)
            if time &- start < last - ImportedProfile.smallJump { start = time &- last }
            last = min(max(last, time &- start), ImportedProfile.longestTime)
            return .init(time: last, value: value)
        }
    }

    /// Returns the writes that begin a subscription, without the repeated writes that phones send.
    private func subscriptions(_ found: TableModel.Characteristic) -> [ObservedServer.Write] {
        var isOn = SubscriptionSwitch()
        return (found.configuration.flatMap { writes[$0] } ?? []).map { server.writes[$0] }.filter {
            $0.outcome != .unanswered && isOn.update($0)
        }
    }

    /// Returns the time at which a value's link was established, or `nil` if that was before the capture.
    private func linkStart(of place: Int) -> Int64? { server.start(ofLink: server.sent.link(at: place)) }

    /// Adds the values that a subscription causes.
    private func addGreetings(
        _ found: TableModel.Characteristic, _ result: inout ImportedProfile.Characteristic
    ) {
        let pattern = TimedRequest.Pattern.subscription(found.value)
        if let reaction = sent.table.reactions[pattern] {
            result.greetings = answers(reaction, &result)
        }
        guard let reaction = sent.table.reactions[pattern] ?? sent.table.rare[pattern] else { return }
        // If there are answers in turn, only the first of them follows each subscription.
        let others = reaction.otherCount + max(0, reaction.turns.count - 1)
        guard others > 0 else { return }
        result.notes.append(
            """
            after \(others) of \(reaction.requestCount.counting("subscription")) other values came, or none\
            \(example(reaction.other)); they are left out
            """)
    }

    /// Returns those answers of a reaction that a profile can express.
    private func answers(
        _ reaction: AnswerTable.Reaction, _ result: inout ImportedProfile.Characteristic
    ) -> [ImportedProfile.Answer] {
        reaction.answers.compactMap { answer in
            guard canSend.contains(answer.handle), let place = places[answer.handle] else { return nil }
            guard answer.value.count <= GATT.maximumValueLength else {
                result.notes.append("an answer of \(answer.value.count) bytes is left out: the most are 512")
                return nil
            }
            return .init(
                service: place.service, characteristic: place.characteristic, value: answer.value,
                delay: answer.delay)
        }
    }

    // MARK: Writes

    private func addWrites(
        _ found: TableModel.Characteristic, _ result: inout ImportedProfile.Characteristic
    ) {
        let indices = writes[found.value] ?? []
        if indices.isEmpty { result.notes.append("it was never written") }
        let canRefuse = !found.properties.isDisjoint(with: [.write, .reliableWrite])
        if canRefuse { result.writeError = error(found.value, isWrite: true) }
        result.notes += passing(found.value, isWrite: true)
        guard result.writeError == nil else { return }
        var rules: [ImportedProfile.Rule] = []
        var unanswered: [[UInt8]] = []
        var others: [(written: [UInt8], reaction: AnswerTable.Reaction, isAnswered: Bool)] = []
        for tried in attempts(indices.filter { !sent.earlyWrites.contains($0) }) {
            guard !tried.value.isEmpty, tried.value.count <= GATT.maximumValueLength else {
                result.notes.append("a write of \(tried.value.count) bytes is left out")
                continue
            }
            var rule = ImportedProfile.Rule(written: tried.value)
            let pattern = TimedRequest.Pattern.write(found.value, tried.value)
            let reaction = sent.table.reactions[pattern]
            if canRefuse, let code = tried.refusal { rule.error = code }
            if let note = canRefuse ? tried.note : nil, !result.notes.contains(note) {
                result.notes.append(note)
            }
            if rule.error == nil, let reaction {
                rule.answers = answers(reaction, &result)
                // If an answer was left out, the turns do not correspond to the remaining ones.
                if rule.answers.count == reaction.answers.count { rule.turns = reaction.turns }
            }
            if let reaction = reaction ?? sent.table.rare[pattern] {
                let isAnswered = !rule.answers.isEmpty
                if reaction.otherCount > 0 || !isAnswered {
                    others.append((tried.value, reaction, isAnswered))
                }
            }
            let isSetter = { (state: StateFinder.State) in
                state.setter == StateFinder.Setter(handle: found.value, value: tried.value)
            }
            rule.begins = rule.error == nil ? sent.states.firstIndex(where: isSetter) : nil
            if rule.error != nil || !rule.answers.isEmpty || rule.begins != nil {
                rules.append(rule)
            } else {
                unanswered.append(tried.value)
            }
        }
        // Rules for states come first, so that the limit never removes only one of two related rules.
        result.rules =
            earlyRules(found.value, &result)
            + RulePatterns.joined(rules, unanswered: unanswered).stablePartition { $0.begins != nil }
        note(others, &result)
        let left = result.rules.count - ImportedProfile.ruleLimit
        guard left > 0 else { return }
        result.rules.removeLast(left)
        result.notes.append(
            """
            more than \(ImportedProfile.ruleLimit) different writes were answered; \(left) of them are left \
            out
            """)
    }

    /// Returns the rules for writes before another write changes the device's state (`StateFinder`).
    private func earlyRules(
        _ handle: AttributeHandle, _ result: inout ImportedProfile.Characteristic
    ) -> [ImportedProfile.Rule] {
        var rules: [ImportedProfile.Rule] = []
        for (number, state) in sent.states.enumerated() {
            for guarded in state.guarded where guarded.handle == handle {
                var rule = ImportedProfile.Rule(written: guarded.written, isPrefix: guarded.isPrefix)
                rule.before = number
                if case .refused(let code) = guarded.before { rule.error = code }
                let pattern = TimedRequest.Pattern.earlyWrite(handle, guarded.written, state: number)
                if let reaction = sent.table.reactions[pattern] { rule.answers = answers(reaction, &result) }
                guard rule.error != nil || !rule.answers.isEmpty else { continue }
                rules.append(rule)
                result.notes.append(
                    """
                    what \(PlainText.hex(guarded.written[...]))\(guarded.isPrefix ? " .." : "") got changed \
                    when \(PlainText.hex(state.setter.value[...])) was written; the variable \
                    \(ImportedProfile.stateName(number)) is 1 from then on
                    """)
            }
        }
        // Rules for whole values precede rules for first bytes.
        return rules.stablePartition { !$0.isPrefix }
    }

    /// All writes of one value to one characteristic.
    private struct Attempt {
        var value: [UInt8]
        var accepted = 0
        /// The number of refused writes, by the error code, if the error is specific to the device.
        var refused: [UInt8: Int] = [:]

        /// The error that most of the writes got, or `nil` if most succeeded.
        var refusal: UInt8? {
            guard let most = refused.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
            return most.value > accepted ? most.key : nil
        }

        /// A note if the writes had different outcomes, or `nil`.
        var note: String? {
            guard !refused.isEmpty else { return nil }
            if accepted > 0 {
                return refusal == nil
                    ? "a value that was refused was accepted at another time; the profile accepts it"
                    : "a value that was accepted was refused most times; the profile refuses it"
            }
            return refused.count > 1 ? "a value was refused with several errors; this is the usual one" : nil
        }
    }

    /// Returns the written values, in the order of their first writes.
    private func attempts(_ indices: [Int]) -> [Attempt] {
        var result: [Attempt] = []
        var known: [[UInt8]: Int] = [:]
        for index in indices {
            let write = server.writes[index]
            let place = known[write.value] ?? result.count
            if place == result.count {
                known[write.value] = place
                result.append(Attempt(value: write.value))
            }
            if write.isAccepted { result[place].accepted += 1 }
            if case .refused(let code) = write.outcome, Self.isOwn(code) {
                result[place].refused[code, default: 0] += 1
            }
        }
        return result
    }

    /// The maximum number of requests that each get their own note about omitted answers.
    private static let listed = 8

    /// Adds notes about omitted answers.
    private func note(
        _ others: [(written: [UInt8], reaction: AnswerTable.Reaction, isAnswered: Bool)],
        _ result: inout ImportedProfile.Characteristic
    ) {
        for (written, reaction, isAnswered) in others.prefix(Self.listed) {
            let count = "\(reaction.otherCount) of \(reaction.requestCount.counting("write"))"
            let writes = "\(count) of \(PlainText.hex(written[...]))"
            let example = example(reaction.other)
            result.notes.append(
                isAnswered
                    ? "\(writes) had another answer\(example), or none; the usual one is kept"
                    : "\(writes) had an answer\(example), and the others had none; it is left out")
        }
        let rest = others.dropFirst(Self.listed)
        if !rest.isEmpty {
            let count = rest.reduce(0) { $0 + $1.reaction.otherCount }
            result.notes.append(
                "\(count) other answers to \(rest.count.counting("more write")) are left out in this way")
        }
        if result.rules.contains(where: { !$0.turns.isEmpty }) {
            result.notes.append("answers that were never the same are given in turn, as in the capture")
        }
    }

    /// Returns the text for an answer in a note.
    private func example(_ answers: [AnswerTable.Answer]?) -> String {
        guard let first = answers?.first else { return "" }
        let rest = (answers?.count ?? 1) - 1
        return ", such as \(PlainText.hex(first.value[...]))" + (rest > 0 ? " and \(rest) more" : "")
    }

    private static func seconds(_ microseconds: Int64) -> String {
        Duration.milliseconds(max(0, microseconds) / 1000).text
    }

    // MARK: Security and errors

    /// Whether an error is specific to the device, and not about security or an invalid request.
    private static func isOwn(_ code: UInt8) -> Bool {
        code >= 0x80 && passing[code] == nil || code == ATTError.valueNotAllowed.code
            || code == ATTError.invalidAttributeValueLength.code
    }

    /// The errors for temporary conditions, which end when the client or the device has acted (Core
    /// Specification Supplement, Part B, 1.2).
    private static let passing: [UInt8: String] = [
        0xFD: "Client Characteristic Configuration Descriptor Improperly Configured",
        0xFE: "Procedure Already in Progress",
    ]

    /// The errors about the security of a link, which are converted to permissions.
    private static let security: Set<UInt8> = [0x05, 0x08, 0x0C, 0x0F]

    /// Returns notes about omitted errors.
    ///
    /// These are errors for temporary conditions, errors that are not specific to the device, and errors of
    /// reads that succeeded at another time.
    private func passing(_ handle: AttributeHandle, isWrite: Bool) -> [String] {
        let isRead = server.table.readings[handle] != nil
        return (server.table.refusals[handle] ?? []).filter { $0.isWrite == isWrite }.compactMap { refusal in
            let code = refusal.code
            let error = "\(isWrite ? "a write" : "a read") got the error 0x\(Hex.encode([code]))"
            if let name = Self.passing[code] {
                return "\(error) (\(name)), a temporary condition, which is left out"
            }
            if Self.security.contains(code) { return nil }
            if isWrite { return Self.isOwn(code) ? nil : "\(error), which is left out" }
            if isRead { return "\(error) at another time, which is left out" }
            return Self.isRefusal(code) ? nil : "\(error), which is left out"
        }
    }

    /// Returns the error that every access got, or `nil` if any access succeeded.
    private func error(_ handle: AttributeHandle, isWrite: Bool) -> UInt8? {
        if isWrite {
            let outcomes = (writes[handle] ?? []).map { server.writes[$0].outcome }
            let codes = Set(
                outcomes.compactMap { if case .refused(let code) = $0 { code } else { UInt8?.none } })
            // If all writes had the same value, the device may have refused only that value.
            let values = Set((writes[handle] ?? []).map { server.writes[$0].value })
            guard let code = codes.first, codes.count == 1, values.count > 1,
                !(writes[handle] ?? []).contains(where: { server.writes[$0].isAccepted }), Self.isOwn(code)
            else { return nil }
            return code
        }
        guard server.table.readings[handle] == nil else { return nil }
        return server.table.refusals[handle]?.first { !$0.isWrite && Self.isRefusal($0.code) }?.code
    }

    /// Whether a read error is part of the profile; errors about security become permissions instead.
    private static func isRefusal(_ code: UInt8) -> Bool {
        isOwn(code) || code == ATTError.readNotPermitted.code || code == ATTError.unlikelyError.code
    }

    /// Returns the security that the errors of an attribute imply.
    private func requirement(_ handle: AttributeHandle, isWrite: Bool) -> SecurityRequirement {
        var result = SecurityRequirement.open
        for refusal in server.table.refusals[handle] ?? [] where refusal.isWrite == isWrite {
            switch refusal.code {
            case ATTError.insufficientAuthorization.code: return .authorized
            case ATTError.insufficientAuthentication.code:
                // The device refused an encrypted link, so it requires MITM protection. After a pairing with
                // MITM protection, the capture does not show whether a weaker key would be enough.
                let needsMore = refusal.isEncrypted || device.pairsAuthenticated
                if needsMore { result = .authenticated }
                if result == .open { result = .encrypted }
            case ATTError.insufficientEncryption.code, ATTError.insufficientEncryptionKeySize.code:
                if result == .open { result = .encrypted }
            default: break
            }
        }
        return result
    }

    // MARK: Descriptors

    private func descriptor(
        _ handle: AttributeHandle, _ uuid: BluetoothUUID, isWritable: Bool
    ) -> ImportedProfile.Descriptor {
        var result = ImportedProfile.Descriptor(uuid: uuid)
        result.permissions.read = requirement(handle, isWrite: false)
        if let reading = server.table.readings[handle] {
            if reading.value.count <= GATT.maximumValueLength { result.value = reading.value }
            if !reading.isWhole { result.notes.append("only the beginning of its value was read") }
        } else {
            result.notes.append("its value was never read")
        }
        let outcomes = (writes[handle] ?? []).map { server.writes[$0].outcome }
        if isWritable || outcomes.contains(.stored) {
            result.properties.insert(.write)
            result.permissions.write = requirement(handle, isWrite: true)
        }
        return result
    }
}

extension ObservedServer.Write {
    /// Whether the device accepted the write, as far as the capture shows.
    fileprivate var isAccepted: Bool { outcome == .stored || outcome == .sent }
}

extension Array {
    /// Returns the elements that meet a condition, followed by the others; both keep their order.
    fileprivate func stablePartition(_ isFirst: (Element) -> Bool) -> [Element] {
        filter(isFirst) + filter { !isFirst($0) }
    }
}

extension ImportedProfile {
    /// The latest time of a recorded value, in microseconds: a week.
    static let longestTime: Int64 = 604_800_000_000
}
