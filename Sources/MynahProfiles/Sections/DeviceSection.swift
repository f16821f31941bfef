import MynahCore
import MynahSupport

/// The section `device`.
struct DeviceSection {
    static let name = Field(
        "name", called: "device.name", .text,
        doc: "The GAP device name, up to 248 bytes; left out: the profile's name.")
    static let appearance = Field(
        "appearance", .appearance,
        doc: """
            The GAP appearance, a number or the SIG's name; advertised only with advertising.appearance: true.
            """)
    static let serviceChanged = Field(
        "serviceChanged", .bool,
        doc: """
            Whether it has Service Changed, by which bonded phones learn that its services changed; left \
            out: true. Not on BlueZ.
            """)
    static let table = Section("device", [name, appearance, serviceChanged])

    var name: String?
    var appearance: UInt16?
    var hasServiceChanged = true
    let fields: Fields

    init?(_ node: YAMLNode, _ reader: FormatReader) {
        guard let fields = reader.fields(node, Self.table) else { return nil }
        self.fields = fields
        name = fields.read(Self.name)
        appearance = fields.read(Self.appearance)
        fields.read(Self.serviceChanged, into: &hasServiceChanged)
    }
}

extension Kind<UInt16> {
    /// The format of a GAP appearance: its number or its SIG name.
    ///
    /// Anything else is reported, and the value is then 0.
    static var appearance: Kind {
        Kind(
            "a name of the SIG's, or 0 to 65535",
            .anyOf([.words(AssignedNumbers.appearanceNames), .integer(0...0xFFFF)])
        ) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if Words.number(text) != nil {
                let number = reader.integer(text, at: node, what, in: 0...0xFFFF) ?? 0
                return UInt16(truncatingIfNeeded: number)
            }
            if let appearance = AssignedNumbers.appearance(named: text) { return appearance }
            reader.error(
                at: node,
                Words.unknown("\(what) \(Words.quote(text))", text, among: AssignedNumbers.appearanceNames))
            return 0
        }
    }
}

/// The section `security`.
struct SecuritySection {
    static let io = Field(
        "io", .word as Kind<IOCapability>,
        doc: "Its display and keyboard for pairing; left out: noInputNoOutput.")
    static let passkey = Field(
        "passkey", .passkey, doc: "The number typed on a device with a keyboard; left out: you are asked.")
    static let keySize = Field(
        "keySize", .integer(7...16),
        doc: "The largest encryption key that it takes part in, in octets; left out: 16. Not on BlueZ.")
    static let table = Section(
        "security", [io, passkey, keySize],
        rules: .when(
            .required(["passkey"]),
            .required(["io"]).with([
                .init("properties", .object([.init("io", Schema.words(keyboards.map(\.rawValue)).json)]))
            ])))
    private static let keyboards: [IOCapability] = [.keyboardOnly, .keyboardDisplay]

    var io: IOCapability
    var passkey: UInt32?
    var keySize: Int?
    let fields: Fields

    init?(_ node: YAMLNode, usual: IOCapability, _ reader: FormatReader) {
        guard let fields = reader.fields(node, Self.table) else { return nil }
        self.fields = fields
        io = usual
        keySize = fields.read(Self.keySize)
        if fields[Self.io] != nil {
            // The other keys cannot be checked against an unknown capability.
            guard let read = fields.read(Self.io) else { return }
            io = read
        }
        guard let node = fields[Self.passkey] else { return }
        guard Self.keyboards.contains(io) else {
            reader.error(at: node, "passkey is entered on the device, and io: \(io.rawValue) has no keyboard")
            return
        }
        passkey = fields.read(Self.passkey)
    }
}

extension Kind<UInt32> {
    /// The format of a passkey of up to six digits, with or without leading zeros (Core Specification, Vol
    /// 3, Part H, 2.3.5.3).
    fileprivate static var passkey: Kind {
        let digits = Schema.types("integer", "string", pattern: "^[0-9]{1,6}$").with([
            .init("minimum", .integer(0)), .init("maximum", .integer(999_999)),
        ])
        return parsed("up to six digits", digits, shape: "up to six digits") { text in
            (1...6).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? UInt32(text) : nil
        }
    }
}
