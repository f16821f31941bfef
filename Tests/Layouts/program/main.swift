import MynahCore
import MynahSupport
import MynahValues

// The layouts of the SIG's characteristics and the companies' names as JSON, for Tests/Layouts/run; with
// `decode`, the fields of values from standard input, each a line as `2A37 0048`.

extension LayoutField.Kind {
    /// The type as the GATT Specification Supplement writes it, and its size in octets; `nil` for as many as
    /// there are.
    fileprivate var type: (name: String, octets: Int?) {
        switch self {
        case .integer(let octets, let isSigned): ("\(isSigned ? "sint" : "uint")\(octets * 8)", octets)
        case .enumeration(let octets, _): ("uint\(octets * 8)", octets)
        case .medfloat16: ("medfloat16", 2)
        case .medfloat32: ("medfloat32", 4)
        case .float32: ("float32", 4)
        case .bits(let octets, _): ("boolean[\(octets * 8)]", octets)
        case .dateTime: ("struct", 7)
        case .utf8: ("utf8s", nil)
        case .bytes: ("uint8[]", nil)
        }
    }
}

extension LayoutBit {
    /// The fields that the bit is there for, if it announces them.
    fileprivate var announced: [String] {
        if case .announces(let names, _) = self { names } else { [] }
    }

    fileprivate var json: JSON {
        let (kind, names, width): (String, [String], Int) =
            switch self {
            case .announces(let names, let isInverted): (isInverted ? "absent" : "present", names, 1)
            case .widens(let name): ("wide", [name], 1)
            case .otherUnit(let names): ("unit", names, 1)
            case .boolean(let name): ("boolean", [name], 1)
            case .optionalBoolean(let name): ("boolean", [name], 2)
            case .number(let name, let width, _, _): ("number", [name], width)
            case .enumeration(let name, let width, _): ("number", [name], width)
            case .reserved(let width): ("reserved", [], width)
            }
        return .object([
            .init("kind", .string(kind)), .init("names", .array(names.map { .string($0) })),
            .init("width", .integer(width)),
        ])
    }
}

extension ValueLayout {
    fileprivate var json: JSON {
        let announced = Set(
            entries.flatMap { entry -> [String] in
                if case .bits(_, let bits) = entry.kind { bits.flatMap(\.announced) } else { [] }
            })
        return .array(entries.map { Self.json(of: $0, isOptional: announced.contains($0.name)) })
    }

    private static func json(of entry: LayoutField, isOptional: Bool) -> JSON {
        let type = entry.kind.type
        var members: [JSON.Member] = [
            .init("name", .string(entry.name)), .init("type", .string(type.name)),
            .init("octets", type.octets.map { .integer($0) } ?? .null),
            .init("optional", .bool(isOptional || entry.condition != nil)),
            .init("repeated", .bool(entry.count != .one)),
            .init(
                "resolution",
                .array([.integer(entry.resolution.numerator), .integer(entry.resolution.denominator)])),
            .init("unit", entry.unit.map { .string($0) } ?? .null),
        ]
        if let wide = entry.wideKind { members.append(.init("wide", .string(wide.type.name))) }
        if case .bits(_, let bits) = entry.kind { members.append(.init("bits", .array(bits.map(\.json)))) }
        return .object(members)
    }
}

if CommandLine.arguments.dropFirst().first == "decode" {
    while let line = readLine() {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2, let uuid = BluetoothUUID(words[0]), let bytes = Hex.decode(words[1]) else {
            fatalError("not a UUID and bytes: \(line)")
        }
        print((KnownLayouts.layout(of: uuid)?.decode(bytes)?.json ?? .null).text)
    }
} else {
    let layouts = KnownLayouts.all.map {
        JSON.Member(BluetoothUUID($0.number).description, $0.layout.json)
    }
    let companies = (0...UInt16.max).compactMap { number in
        AssignedNumbers.companyName(of: number).map { JSON.Member(String(number), .string($0)) }
    }
    print(JSON.object([.init("layouts", .object(layouts)), .init("companies", .object(companies))]).text)
}
