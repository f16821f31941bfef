// MARK: - From bytes to fields

extension ValueLayout {
    /// Decodes the fields of a value.
    ///
    /// Fields that are bits, such as flags, come after all others. Returns `nil` if the bytes do not fit the
    /// layout, for example if one byte is left over.
    package func decode(_ bytes: [UInt8]) -> [NamedField]? {
        if coding == .midi { return bytes.isEmpty ? [] : MIDIPacket.fields(of: bytes) }
        var reader = FieldReader(bytes[...])
        for entry in entries {
            guard reader.read(entry) else { return nil }
        }
        return reader.rest.isEmpty ? reader.fields + reader.bitFields : nil
    }
}

/// Decodes the entries of a layout one after the other.
private struct FieldReader {
    var fields: [NamedField] = []
    var bitFields: [NamedField] = []
    var rest: ArraySlice<UInt8>
    /// The fields whose presence depends on the bits that were read, each with whether it is present.
    private var announced: [String: Bool] = [:]
    private var wide: Set<String> = []
    private var inOtherUnit: Set<String> = []

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Decodes an entry; returns `false` if the bytes do not fit.
    mutating func read(_ entry: LayoutField) -> Bool {
        guard isThere(entry), entry.count != .rest || !rest.isEmpty else { return true }
        if case .bits(let octets, let bits) = entry.kind {
            guard let flags = unsigned(octets, entry) else { return false }
            readBits(bits, flags)
            return true
        }
        let kind = wide.contains(entry.name) ? entry.wideKind ?? entry.kind : entry.kind
        guard let value = entry.count == .one ? value(kind, entry) : values(kind, entry) else { return false }
        let other = inOtherUnit.contains(entry.name) ? entry.otherUnit : nil
        fields.append(NamedField(entry.name, value, other?.name ?? entry.unit))
        return true
    }

    private func isThere(_ entry: LayoutField) -> Bool {
        if let condition = entry.condition {
            return (fields + bitFields).last { $0.name == condition.field }?.value.number
                .map(condition.holds) ?? false
        }
        return announced[entry.name] ?? true
    }

    private mutating func readBits(_ bits: [LayoutBit], _ flags: UInt64) {
        var flags = flags
        for bit in bits {
            let value = flags & (1 << UInt64(bit.width) - 1)
            flags >>= UInt64(bit.width)
            switch bit {
            case .announces(let names, let isInverted):
                for name in names { announced[name] = (value == 1) != isInverted }
            case .widens(let name): if value == 1 { wide.insert(name) }
            case .otherUnit(let names): if value == 1 { inOtherUnit.formUnion(names) }
            case .boolean(let name): bitFields.append(NamedField(name, .boolean(value == 1)))
            case .optionalBoolean(let name):
                if value & 2 != 0 { bitFields.append(NamedField(name, .boolean(value & 1 == 1))) }
            case .number(let name, _, let resolution, let unit):
                bitFields.append(NamedField(name, resolution.value(Int(value)), unit))
            case .enumeration(let name, _, let names):
                bitFields.append(NamedField(name, Self.named(Int(value), names)))
            case .reserved: break
            }
        }
    }

    private static func named(_ number: Int, _ names: [String]) -> FieldValue {
        names.indices.contains(number) && !names[number].isEmpty
            ? .named(number, names[number]) : .integer(number)
    }

    private mutating func unsigned(_ octets: Int, _ entry: LayoutField) -> UInt64? {
        guard rest.count >= octets else { return nil }
        let bytes = rest.prefix(octets)
        rest = rest.dropFirst(octets)
        return (entry.isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func values(_ kind: LayoutField.Kind, _ entry: LayoutField) -> FieldValue? {
        var limit = Int.max
        if case .field(let counter) = entry.count {
            guard
                let count = fields.last(where: { $0.name == counter })?.value.number.flatMap({
                    Int(exactly: $0)
                })
            else { return nil }
            limit = count
        }
        if case .exactly(let count) = entry.count { limit = count }
        if kind == .utf8 || kind == .bytes {
            guard limit == .max || rest.count >= limit else { return nil }
            return content(kind, rest.prefix(limit))
        }
        var values: [FieldValue] = []
        while limit == .max ? !rest.isEmpty : values.count < limit {
            guard let next = value(kind, entry) else { return nil }
            values.append(next)
        }
        return .list(values)
    }

    /// Decodes the text or the bytes of a field.
    private mutating func content(_ kind: LayoutField.Kind, _ bytes: ArraySlice<UInt8>) -> FieldValue? {
        rest = rest.dropFirst(bytes.count)
        guard kind == .utf8 else { return .bytes(Array(bytes)) }
        return String(validating: bytes, as: UTF8.self).map { .text($0) }
    }

    private mutating func value(_ kind: LayoutField.Kind, _ entry: LayoutField) -> FieldValue? {
        switch kind {
        case .integer(let octets, let isSigned):
            return unsigned(octets, entry).map { number($0, octets * 8, isSigned, entry) }
        case .enumeration(let octets, let names):
            return unsigned(octets, entry).map { Self.named(Int(truncatingIfNeeded: $0), names) }
        case .medfloat16: return unsigned(2, entry).map { scaled(MedicalFloat.short.number($0), entry) }
        case .medfloat32: return unsigned(4, entry).map { scaled(MedicalFloat.long.number($0), entry) }
        case .float32:
            return unsigned(4, entry).map {
                // The number is parsed from the float's text: 0.1 must become 0.1, and not the nearest double
                // of the float.
                let float = Float(bitPattern: UInt32($0))
                return .number(float.isFinite ? Double(float.description) ?? Double(float) : Double(float))
            }
        case .dateTime:
            guard rest.count >= 7 else { return nil }
            defer { rest = rest.dropFirst(7) }
            return .text(DateTimeText.text(of: Array(rest.prefix(7))))
        case .utf8, .bytes: return content(kind, rest)
        case .bits: return nil
        }
    }

    private func number(_ bits: UInt64, _ width: Int, _ isSigned: Bool, _ entry: LayoutField) -> FieldValue {
        let resolution = resolution(of: entry)
        if !isSigned, bits > UInt64(Int.max) {
            return resolution == .one
                ? .unsigned(bits)
                : .number(
                    NumberText.rounded(resolution.number(Double(bits)), decimals: resolution.decimals))
        }
        let shift = UInt64(64 - width)
        let integer = isSigned ? Int(Int64(bitPattern: bits << shift) >> Int64(shift)) : Int(bits)
        return resolution.value(integer)
    }

    private func scaled(_ number: Double, _ entry: LayoutField) -> FieldValue {
        let resolution = resolution(of: entry)
        // A 12-bit mantissa has four digits, so further digits of the product are rounding errors.
        return .number(
            resolution == .one ? number : NumberText.rounded(number * resolution.factor, decimals: 9))
    }

    private func resolution(of entry: LayoutField) -> Resolution {
        inOtherUnit.contains(entry.name) ? entry.otherUnit?.resolution ?? entry.resolution : entry.resolution
    }
}

extension Resolution {
    /// The number that an integer represents: a whole number, or one with as many decimal places as it needs.
    fileprivate func value(_ integer: Int) -> FieldValue {
        if self == .one { return .integer(integer) }
        let (product, isTooLarge) = integer.multipliedReportingOverflow(by: numerator)
        if denominator == 1, !isTooLarge, let offset = Int(exactly: offset) {
            let (sum, isBeyond) = product.addingReportingOverflow(offset)
            if !isBeyond { return .integer(sum) }
        }
        return .number(NumberText.rounded(number(integer), decimals: decimals))
    }
}
