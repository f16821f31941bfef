package import MynahCore
package import MynahFaults
import MynahSupport

extension Profile {
    /// The capabilities that the profile requires and that some radios lack, in the order of the file.
    package var requirements: [RadioRequirement<SourceMark>] {
        var list: [RadioRequirement<SourceMark>] = []
        if let advertising { list += requirements(of: advertising) }
        if !device.hasServiceChanged {
            let mark = marks["device.serviceChanged"] ?? .start
            list.append(RadioRequirement(.noServiceChanged, of: "device.serviceChanged", at: mark))
        }
        if parameterRequest != nil {
            let mark = marks["connection"] ?? .start
            list.append(RadioRequirement(.connectionParameters, of: "connection", at: mark))
        }
        let limits: [(key: String, need: RadioNeed, isSet: Bool)] = [
            ("centrals", .limitedCentrals, device.largestCentralCount != nil),
            ("mtu", .limitedMTU, marks["mtu"] != nil),
            ("security.keySize", .limitedKeySize, marks["security.keySize"] != nil),
        ]
        for limit in limits where limit.isSet {
            list.append(RadioRequirement(limit.need, of: limit.key, at: marks[limit.key] ?? .start))
        }
        if let app, app.connectionLatency != nil {
            let mark = app.marks["connectionLatency"] ?? .start
            list.append(RadioRequirement(.connectionParameters, of: "app.connectionLatency", at: mark))
        }
        if let app, app.channel != nil {
            let mark = app.marks["channel"] ?? .start
            list.append(RadioRequirement(.channels, of: "app.channel", at: mark))
        }
        if let phone, !phone.services.isEmpty {
            let mark = phone.marks["services"] ?? .start
            list.append(RadioRequirement(.phoneServices, of: "phone.services", at: mark))
        }
        if (linkRules.connect + linkRules.pair).flatMap(\.answers).contains(where: \.isInPieces) {
            list.append(RadioRequirement(.valuesInPieces, of: "on", at: marks["on"] ?? .start))
        }
        var hasSaidWrites = false
        for service in services {
            for error in service.behavior?.errors ?? [] {
                let mark = service.marks["behavior"] ?? service.mark
                let subject = "behavior: \(service.behavior?.rawValue ?? "")"
                list.append(RadioRequirement(.behaviorError(error), of: subject, at: mark))
            }
            if service.behavior == .linkLoss {
                let mark = service.marks["behavior"] ?? service.mark
                list.append(RadioRequirement(.lostLinks, of: "behavior: link-loss", at: mark))
            }
            for characteristic in service.characteristics {
                list += requirements(of: characteristic, hasSaidWrites: &hasSaidWrites)
            }
        }
        return list.sorted { ($0.location.line, $0.location.column) < ($1.location.line, $1.location.column) }
    }

    /// Returns the issues for parts of the profile that a radio cannot play as written.
    ///
    /// - Parameters:
    ///   - faults: The faults that the radio can carry out.
    ///   - isChosen: Whether this radio will play the profile. If so, a part that would behave differently is
    ///     an error; otherwise, every issue is a warning.
    package func issues(
        with capabilities: RadioCapabilities, faults support: FaultSupport = .ownHost, isChosen: Bool
    ) -> [ProfileIssue] {
        let issues =
            capabilities.shortcomings(requirements).map {
                issue(isChosen && $0.isFatal ? .error : .warning, at: $0.requirement.location, $0.message)
            } + faultIssues(with: capabilities, support, isChosen: isChosen)
        return issues.sorted { left, right in
            guard let left = left.mark, let right = right.mark else { return false }
            return (left.line, left.column) < (right.line, right.column)
        }
    }

    /// Returns the issues for faults that a radio cannot carry out.
    private func faultIssues(
        with capabilities: RadioCapabilities, _ support: FaultSupport, isChosen: Bool
    ) -> [ProfileIssue] {
        faults.compactMap { fault in
            fault.located { capabilities.shortcoming(of: $0, properties: fault.properties, with: support) }
                .map {
                    issue(
                        isChosen ? .error : .warning, at: $0.mark,
                        "the fault \(Words.quote(fault.fault.name)): \($0.message)")
                }
        }
    }

    private func requirements(of advertising: Advertising) -> [RadioRequirement<SourceMark>] {
        let advertisement = advertising.advertisement
        var list: [RadioRequirement<SourceMark>] = []
        func want(_ need: RadioNeed, _ field: String) {
            let mark = advertising.marks[field] ?? advertising.marks[""] ?? .start
            list.append(RadioRequirement(need, of: "advertising.\(field)", at: mark))
        }
        if let app {
            // The phone's default intervals are not requested by the profile.
            let phone = App()
            for (field, interval, usual) in [
                ("foregroundInterval", app.foregroundInterval, phone.foregroundInterval),
                ("backgroundInterval", app.backgroundInterval, phone.backgroundInterval),
            ] where interval != usual {
                guard let mark = app.marks[field] else { continue }
                list.append(RadioRequirement(.advertisingInterval(interval), of: "app.\(field)", at: mark))
            }
            // The phone determines all other advertising of an app.
            return list
        }
        if !advertisement.otherSets.isEmpty { want(.exactAdvertising("several sets at once"), "") }
        if let interval = advertisement.interval {
            want(.advertisingInterval(interval), "interval")
        }
        for (need, field) in advertisement.exactNeeds { want(.exactAdvertising(need), field) }
        let response = advertisement.scanResponse
        if !AccessoryAdvertising.fields(of: response).isEmpty { want(.scanResponseFields, "scanResponse") }
        for contents in [advertisement.data, response] {
            for uuid in contents.serviceUUIDs where uuid.width != uuid.shortest.width {
                want(.advertisedWidth(uuid), "serviceUUIDs")
            }
            for uuid in contents.solicitedServiceUUIDs where uuid.width != uuid.shortest.width {
                want(.advertisedWidth(uuid), "solicitedServiceUUIDs")
            }
            if contents.manufacturerData.contains(where: \.data.isEmpty) {
                want(.emptyAdvertisingData, "manufacturerData")
            }
            if contents.serviceData.contains(where: \.data.isEmpty) {
                want(.emptyAdvertisingData, "serviceData")
            }
        }
        return list
    }

    private func requirements(
        of characteristic: Characteristic, hasSaidWrites: inout Bool
    ) -> [RadioRequirement<SourceMark>] {
        let properties = characteristic.properties
        let subject = "the characteristic \(characteristic.uuid)"
        var list: [RadioRequirement<SourceMark>] = []
        func want(_ need: RadioNeed, _ field: String) {
            let mark = characteristic.marks[field] ?? characteristic.mark
            list.append(RadioRequirement(need, of: subject, at: mark))
        }
        let takesCommands = properties.contains(.writeWithoutResponse)
        let takesRequests = !properties.isDisjoint(with: [.write, .reliableWrite])
        if let error = characteristic.readError { want(.readError(error), "errors.read") }
        if let error = characteristic.writeError {
            want(.writeError(error), "errors.write")
            if takesCommands, takesRequests { want(.refusalBesideCommands, "errors.write") }
        }
        for error in characteristic.reactions.write.compactMap(\.error) {
            want(.writeError(error), "on")
            if takesCommands, takesRequests { want(.refusalBesideCommands, "on") }
        }
        if characteristic.asked.contains(.write), takesCommands { want(.answersBesideCommands, "ask") }
        if takesCommands, !takesRequests, characteristic.permissions.write != .open {
            want(.protectedCommands, "permissions")
        }
        if characteristic.permissions.notify == .authorized { want(.authorizedSubscriptions, "permissions") }
        if characteristic.updates.subscription != .asked { want(.unaskedValues, "subscription") }
        if characteristic.updates.isInPieces { want(.valuesInPieces, "pieces") }
        let answers = (characteristic.reactions.write + characteristic.reactions.subscribe).flatMap(\.answers)
        if answers.contains(where: \.isInPieces) { want(.valuesInPieces, "on") }
        guard !properties.isDisjoint(with: .anyWrite) else { return list }
        // If the profile does not set the maximum of 512 bytes, one issue about it is enough.
        let isSaid = characteristic.marks["maxLength"] != nil
        if isSaid || !hasSaidWrites { want(.writes(characteristic.maximumLength), "maxLength") }
        if isSaid, takesRequests { want(.longWrites(characteristic.maximumLength), "maxLength") }
        if !isSaid { hasSaidWrites = true }
        if takesCommands, takesRequests, isSaid {
            want(.lengthLimitBesideCommands(characteristic.maximumLength), "maxLength")
        }
        return list
    }
}

extension Advertisement {
    /// The parts of the advertisement that require exact advertising bytes, each with its field.
    fileprivate var exactNeeds: [(need: String, field: String)] {
        var needs: [(String, String)] = []
        if flags != Self.usualFlags {
            needs.append(
                (flags.map { "the Flags 0x\(Hex.encode([$0]))" } ?? "nothing without Flags", "flags"))
        }
        if extended != nil { needs.append(("extended data", "extended")) }
        if address != nil { needs.append(("a set with an address of its own", "address")) }
        for contents in [data, scanResponse] {
            if case .level? = contents.txPower { needs.append(("a level of one's own", "txPower")) }
            if !contents.incompleteServiceUUIDs.isEmpty {
                needs.append(("an incomplete list of services", "serviceUUIDs"))
            }
            let companies = contents.manufacturerData.map(\.company)
            if Set(companies).count < companies.count {
                needs.append(("several data of one company", "manufacturerData"))
            }
            let services = contents.serviceData.map(\.uuid)
            if Set(services).count < services.count {
                needs.append(("several data of one service", "serviceData"))
            }
        }
        return needs
    }
}
