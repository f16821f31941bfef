package import MynahCore
import MynahSupport

/// The formats of values that occur only in advertising.
enum AdvertisingKinds {}

extension AdvertisingKinds {
    /// The format of the local name; an empty text in quotes means none.
    static var localName: Kind<String> {
        Kind("text", .ref("text")) { node, what, reader in
            if let scalar = node.scalar, scalar.string.isEmpty, !scalar.isPlain { return "" }
            guard let name = reader.text(node, what) else { return nil }
            reader.checkName(name, what, at: node)
            return name
        }
    }
}

/// The bits of the Flags (Core Specification Supplement, Part A, 1.3), with their words in a profile.
enum AdvertisingFlags {
    static let none = "none"
    static let words = ["limited", "general", "noBREDR", "simultaneousController", "simultaneousHost"]

    /// Returns the Flags for words of `words`, whose order is that of the bits.
    static func bits(of words: [String]) -> UInt8 {
        words.reduce(0) { bits, word in
            Self.words.firstIndex(of: word).map { bits | 1 << UInt8($0) } ?? bits
        }
    }
}

extension AdvertisingKinds {
    /// The format of the Flags: a number, a list of words, or `none`.
    static var flags: Kind<UInt8?> {
        let list = Kind<[PlacedWord]>.words(AdvertisingFlags.words, each: "flag") {
            "the flag \($0) is repeated"
        }
        return Kind(
            "number, 0 to 255; list of \(Words.codes(AdvertisingFlags.words)); or `none`",
            .anyOf([.integer(0...255), list.schema, .words([AdvertisingFlags.none])])
        ) { node, what, reader in
            if case .sequence = node {
                return list.read(node, what, reader).map { AdvertisingFlags.bits(of: $0.map(\.word)) }
            }
            if node.scalar?.string == AdvertisingFlags.none { return .some(nil) }
            return reader.integer(node, what, in: 0...255).map { UInt8($0) }
        }
    }
}

extension AdvertisingKinds {
    /// The format of the interval: one duration, or the shortest and the longest one.
    static var intervals: Kind<ClosedRange<Duration>> {
        Kind(
            "duration, 20 ms to 10.24 s, or a mapping of `min` and `max`",
            .anyOf([.ref("duration"), .ref("advertisingIntervals")])
        ) { node, what, reader in
            guard case .mapping = node else {
                return Kind<Duration>.advertisingInterval.read(node, what, reader).map { $0...$0 }
            }
            guard let fields = reader.fields(node, AdvertisingSection.intervals),
                let min = fields.read(AdvertisingSection.min), let max = fields.read(AdvertisingSection.max)
            else { return nil }
            guard min <= max else {
                reader.error(at: fields[AdvertisingSection.max], "max must not be below min")
                return nil
            }
            return min...max
        }
    }
}

extension AdvertisingKinds {
    /// The format of the TX power: a level in dBm, or `true` for the radio's own level.
    static var txPower: Kind<Advertisement.TxPower?> {
        Kind(
            "`true`, `false`, or a level, -127 to 20 dBm",
            .anyOf([.ref("boolean"), .types("string", "integer", pattern: "^[+-]?[0-9]+ *dBm$")])
        ) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if let isOn = ["true": true, "false": false][text.lowercased()] {
                return isOn ? .radio : .some(nil)
            }
            let parts = text.split(separator: " ")
            let number =
                parts.first.map { $0.hasSuffix("dBm") && parts.count == 1 ? $0.dropLast(3) : $0 } ?? ""
            guard parts.count <= 2, parts.count < 2 || parts[1] == "dBm", let level = Int8(number),
                (-127...20).contains(level)
            else {
                reader.error(
                    at: node,
                    "\(what) must be true, false or a level from -127 to 20 dBm, not \(Words.quote(text))")
                return nil
            }
            return .level(level)
        }
    }
}

/// The appearance to advertise.
enum AdvertisedAppearance {
    /// The appearance of the device.
    case ofDevice
    case number(UInt16)
}

extension AdvertisingKinds {
    /// The format of the appearance: `true` for the device's own, or another appearance.
    static var appearance: Kind<AdvertisedAppearance?> {
        let appearance = Kind<UInt16>.appearance
        return Kind(
            "`true`, `false`, or an appearance: a number or the SIG's name",
            .anyOf([.ref("boolean"), appearance.schema])
        ) { node, what, reader in
            switch node.scalar?.string.lowercased() {
            case "true": .some(.ofDevice)
            case "false": .some(nil)
            default: appearance.read(node, what, reader).map { .number($0) }
            }
        }
    }
}

extension AdvertisingKinds {
    /// The format of extended advertising: a Boolean value, or the PHYs.
    static var extended: Kind<Advertisement.Extended?> {
        Kind(
            "`true`, `false`, or a mapping of `data` and `primary`",
            .anyOf([.ref("boolean"), .ref("extended")])
        ) { node, what, reader in
            guard case .mapping = node else {
                return reader.bool(
                    node, what, "true, false or its PHYs, as in {data: 2M}", ["true": true, "false": false]
                ).map { $0 ? Advertisement.Extended() : nil }
            }
            guard let fields = reader.fields(node, AdvertisingSection.extendedTable) else { return nil }
            var extended = Advertisement.Extended()
            if let data = fields.read(AdvertisingSection.dataPHY) { extended.secondaryPHY = data.phy }
            extended.isPrimaryCoded = fields.read(AdvertisingSection.primaryPHY) == .coded
            return .some(extended)
        }
    }
}

/// The words for the PHYs of advertising in a profile.
enum AdvertisingPHYName: String, CaseIterable {
    case le1M = "1M"
    case le2M = "2M"
    case coded

    var phy: AdvertisingPHY {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .coded: .coded
        }
    }

    init(_ phy: AdvertisingPHY) {
        self =
            switch phy {
            case .le1M: .le1M
            case .le2M: .le2M
            case .coded: .coded
            }
    }
}

extension AdvertisingPHY {
    /// The word for the PHY in profiles and events.
    package var word: String { AdvertisingPHYName(self).rawValue }
}

/// The words for the PHYs of the primary advertising channels.
enum PrimaryPHYName: String, CaseIterable {
    case le1M = "1M"
    case coded
}

/// Lists of service UUIDs: one that is marked as complete, and one that is marked as incomplete.
struct ServiceLists {
    var complete: [BluetoothUUID] = []
    var incomplete: [BluetoothUUID] = []
}

extension AdvertisingKinds {
    /// The format of service UUIDs: the complete list, or a mapping with the complete and the incomplete
    /// list.
    static var services: Kind<ServiceLists> {
        let list = Kind<[BluetoothUUID]>.services()
        return Kind(
            "list of services, or a mapping of `complete` and `incomplete`",
            .anyOf([list.schema, .ref("serviceLists")])
        ) { node, what, reader in
            guard case .mapping = node else {
                return list.read(node, what, reader).map { ServiceLists(complete: $0) }
            }
            guard let fields = reader.fields(node, AdvertisingSection.serviceLists) else { return nil }
            var lists = ServiceLists()
            fields.read(AdvertisingSection.complete, into: &lists.complete)
            fields.read(AdvertisingSection.incomplete, into: &lists.incomplete)
            return lists
        }
    }
}

extension AdvertisingKinds {
    /// The format of AD structures: a mapping by type, or a list of mappings, in which a type may be
    /// repeated.
    static var structures: Kind<[ADStructure]> {
        let type = Kind<Int>.integer(1...0xFF, "adType")
        let map = Schema.map(keys: type.schema, to: .ref("bytes"))
        return Kind("bytes by AD types, or a list of them", .anyOf([map, .list(of: map)])) {
            node, what, reader in
            let isList = if case .sequence = node { true } else { false }
            let mappings = isList ? reader.elements(node, what) : [node]
            var list: [ADStructure] = []
            var seen: Set<Int> = []
            for (key, value) in mappings.flatMap({ reader.members($0, what) }) {
                guard let number = type.read(key, "an AD type", reader),
                    let bytes = reader.bytes(value, what)
                else { continue }
                if !isList, !seen.insert(number).inserted {
                    let name = Hex.encode([UInt8(number)])
                    reader.error(
                        at: key, "\(what) has the AD type 0x\(name) twice; write a list: [{0x\(name): …}, …]")
                }
                let structure = ADStructure(type: ADType(UInt8(number)), data: bytes)
                if let problem = structure.problemOfLength { reader.warning(at: value.mark, problem) }
                list.append(structure)
            }
            return list
        }
    }
}

extension ADStructure {
    /// The allowed lengths of an AD type's data (Core Specification Supplement, Part A, 1).
    private enum Length {
        case exactly(Int)
        case atLeast(Int)
        /// The data is a list of entries with this length.
        case multiple(of: Int)

        init?(of type: ADType) {
            switch type.rawValue {
            case 0x01: self = .atLeast(1)
            case 0x02, 0x03, 0x14: self = .multiple(of: 2)
            case 0x04, 0x05, 0x1F: self = .multiple(of: 4)
            case 0x06, 0x07, 0x15: self = .multiple(of: 16)
            case 0x0A, 0x1C: self = .exactly(1)
            case 0x0D: self = .exactly(3)
            case 0x12: self = .exactly(4)
            case 0x16, 0xFF: self = .atLeast(2)
            case 0x17, 0x18: self = .multiple(of: 6)
            case 0x19, 0x1A: self = .exactly(2)
            case 0x1B: self = .exactly(7)
            case 0x20: self = .atLeast(4)
            case 0x21: self = .atLeast(16)
            default: return nil
            }
        }

        func allows(_ count: Int) -> Bool {
            switch self {
            case .exactly(let length): count == length
            case .atLeast(let length): count >= length
            case .multiple(of: let length): count % length == 0
            }
        }

        var text: String {
            switch self {
            case .exactly(let length): length.counting("byte", "bytes")
            case .atLeast(let length): "at least \(length.counting("byte", "bytes"))"
            case .multiple(of: let length): "entries of \(length) bytes"
            }
        }
    }

    /// The reason that scanners ignore the structure, or `nil` if the length of its data is allowed.
    fileprivate var problemOfLength: String? {
        guard let length = Length(of: type), !length.allows(data.count) else { return nil }
        return """
            the AD type 0x\(Hex.encode([type.rawValue])) has \(length.text), not \(data.count); scanners \
            may skip it
            """
    }
}
