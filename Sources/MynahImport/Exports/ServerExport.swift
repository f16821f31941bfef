import MynahCore
import MynahSupport

/// Imports a GATT server that nRF Connect for Mobile exported (XML).
enum ServerExport {
    /// Returns the device, with warnings about omitted parts.
    static func profile(of root: XMLElement) throws(ImportProblem) -> (ImportedProfile, [String]) {
        guard root.name == "server-configuration" else {
            throw ImportProblem(
                """
                this is XML of <\(root.name)>; of nRF Connect, <server-configuration> is imported, which \
                Configure GATT server exports, and <macro>
                """, onLine: root.line)
        }
        var warnings: [String] = []
        var profile = ImportedProfile(
            name: root.attributes["name"].flatMap { PlainText.name($0) } ?? "Imported device")
        for element in root.children {
            guard element.name == "service" else {
                warnings.append(leftOut(element))
                continue
            }
            if let service = try service(element, &warnings) { profile.services.append(service) }
        }
        guard !profile.services.isEmpty else {
            throw ImportProblem("it has no service that a profile can have", onLine: root.line)
        }
        profile.advertising = ImportedAdvertising(
            name: profile.name, services: profile.services.map(\.uuid),
            because: "the file has no advertising")
        return (profile, warnings)
    }

    private static func leftOut(_ element: XMLElement) -> String {
        "line \(element.line): <\(element.name)> is not known, and is left out"
    }

    private static func uuid(of element: XMLElement) throws(ImportProblem) -> BluetoothUUID {
        guard let text = element.attributes["uuid"] else {
            throw ImportProblem("a <\(element.name)> needs a uuid", onLine: element.line)
        }
        guard let uuid = BluetoothUUID(text) else {
            throw ImportProblem(
                "the uuid of a <\(element.name)> must have 4, 8 or 32 hexadecimal digits",
                onLine: element.line)
        }
        return uuid.shortest
    }

    static func value(of element: XMLElement) throws(ImportProblem) -> [UInt8]? {
        if let text = element.attributes["value-string"], !text.isEmpty {
            return try value(Array(text.utf8), of: element)
        }
        guard var text = element.attributes["value"], !text.isEmpty else { return nil }
        for prefix in ["(0x)", "0x"] where text.hasPrefix(prefix) { text.removeFirst(prefix.count) }
        guard let bytes = Hex.decode(text) else {
            throw ImportProblem(
                "the value of a <\(element.name)> must be pairs of hexadecimal digits", onLine: element.line)
        }
        return try value(bytes, of: element)
    }

    private static func value(_ bytes: [UInt8], of element: XMLElement) throws(ImportProblem) -> [UInt8] {
        guard bytes.count <= GATT.maximumValueLength else {
            throw ImportProblem(
                "the value of a <\(element.name)> has \(bytes.count) bytes; it can have 512",
                onLine: element.line)
        }
        return bytes
    }

    private static func service(
        _ element: XMLElement, _ warnings: inout [String]
    ) throws(ImportProblem) -> ImportedProfile.Service? {
        let uuid = try uuid(of: element)
        // The radio itself adds these services.
        guard uuid != GATT.genericAccess, uuid != GATT.genericAttribute else { return nil }
        guard ImportedAdvertising.isService(uuid) else {
            warnings.append("line \(element.line): \(uuid) cannot be the UUID of a service; it is left out")
            return nil
        }
        var service = ImportedProfile.Service(uuid: uuid)
        for child in element.children {
            guard child.name == "characteristic" else {
                warnings.append(leftOut(child))
                continue
            }
            if let characteristic = try characteristic(child, &warnings) {
                service.characteristics.append(characteristic)
            }
        }
        return service
    }

    private static let properties: [String: CharacteristicProperties] = [
        "BROADCAST": .broadcast, "READ": .read, "WRITE": .write,
        "WRITE_WITHOUT_RESPONSE": .writeWithoutResponse, "NOTIFY": .notify, "INDICATE": .indicate,
        "SIGNED_WRITE": .authenticatedSignedWrites, "EXTENDED_PROPERTIES": .extendedProperties,
    ]

    private static func characteristic(
        _ element: XMLElement, _ warnings: inout [String]
    ) throws(ImportProblem) -> ImportedProfile.Characteristic? {
        let uuid = try uuid(of: element)
        var result = ImportedProfile.Characteristic(uuid: uuid, properties: [])
        // To subscribe, a client writes the Client Characteristic Configuration.
        var notify = SecurityRequirement.open
        for child in element.children {
            switch child.name {
            case "property":
                let name = child.attributes["name"] ?? ""
                guard let property = properties[name] else {
                    throw ImportProblem(
                        "the property \(PlainText.name(name) ?? "") is not known", onLine: child.line)
                }
                result.properties.insert(property)
            case "permission": break
            case "descriptor" where try isConfiguration(child):
                notify = try permissions(of: child).levels.write
            case "descriptor":
                if let descriptor = try descriptor(child, &warnings) { result.descriptors.append(descriptor) }
            default: warnings.append(leftOut(child))
            }
        }
        guard ImportedAdvertising.isService(uuid), !result.properties.isEmpty else {
            warnings.append(
                "line \(element.line): the characteristic \(uuid) is not one that a profile can have")
            return nil
        }
        let permissions = try permissions(of: element)
        if result.properties.contains(.read) { result.permissions.read = permissions.levels.read }
        if !result.properties.isDisjoint(with: .anyWrite) {
            result.permissions.write = permissions.levels.write
        }
        if !result.properties.isDisjoint(with: .anyUpdate) { result.permissions.notify = notify }
        let isShown = !result.properties.isDisjoint(with: [.read, .notify, .indicate, .broadcast])
        if isShown, let value = try value(of: element) { result.value = .bytes(value) }
        // A profile can have each of these descriptors only once.
        for uuid in [GATT.userDescription, "2905"] {
            if let first = result.descriptors.firstIndex(where: { $0.uuid == uuid }) {
                let kept = result.descriptors[first]
                result.descriptors.removeAll { $0.uuid == uuid }
                result.descriptors.insert(kept, at: first)
            }
        }
        return result
    }

    /// Whether a descriptor is the Client Characteristic Configuration, by its name or its UUID.
    private static func isConfiguration(_ element: XMLElement) throws(ImportProblem) -> Bool {
        if element.attributes["configure"]?.uppercased() == "CCCD" { return true }
        return try uuid(of: element) == GATT.clientConfiguration
    }

    private static func descriptor(
        _ element: XMLElement, _ warnings: inout [String]
    ) throws(ImportProblem) -> ImportedProfile.Descriptor? {
        let uuid = try uuid(of: element)
        guard uuid != GATT.extendedProperties else { return nil }
        guard !AssignedNumbers.isDeclaration(uuid) else {
            warnings.append(
                "line \(element.line): \(uuid) cannot be the UUID of a descriptor; it is left out")
            return nil
        }
        let permissions = try permissions(of: element)
        var result = ImportedProfile.Descriptor(uuid: uuid, properties: permissions.uses)
        if result.properties.isEmpty { result.properties = .read }
        if result.properties.contains(.read) { result.permissions.read = permissions.levels.read }
        if result.properties.contains(.write) { result.permissions.write = permissions.levels.write }
        result.value = try value(of: element)
        return result
    }

    /// Returns the permitted kinds of access, with the security of each, from Android's permission
    /// constants.
    private static func permissions(
        of element: XMLElement
    ) throws(ImportProblem) -> (uses: CharacteristicProperties, levels: AttributePermissions) {
        var uses: CharacteristicProperties = []
        var levels = AttributePermissions()
        for child in element.children where child.name == "permission" {
            let name = child.attributes["name"] ?? ""
            switch name {
            case "READ": uses.insert(.read)
            case "READ_ENCRYPTED", "READ_ENCRYPTED_MITM":
                uses.insert(.read)
                levels.read = name == "READ_ENCRYPTED" ? .encrypted : .authenticated
            case "WRITE", "WRITE_SIGNED": uses.insert(.write)
            case "WRITE_ENCRYPTED", "WRITE_ENCRYPTED_MITM", "WRITE_SIGNED_MITM":
                uses.insert(.write)
                levels.write = name == "WRITE_ENCRYPTED" ? .encrypted : .authenticated
            default:
                throw ImportProblem(
                    "the permission \(PlainText.name(name) ?? "") is not known", onLine: child.line)
            }
        }
        return (uses, levels)
    }
}
