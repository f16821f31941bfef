import MynahConsole
import MynahCore
import MynahEmulator
import MynahFaults
import MynahProfiles
import MynahSupport
import MynahValues

/// Formats a profile as `show` prints it.
enum ProfileView {
    static func json(of profile: Profile, _ airs: [AirView]) -> JSON {
        let air = airs.first
        var fields: [JSON.Member] = [.init("profile", .string(profile.name))]
        if let state = air?.states.first { fields.append(.init("state", .string(state.rawValue))) }
        fields.append(.init("advertising", .object(air?.fields ?? [])))
        if !profile.centrals.isEmpty {
            fields.append(
                .init(
                    "scans",
                    .array(
                        (air?.scans ?? []).map {
                            .object(EventPayload.scan(.init($0)).members(of: .scanStarted))
                        })))
        }
        if let request = profile.parameterRequest {
            fields.append(.init("connection", json(of: request)))
        }
        fields += limits(of: profile).map { .init($0.name, .integer($0.number)) }
        let tree = profile.attributeTree
        fields.append(
            .init("services", .array(profile.services.indices.map { json(of: $0, in: profile, tree) })))
        if !profile.faults.isEmpty {
            fields.append(.init("faults", .array(profile.faults.map { $0.json(in: tree) })))
        }
        return .object(fields)
    }

    /// The connection parameters that an accessory requests, with names as in events.
    private static func json(of request: Profile.ParameterRequest) -> JSON {
        let wanted = request.wanted
        return .object([
            .init("intervalMilliseconds", .number(wanted.shortestInterval.milliseconds)),
            .init("intervalMaximumMilliseconds", .number(wanted.longestInterval.milliseconds)),
            .init("latency", .integer(Int(wanted.latency))),
            .init("supervisionTimeoutMilliseconds", .number(wanted.supervisionTimeout.milliseconds)),
            .init("afterMilliseconds", .number(request.delay.milliseconds)),
        ])
    }

    private static func json(of index: Int, in profile: Profile, _ tree: AttributeTree) -> JSON {
        let service = profile.services[index]
        return .object([
            .init("uuid", .string(service.uuid.description)),
            path(of: .init(service: index), tree),
            .init("primary", .bool(service.isPrimary)),
            .init(
                "includes",
                .array(
                    service.includes.map {
                        .string(numbered(profile.services[$0].uuid, .init(service: $0), tree))
                    })),
            .init(
                "characteristics",
                .array(
                    service.characteristics.indices.map {
                        json(
                            of: service.characteristics[$0], at: .init(service: index, characteristic: $0),
                            tree)
                    })),
        ])
    }

    private static func json(
        of characteristic: Profile.Characteristic, at position: AttributeTree.Position, _ tree: AttributeTree
    ) -> JSON {
        var members: [JSON.Member] = [
            .init("uuid", .string(characteristic.uuid.description)),
            path(of: position, tree),
            .init("properties", .array(characteristic.properties.names.map { .string($0) })),
        ]
        if case .bytes(let bytes) = characteristic.value, !bytes.isEmpty {
            members += JSON.members(of: bytes, layout(of: characteristic))
        }
        members += updates(of: characteristic).map { .init($0.name, .string($0.word)) }
        members.append(
            .init(
                "descriptors",
                .array(
                    characteristic.descriptors.enumerated().map { index, descriptor in
                        var position = position
                        position.descriptor = index
                        return .object([
                            .init("uuid", .string(descriptor.uuid.description)),
                            path(of: position, tree),
                            .init("properties", .array(descriptor.properties.names.map { .string($0) })),
                        ])
                    })))
        return .object(members)
    }

    /// The profile keys and values of a characteristic that change the default rules for sending its value.
    private static func updates(of characteristic: Profile.Characteristic) -> [(name: String, word: String)] {
        let subscription: [(String, String)] =
            switch characteristic.updates.subscription {
            case .asked: []
            case .none: [("subscription", "none")]
            case .always: [("subscription", "always")]
            }
        return subscription + (characteristic.updates.isInPieces ? [("pieces", "mtu")] : [])
    }

    /// The layout of a characteristic's value, or `nil` if none is known.
    private static func layout(of characteristic: Profile.Characteristic) -> ValueLayout? {
        characteristic.layout ?? KnownLayouts.layout(of: characteristic.uuid)
    }

    /// The unambiguous name of an attribute, as a member of the attribute's JSON object.
    private static func path(of position: AttributeTree.Position, _ tree: AttributeTree) -> JSON.Member {
        .init("path", .string(tree.path(of: position)))
    }

    static func text(of profile: Profile, _ airs: [AirView]) -> [String] {
        let tree = profile.attributeTree
        var lines = [profile.name, ""]
        lines += airs.flatMap(\.text)
        if let request = profile.parameterRequest { lines += ["", text(of: request)] }
        let limits = limits(of: profile)
        if !limits.isEmpty {
            lines += ["", "links  " + limits.map { "\($0.name) \($0.number)" }.joined(separator: ", ")]
        }
        for (index, service) in profile.services.enumerated() {
            lines.append("")
            let includes = service.includes.map {
                name(of: .init(service: $0), tree, profile.services[$0].uuid)
            }
            lines.append(
                "\(service.isPrimary ? "primary" : "secondary") service "
                    + name(of: .init(service: index), tree, service.uuid)
                    + (includes.isEmpty ? "" : "  includes " + includes.joined(separator: ", ")))
            for (number, characteristic) in service.characteristics.enumerated() {
                lines += text(of: characteristic, at: .init(service: index, characteristic: number), tree)
            }
        }
        if !profile.faults.isEmpty { lines += ["", "faults"] }
        lines += profile.faults.map { "  \(ScreenLine.pad($0.fault.name, 20)) \($0.text(in: tree))" }
        return lines
    }

    /// The limits for links that the profile sets, each with its key in a profile.
    static func limits(of profile: Profile) -> [(name: String, number: Int)] {
        let device = profile.device
        let (mtu, keySize) = (profile.marks["mtu"], profile.marks["security.keySize"])
        return (device.largestCentralCount.map { [("centrals", $0)] } ?? [])
            + (mtu == nil ? [] : [("mtu", device.largestMTU)])
            + (keySize == nil ? [] : [("keySize", device.largestKeySize)])
    }

    private static func text(of request: Profile.ParameterRequest) -> String {
        let wanted = request.wanted
        let (shortest, longest) = (wanted.shortestInterval.text, wanted.longestInterval.text)
        return "connection  every \(shortest == longest ? shortest : "\(shortest) to \(longest)"), "
            + "latency \(wanted.latency), timeout \(wanted.supervisionTimeout.text), requested "
            + "\(request.delay.text) after the connection began"
    }

    private static func text(
        of characteristic: Profile.Characteristic, at position: AttributeTree.Position, _ tree: AttributeTree
    ) -> [String] {
        var line = "  \(ScreenLine.pad(name(of: position, tree, characteristic.uuid), 44)) "
        line += characteristic.properties.names.joined(separator: ", ")
        switch characteristic.value {
        case .bytes(let bytes) where !bytes.isEmpty:
            line += "  = " + ValueText(bytes, layout(of: characteristic)?.decode(bytes)).text
        case .bytes: break
        case .generated(let generator): line += "  = \(type(of: generator).name)"
        }
        if let every = characteristic.every { line += " every \(every.text)" }
        line += updates(of: characteristic).map { "  \($0.name): \($0.word)" }.joined()
        return [line]
            + characteristic.descriptors.enumerated().map { index, descriptor in
                var position = position
                position.descriptor = index
                let name = ScreenLine.pad(name(of: position, tree, descriptor.uuid), 42)
                return "    \(name) \(descriptor.properties.names.joined(separator: ", "))"
                    + (descriptor.value.isEmpty ? "" : "  = " + ValueText(descriptor.value, nil).text)
            }
    }

    /// The UUID and the SIG's name, with `~N` if several attributes have the same UUID.
    private static func name(
        of position: AttributeTree.Position, _ tree: AttributeTree, _ uuid: BluetoothUUID
    ) -> String {
        numbered(uuid, position, tree) + (AssignedNumbers.name(of: uuid).map { " \($0)" } ?? "")
    }

    private static func numbered(
        _ uuid: BluetoothUUID, _ position: AttributeTree.Position, _ tree: AttributeTree
    ) -> String {
        "\(uuid)" + (tree.ordinal(of: position).map { "~\($0)" } ?? "")
    }

    static func name(of uuid: BluetoothUUID) -> String {
        AssignedNumbers.name(of: uuid).map { "\(uuid) \($0)" } ?? uuid.description
    }
}
