import MynahCore
import MynahSupport

extension Bond {
    /// The bond as JSON for its file.
    ///
    /// No other code writes keys to a file.
    var json: JSON {
        var members: [JSON.Member] = [
            .init("address", .string("\(identity)")), .init("addressType", .string(identity.kind.rawValue)),
            .init("keySize", .integer(keySize)), .init("authenticated", .bool(isAuthenticated)),
            .init("secureConnections", .bool(isSecureConnections)),
        ]
        func add(_ name: String, _ value: JSON?) {
            if let value { members.append(.init(name, value)) }
        }
        if let usedAddress {
            members.append(.init("usedAddress", .string("\(usedAddress)")))
            members.append(.init("usedAddressType", .string(usedAddress.kind.rawValue)))
        }
        add("simulated", isSimulated ? .bool(true) : nil)
        add("ownLongTermKey", ownKey?.json)
        add("peerLongTermKey", peerKey?.json)
        add("identityResolvingKey", identityResolvingKey.map { .string(Hex.encode($0.bytes)) })
        add("ownSigningKey", ownSigningKey?.json)
        add("peerSigningKey", peerSigningKey?.json)
        add(
            "configurations",
            configurations.isEmpty
                ? nil
                : .array(
                    configurations.sorted { $0.key < $1.key }.map {
                        .object([
                            .init("handle", .handle($0.key)), .init("value", .integer(Int($0.value))),
                        ])
                    }))
        add("clientFeatures", clientFeatures.isEmpty ? nil : .string(Hex.encode(clientFeatures)))
        add("serviceChanged", serviceChanged.map { .handle($0) })
        add("databaseHash", databaseHash.map { .string(Hex.encode($0)) })
        return .object(members)
    }

    /// Makes a bond from JSON; throws the name of a field that is invalid or missing.
    init(_ json: JSON) throws(FieldError) {
        guard let kind = json["addressType"]?.stringValue.flatMap(DeviceAddress.Kind.init),
            let address = json["address"]?.stringValue.flatMap({ DeviceAddress($0, kind: kind) })
        else { throw FieldError(name: "address") }
        identity = address
        guard let size = json["keySize"]?.integerValue, (7...16).contains(size) else {
            throw FieldError(name: "keySize")
        }
        keySize = size
        isSimulated = json["simulated"]?.boolValue ?? false
        isAuthenticated = json["authenticated"]?.boolValue ?? false
        isSecureConnections = json["secureConnections"]?.boolValue ?? false
        usedAddress = try Self.field("usedAddress", json) { text in
            json["usedAddressType"]?.stringValue.flatMap(DeviceAddress.Kind.init).flatMap { kind in
                text.stringValue.flatMap { DeviceAddress($0, kind: kind) }
            }
        }
        ownKey = try Self.field("ownLongTermKey", json) { LongTermKey($0) }
        peerKey = try Self.field("peerLongTermKey", json) { LongTermKey($0) }
        identityResolvingKey = try Self.field("identityResolvingKey", json) { SecretKey($0) }
        ownSigningKey = try Self.field("ownSigningKey", json) { SigningKey($0) }
        peerSigningKey = try Self.field("peerSigningKey", json) { SigningKey($0) }
        for entry in json["configurations"]?.arrayValue ?? [] {
            guard let handle = entry["handle"]?.handleValue,
                let value = entry["value"]?.integerValue.flatMap(UInt16.init(exactly:))
            else { throw FieldError(name: "configurations") }
            configurations[handle] = value
        }
        clientFeatures =
            try Self.field("clientFeatures", json) { $0.stringValue.flatMap { Hex.decode($0) } } ?? []
        serviceChanged = try Self.field("serviceChanged", json) { $0.handleValue }
        databaseHash = try Self.field("databaseHash", json) {
            $0.stringValue.flatMap { Hex.decode($0) }.flatMap { $0.count == 16 ? $0 : nil }
        }
    }

    /// The name of a field that is invalid or missing.
    struct FieldError: Error, Hashable, Sendable {
        var name: String
    }

    // Optional fields may be missing, but must be valid if present.
    private static func field<Value>(
        _ name: String, _ json: JSON, _ read: (JSON) -> Value?
    ) throws(FieldError) -> Value? {
        guard let field = json[name] else { return nil }
        guard let value = read(field) else { throw FieldError(name: name) }
        return value
    }
}

extension SecretKey {
    init?(_ json: JSON) {
        guard let bytes = json.stringValue.flatMap({ Hex.decode($0) }) else { return nil }
        self.init(bytes)
    }
}

extension Bond.LongTermKey {
    fileprivate var json: JSON {
        var writer = ByteWriter(capacity: 8)
        writer.write(rand)
        return .object([
            .init("value", .string(Hex.encode(value.bytes))), .init("ediv", .integer(Int(ediv))),
            // Not every JSON parser preserves numbers of 64 bits.
            .init("rand", .string(Hex.encode(writer.bytes))),
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard let value = json["value"].flatMap({ SecretKey($0) }),
            let ediv = json["ediv"]?.integerValue.flatMap(UInt16.init(exactly:)),
            let bytes = json["rand"]?.stringValue.flatMap({ Hex.decode($0) }), bytes.count == 8
        else { return nil }
        var reader = ByteReader(bytes)
        self.init(value: value, ediv: ediv, rand: reader.readUInt64() ?? 0)
    }
}

extension Bond.SigningKey {
    fileprivate var json: JSON {
        .object([
            .init("value", .string(Hex.encode(value.bytes))), .init("counter", .integer(Int(counter))),
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard let value = json["value"].flatMap({ SecretKey($0) }),
            let counter = json["counter"]?.integerValue.flatMap(UInt32.init(exactly:))
        else { return nil }
        self.init(value: value, counter: counter)
    }
}
