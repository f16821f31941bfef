import MynahCore
import MynahSupport

extension ImportedProfile {
    /// The most rules of one characteristic: more writes are the transfer of a file, and no behavior.
    static let ruleLimit = 64
    /// The most values of one recording.
    static let recordingLimit = 100_000

    /// The profile of an observed device; `fallback` is its name if it has none.
    init(_ device: ObservedDevice, fallback: String) {
        let server = device.server
        let table = TableModel(server.table)
        var advertised = AdvertisementData(device.advertising.usualData)
        advertised.add(device.advertising.usualScanResponse)
        let read = table.nameHandle.flatMap { server.table.readings[$0] }.flatMap {
            PlainText.name(String(decoding: $0.value, as: UTF8.self))
        }
        let heard = advertised.localName.flatMap { PlainText.name($0) }
        name = read ?? heard ?? fallback
        deviceName = read ?? heard
        if let value = table.appearanceHandle.flatMap({ server.table.readings[$0]?.value }), value.count == 2
        {
            let number = UInt16(value[0]) | UInt16(value[1]) << 8
            // 0 is an unknown appearance, which a device without one has too.
            appearance = number == 0 ? nil : number
        }
        appearance = appearance ?? advertised.appearance
        if let handle = table.appearanceHandle, server.table.readings[handle] == nil, appearance == nil {
            notes.append("the appearance was never read")
        }
        io = device.io
        if device.advertising.isEmpty {
            notes.append("no advertisement of the device was seen")
        } else {
            advertising = ImportedAdvertising(device.advertising, appearance: appearance)
        }
        if !server.isDiscovered { notes.append("no connection to the device was seen") }
        if device.usesEnhancedATT {
            notes.append("some requests went over Enhanced ATT (EATT), which is not imported")
        }
        notes += server.notes + table.notes
        let sent = SentValues(
            server, services: table.services.map { $0.characteristics.map(\.value) })
        let model = CharacteristicModel(device: device, table: table, sent: sent)
        services = table.services.map { service in
            Service(
                uuid: service.uuid, isPrimary: service.isPrimary, includes: service.includes,
                characteristics: service.characteristics.map(model.characteristic),
                notes: service.notes)
        }
        warnings = server.limits.filter { $0.handle == nil }.map(\.text)
        for characteristic in services.flatMap(\.characteristics) where characteristic.isCut {
            warnings.append("only the first \(Self.recordingLimit) values of \(characteristic.uuid) are kept")
        }
    }
}

/// Makes the characteristics of an observed device.
private struct CharacteristicModel {
    let device: ObservedDevice
    let sent: SentValues
    /// The place of each value.
    private var places: [AttributeHandle: (service: Int, characteristic: Int)] = [:]
    private var canSend: Set<AttributeHandle> = []
    private var writes: [AttributeHandle: [Int]] = [:]
    /// The values that answered writes.
    private let answered: Set<AttributeHandle>

    init(device: ObservedDevice, table: TableModel, sent: SentValues) {
        self.device = device
        self.sent = sent
        answered = Set(sent.answers.values.joined().map(\.handle))
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
        if canSend.contains(found.value), let places = sent.recorded[found.value] {
            let initial = initial(found, before: places)
            let recorded = recording(places, of: found, &result)
            result.value = .recorded(recorded, initial: initial)
            return
        }
        if canSend.contains(found.value), !answered.contains(found.value) {
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

    /// The value that was read before the first was sent, if it is another.
    private func initial(
        _ found: TableModel.Characteristic, before places: [Int]
    ) -> [UInt8]? {
        guard found.properties.contains(.read), let reading = server.table.readings[found.value],
            reading.isWhole, reading.value.count <= GATT.maximumValueLength, let first = places.first,
            reading.time < server.sent.time(at: first), reading.value != Array(server.sent.value(at: first))
        else { return nil }
        return reading.value
    }

    /// A link, and the moment from which the times of its values count.
    private struct Origin: Hashable {
        var link: Int
        var start: Int64?
    }

    /// The values after the subscription in which most were sent.
    private func recording(
        _ places: [Int], of found: TableModel.Characteristic,
        _ result: inout ImportedProfile.Characteristic
    ) -> [ImportedProfile.RecordedValue] {
        let subscriptions = (found.configuration.flatMap { writes[$0] } ?? []).map { server.writes[$0] }
            .filter { $0.outcome != .unanswered && $0.value.first.map { $0 & 3 != 0 } == true }
        // Times of both are in the order of the capture, so each value needs only the subscriptions since the
        // one before it.
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
            let start = starts[link] ?? server.linkStarts[link]
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
        let start = best.start ?? server.sent.time(at: first)
        var last: Int64 = 0
        return best.places.compactMap { place in
            let value = server.sent.value(at: place)
            guard value.count <= GATT.maximumValueLength else { return nil }
            // A clock that was set back in the middle must not stop the recording.
            last = min(max(last, server.sent.time(at: place) &- start), ImportedProfile.longestTime)
            return .init(time: last, value: value)
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
        let accepted = Set(indices.map { server.writes[$0] }.filter(\.isAccepted).map(\.value))
        var seen: [[UInt8]: Int] = [:]
        var differs = false
        var wasAcceptedLater = false
        for index in indices {
            let write = server.writes[index]
            guard !write.value.isEmpty, write.value.count <= GATT.maximumValueLength else { continue }
            var rule = ImportedProfile.Rule(written: write.value)
            if case .refused(let code) = write.outcome, Self.isOwn(code), canRefuse {
                if accepted.contains(write.value) {
                    wasAcceptedLater = true
                    continue
                }
                rule.error = code
            }
            rule.answers = (sent.answers[index] ?? []).compactMap { answer in
                guard canSend.contains(answer.handle), let place = places[answer.handle],
                    answer.value.count <= GATT.maximumValueLength
                else { return nil }
                return .init(
                    service: place.service, characteristic: place.characteristic, value: answer.value,
                    delay: answer.delay)
            }
            guard rule.error != nil || !rule.answers.isEmpty else { continue }
            if let earlier = seen[write.value] {
                let other = result.rules[earlier]
                if other.error != rule.error || other.answers.map(\.value) != rule.answers.map(\.value) {
                    differs = true
                }
            } else if result.rules.count < ImportedProfile.ruleLimit {
                seen[write.value] = result.rules.count
                result.rules.append(rule)
            } else {
                result.notes.append("more than \(ImportedProfile.ruleLimit) different writes were answered")
                break
            }
        }
        if wasAcceptedLater {
            result.notes.append(
                "a value that was refused was accepted at another time; the profile accepts it")
        }
        if differs { result.notes.append("some writes had other answers later; these are the first") }
    }

    // MARK: Security and errors

    /// Whether an error is the device's own, and not one of a link's security or of a wrong request.
    private static func isOwn(_ code: UInt8) -> Bool {
        code >= 0x80 && passing[code] == nil || code == ATTError.valueNotAllowed.code
            || code == ATTError.invalidAttributeValueLength.code
    }

    /// Errors of profiles and services that are over when the client has done its part, or the device has
    /// (Core Specification Supplement, Part B, 1.2).
    private static let passing: [UInt8: String] = [
        0xFD: "Client Characteristic Configuration Descriptor Improperly Configured",
        0xFE: "Procedure Already in Progress",
    ]

    /// Notes about errors that only reported a temporary condition, and are left out.
    private func passing(_ handle: AttributeHandle, isWrite: Bool) -> [String] {
        (server.table.refusals[handle] ?? []).filter { $0.isWrite == isWrite }.compactMap { refusal in
            Self.passing[refusal.code].map { name in
                """
                \(isWrite ? "a write" : "a read") got the error 0x\(Hex.encode([refusal.code])) (\(name)), a \
                temporary condition, which is left out
                """
            }
        }
    }

    /// The error that each access got, if none succeeded.
    private func error(_ handle: AttributeHandle, isWrite: Bool) -> UInt8? {
        if isWrite {
            let outcomes = (writes[handle] ?? []).map { server.writes[$0].outcome }
            let codes = Set(
                outcomes.compactMap { if case .refused(let code) = $0 { code } else { UInt8?.none } })
            // Writes of one value may be refused for that value.
            let values = Set((writes[handle] ?? []).map { server.writes[$0].value })
            guard let code = codes.first, codes.count == 1, values.count > 1,
                !(writes[handle] ?? []).contains(where: { server.writes[$0].isAccepted }), Self.isOwn(code)
            else { return nil }
            return code
        }
        guard server.table.readings[handle] == nil else { return nil }
        return server.table.refusals[handle]?.first { !$0.isWrite && Self.isRefusal($0.code) }?.code
    }

    /// Whether a read error is the device's answer, and not a matter of security.
    private static func isRefusal(_ code: UInt8) -> Bool {
        isOwn(code) || code == ATTError.readNotPermitted.code || code == ATTError.unlikelyError.code
    }

    /// The security that the errors of an attribute ask for.
    private func requirement(_ handle: AttributeHandle, isWrite: Bool) -> SecurityRequirement {
        var result = SecurityRequirement.open
        for refusal in server.table.refusals[handle] ?? [] where refusal.isWrite == isWrite {
            switch refusal.code {
            case ATTError.insufficientAuthorization.code: return .authorized
            case ATTError.insufficientAuthentication.code:
                // On an encrypted link, the key is not enough. After a pairing with MITM protection
                // it is not known whether a weaker one would have been enough.
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
    /// Whether the device took it, as far as the capture shows.
    fileprivate var isAccepted: Bool { outcome == .stored || outcome == .sent }
}

extension ImportedProfile {
    /// The longest time of a recorded value, in microseconds: a week.
    static let longestTime: Int64 = 604_800_000_000
}
