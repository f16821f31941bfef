import MynahCore
import MynahSupport

/// The fields of a characteristic's value, in the order of its bytes.
///
/// The SIG's layouts are in `KnownLayouts`; a profile can define others.
package struct ValueLayout: Hashable, Sendable {
    /// The fields, and the bits that determine which fields are present.
    package var entries: [LayoutField]
    /// The encoding of the fields in the value's bytes.
    package var coding: Coding

    /// The encoding of fields in the bytes of a value.
    package enum Coding: Hashable, Sendable {
        /// The fields follow one another, in the order of the entries.
        case inOrder
        /// A packet of MIDI over Bluetooth LE.
        case midi
    }

    package init(_ entries: [LayoutField], _ coding: Coding = .inOrder) {
        self.entries = entries
        self.coding = coding
    }

    /// The names of all fields, including those in bits.
    package var names: [String] {
        entries.flatMap { entry -> [String] in
            if case .bits(_, let bits) = entry.kind { bits.compactMap(\.field) } else { [entry.name] }
        }
    }

    /// The bits of all entries, which include those that determine whether a field is present or how it is
    /// encoded.
    private var bits: [LayoutBit] {
        entries.flatMap { if case .bits(_, let bits) = $0.kind { bits } else { [LayoutBit]() } }
    }

    private func isAnnounced(_ name: String) -> Bool {
        bits.contains { if case .announces(let names, _) = $0 { names.contains(name) } else { false } }
    }
}

// MARK: - From fields to bytes

extension ValueLayout {
    /// Encodes a value with these fields.
    ///
    /// Missing optional fields are left out, and missing bits are 0.
    package func encode(_ fields: [NamedField]) throws(LayoutProblem) -> [UInt8] {
        let given = try Given(fields, in: self)
        if coding == .midi { return try MIDIPacket.packet(of: fields) }
        var bytes: [UInt8] = []
        for entry in entries {
            if case .bits(let octets, let bits) = entry.kind {
                if !isAnnounced(entry.name) || isThere(bits, given) {
                    Self.write(try flags(bits, given), octets, entry.isBigEndian, to: &bytes)
                }
                continue
            }
            guard try isThere(entry, given) else { continue }
            bytes += try encoded(entry, given)
        }
        return bytes
    }

    /// The fields to encode, by name.
    private struct Given {
        var fields: [String: NamedField] = [:]

        init(_ fields: [NamedField], in layout: ValueLayout) throws(LayoutProblem) {
            let names = layout.names
            for field in fields {
                guard names.contains(field.name) else {
                    let near = NearestName.of(field.name, among: names).map { "; did you mean \"\($0)\"?" }
                    throw LayoutProblem(field.name, "there is no field \"\(field.name)\"\(near ?? "")")
                }
                // An empty list counts as a missing field, and its bit is clear.
                if field.value == .list([]), layout.isAnnounced(field.name) { continue }
                guard self.fields.updateValue(field, forKey: field.name) == nil else {
                    throw LayoutProblem(field.name, "\(field.name) is given twice")
                }
            }
            // A field that counts the elements of another is set to their number, unless it is given.
            for entry in layout.entries {
                guard case .field(let counter) = entry.count, self.fields[counter] == nil,
                    let field = self.fields[entry.name]
                else { continue }
                self.fields[counter] = NamedField(counter, .integer(ValueLayout.count(of: field.value)))
            }
        }

        subscript(name: String) -> NamedField? { fields[name] }
    }

    private static func count(of value: FieldValue) -> Int {
        switch value {
        case .list(let values): values.count
        case .bytes(let bytes): bytes.count
        case .text(let text): text.utf8.count
        case .integer, .unsigned, .number, .named, .boolean: 1
        }
    }

    /// Whether the field is part of the value.
    ///
    /// Throws if the field is required and missing, or if it is given although it cannot be present.
    private func isThere(_ entry: LayoutField, _ given: Given) throws(LayoutProblem) -> Bool {
        let isGiven = given[entry.name] != nil
        if let condition = entry.condition {
            let holds = given[condition.field]?.value.number.map(condition.holds) ?? false
            guard holds || !isGiven else {
                throw LayoutProblem(
                    entry.name,
                    "\(entry.name) is present only if \(condition.field) \(condition.comparison.rawValue) "
                        + NumberText.of(condition.number))
            }
            if !holds { return false }
        }
        for case .announces(let names, _) in bits where names.contains(entry.name) {
            let missing = names.filter { name in given[name] == nil && !isOfBits(name) }
            guard isGiven || missing.count == names.count(where: { !isOfBits($0) }) else {
                throw LayoutProblem(entry.name, "\(entry.name) is missing: it comes with \(names[0])")
            }
            return isGiven
        }
        // A field that repeats up to the end, or as often as another field says, may be empty.
        guard isGiven || entry.count.canBeNone else {
            throw LayoutProblem(entry.name, "\(entry.name) is missing")
        }
        return isGiven
    }

    private func isOfBits(_ name: String) -> Bool {
        entries.contains { entry in
            guard entry.name == name, case .bits = entry.kind else { return false }
            return true
        }
    }

    private func isThere(_ bits: [LayoutBit], _ given: Given) -> Bool {
        bits.contains { $0.field.map { given[$0] != nil } ?? false }
    }

    private func flags(_ bits: [LayoutBit], _ given: Given) throws(LayoutProblem) -> UInt64 {
        var flags: UInt64 = 0
        var position: UInt64 = 0
        for bit in bits {
            flags |= try value(of: bit, given) << position
            position += UInt64(bit.width)
        }
        return flags
    }

    private func value(of bit: LayoutBit, _ given: Given) throws(LayoutProblem) -> UInt64 {
        switch bit {
        case .announces(let names, let isInverted):
            let isThere = names.contains { name in
                given[name] != nil
                    || entries.contains { entry in
                        guard entry.name == name, case .bits(_, let bits) = entry.kind else { return false }
                        return self.isThere(bits, given)
                    }
            }
            return isThere != isInverted ? 1 : 0
        case .widens(let name): return try isWide(name, given) ? 1 : 0
        case .otherUnit(let names):
            return try isInOtherUnit(names, given) ? 1 : 0
        case .boolean(let name):
            guard let field = given[name] else { return 0 }
            return try boolean(field) ? 1 : 0
        case .optionalBoolean(let name):
            guard let field = given[name] else { return 0 }
            return try boolean(field) ? 3 : 2
        case .number(let name, let width, let resolution, _) where resolution != .one:
            guard let field = given[name] else { return 0 }
            let integer = resolution.integer(try Self.number(field))
            guard (0...Double(1 << width - 1)).contains(integer) else {
                throw Self.outside(field, resolution, width, false, width.counting("bit"))
            }
            return UInt64(integer)
        case .number(let name, let width, _, _), .enumeration(let name, let width, _):
            guard let field = given[name] else { return 0 }
            var names: [String] = []
            if case .enumeration(_, _, let known) = bit { names = known }
            let number = try Self.integer(field, names)
            guard (0..<(1 << width)).contains(number) else {
                throw Self.outside(field, "0", "\(1 << width - 1)", width.counting("bit"))
            }
            return UInt64(number)
        case .reserved: return 0
        }
    }

    private func entry(_ name: String) -> LayoutField? { entries.first { $0.name == name } }

    private func isWide(_ name: String, _ given: Given) throws(LayoutProblem) -> Bool {
        guard let field = given[name], let entry = entry(name), entry.wideKind != nil else { return false }
        do {
            _ = try Self.encoded(field, entry.kind, entry)
            return false
        } catch { return true }
    }

    private func isInOtherUnit(_ names: [String], _ given: Given) throws(LayoutProblem) -> Bool {
        let fields = names.compactMap { given[$0] }
        let others = fields.filter { field in
            field.unit != nil && field.unit == entry(field.name)?.otherUnit?.name
        }
        guard others.isEmpty || others.count == fields.count else {
            throw LayoutProblem(
                others[0].name,
                "\(names.joined(separator: ", ")) are all in \(others[0].unit ?? ""), or none is")
        }
        return !others.isEmpty
    }

    private func boolean(_ field: NamedField) throws(LayoutProblem) -> Bool {
        guard case .boolean(let isSet) = field.value else {
            throw LayoutProblem(field.name, "\(field.name) is true or false")
        }
        return isSet
    }

    private func encoded(_ entry: LayoutField, _ given: Given) throws(LayoutProblem) -> [UInt8] {
        guard let field = given[entry.name] else { return [] }
        if case .exactly(let count) = entry.count, Self.count(of: field.value) != count {
            throw LayoutProblem(
                field.name,
                "\(field.name) has \(Self.count(of: field.value)) of the \(count) that its layout counts")
        }
        let kind = try isWide(entry.name, given) ? entry.wideKind ?? entry.kind : entry.kind
        if entry.kind == .utf8 || entry.kind == .bytes { return try Self.encoded(field, kind, entry) }
        if entry.count == .one { return try Self.encoded(field, kind, entry) }
        guard case .list(let values) = field.value else {
            throw LayoutProblem(field.name, "\(field.name) is a list, as in [1, 2]")
        }
        var bytes: [UInt8] = []
        for value in values {
            bytes += try Self.encoded(NamedField(field.name, value, field.unit), kind, entry)
        }
        return bytes
    }

    private static func encoded(
        _ field: NamedField, _ kind: LayoutField.Kind, _ entry: LayoutField
    ) throws(LayoutProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        switch kind {
        case .integer(let octets, let isSigned):
            let integer = try scaled(field, entry, octets, isSigned)
            write(integer, octets, entry.isBigEndian, to: &bytes)
        case .enumeration(let octets, let names):
            let number = try integer(field, names)
            guard number >= 0, octets == 8 || number < 1 << (octets * 8) else {
                throw outside(field, "0", "\(1 << (octets * 8) - 1)", "uint\(octets * 8)")
            }
            write(UInt64(number), octets, entry.isBigEndian, to: &bytes)
        case .medfloat16, .medfloat32:
            let (form, octets) = kind == .medfloat16 ? (MedicalFloat.short, 2) : (MedicalFloat.long, 4)
            let number = try number(field) / resolution(of: field, entry).factor
            guard let bits = form.bits(of: number) else {
                throw LayoutProblem(field.name, "\(field.name) is too large for its type")
            }
            write(bits, octets, entry.isBigEndian, to: &bytes)
        case .float32:
            write(UInt64(Float(try number(field)).bitPattern), 4, entry.isBigEndian, to: &bytes)
        case .dateTime:
            guard case .text(let text) = field.value, let date = DateTimeText.bytes(of: text) else {
                throw LayoutProblem(
                    field.name, "\(field.name) is a date and a time, as in 2026-01-31T12:00:00")
            }
            bytes = date
        case .utf8:
            guard case .text(let text) = field.value else {
                throw LayoutProblem(field.name, "\(field.name) is text")
            }
            bytes = Array(text.utf8)
        case .bytes:
            guard case .bytes(let content) = field.value else {
                throw LayoutProblem(field.name, "\(field.name) is bytes in hexadecimal digits, as in 01 FF")
            }
            bytes = content
        case .bits: break
        }
        return bytes
    }

    private static func number(_ field: NamedField) throws(LayoutProblem) -> Double {
        switch field.value {
        case .integer, .unsigned, .number, .named:
            if let number = field.value.number { return number }
        case .boolean, .text, .bytes, .list: break
        }
        throw LayoutProblem(field.name, "\(field.name) is a number")
    }

    /// The number of a field that has names for some numbers.
    private static func integer(_ field: NamedField, _ names: [String]) throws(LayoutProblem) -> Int {
        switch field.value {
        case .integer(let integer), .named(let integer, _): return integer
        case .text(let text):
            if let number = names.firstIndex(of: text), !text.isEmpty { return number }
            let near = NearestName.of(text, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
            let known = names.filter { !$0.isEmpty }.joined(separator: ", ")
            throw LayoutProblem(
                field.name,
                known.isEmpty
                    ? "\(field.name) is a number"
                    : "\(field.name) has no value \"\(text)\"\(near) (it has \(known))")
        case .unsigned, .number, .boolean, .bytes, .list:
            throw LayoutProblem(field.name, "\(field.name) is a whole number")
        }
    }

    private static func resolution(of field: NamedField, _ entry: LayoutField) -> Resolution {
        let other = field.unit.flatMap { $0 == entry.otherUnit?.name ? entry.otherUnit : nil }
        return other?.resolution ?? entry.resolution
    }

    /// The integer that encodes a number in the field's unit.
    private static func scaled(
        _ field: NamedField, _ entry: LayoutField, _ octets: Int, _ isSigned: Bool
    ) throws(LayoutProblem) -> UInt64 {
        let resolution = resolution(of: field, entry)
        let bits = octets * 8
        let type = "\(isSigned ? "sint" : "uint")\(bits)"
        if case .integer(let integer) = field.value, resolution == .one {
            // The integer is not converted to a float, which cannot distinguish large integers.
            let fits =
                isSigned
                ? bits == 64 || (-(1 << (bits - 1))..<(1 << (bits - 1))).contains(integer)
                : integer >= 0 && (bits >= 63 || integer < 1 << bits)
            guard fits else { throw outside(field, resolution, bits, isSigned, type) }
            return UInt64(bitPattern: Int64(integer))
        }
        if case .unsigned(let integer) = field.value, resolution == .one {
            guard !isSigned, bits == 64 else { throw outside(field, resolution, bits, isSigned, type) }
            return integer
        }
        let exact = resolution.integer(try number(field))
        let limits = limits(bits, isSigned)
        guard exact >= limits.lower, exact <= limits.upper, exact.isFinite else {
            throw outside(field, resolution, bits, isSigned, type)
        }
        return isSigned || exact < 0x1p63 ? UInt64(bitPattern: Int64(exact)) : UInt64(exact)
    }

    /// The smallest and the largest integer with this number of bits.
    static func limits(_ bits: Int, _ isSigned: Bool) -> (lower: Double, upper: Double) {
        func power(_ exponent: Int) -> Double { Double(sign: .plus, exponent: exponent, significand: 1) }
        // For 64 bits, the upper limit is the largest floating-point number below the power of two.
        let upper = isSigned ? power(bits - 1) : power(bits)
        return (isSigned ? -upper : 0, bits == 64 ? upper.nextDown : upper - 1)
    }

    private static func outside(
        _ field: NamedField, _ resolution: Resolution, _ bits: Int, _ isSigned: Bool, _ type: String
    ) -> LayoutProblem {
        let limits = limits(bits, isSigned)
        return outside(
            field, NumberText.ofLimit(resolution.number(limits.lower)),
            NumberText.ofLimit(resolution.number(limits.upper)),
            type)
    }

    private static func outside(
        _ field: NamedField, _ lower: String, _ upper: String, _ type: String
    ) -> LayoutProblem {
        let number =
            switch field.value {
            case .integer(let integer): String(integer)
            case .unsigned(let integer): String(integer)
            default: field.value.number.map(NumberText.of) ?? "this"
            }
        return LayoutProblem(field.name, "\(field.name) is \(number), and \(type) holds \(lower) to \(upper)")
    }

    private static func write(_ value: UInt64, _ octets: Int, _ isBigEndian: Bool, to bytes: inout [UInt8]) {
        let shifts = (0..<octets).map { UInt64(8 * $0) }
        for shift in isBigEndian ? shifts.reversed() : shifts {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

extension LayoutField.Count {
    /// Whether the number of the field's elements can be 0.
    fileprivate var canBeNone: Bool {
        switch self {
        case .one, .exactly: false
        case .rest, .field: true
        }
    }
}
