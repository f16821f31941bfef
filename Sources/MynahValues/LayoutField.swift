package import MynahCore

/// An entry of a layout: a field of a value, or bits that determine which fields are present.
package struct LayoutField: Hashable, Sendable {
    /// The encoding of the field.
    ///
    /// Numbers are little-endian unless the entry says otherwise.
    package enum Kind: Hashable, Sendable {
        /// An integer of 1, 2, 3, 4, 6 or 8 octets.
        case integer(octets: Int, isSigned: Bool)
        /// An integer whose values 0, 1 and so on have these names; a value with an empty name is reserved.
        case enumeration(octets: Int, names: [String])
        /// IEEE 11073 SFLOAT: a 4-bit exponent and a 12-bit mantissa (Personal Health Devices Transcoding
        /// White Paper, 2.2.2).
        case medfloat16
        /// IEEE 11073 FLOAT: an 8-bit exponent and a 24-bit mantissa.
        case medfloat32
        /// IEEE 754 binary32.
        case float32
        /// Bits, each with a meaning, beginning with the least significant bit.
        case bits(octets: Int, [LayoutBit])
        /// Seven octets: year, month, day, hours, minutes, seconds (org.bluetooth.characteristic.date_time).
        case dateTime
        /// Text in UTF-8 up to the end of the value.
        case utf8
        /// All bytes up to the end of the value, or, if the field has a `count`, that number of bytes.
        case bytes
    }

    /// The number of the field's elements.
    package enum Count: Hashable, Sendable {
        case one
        /// All elements up to the end of the value.
        case rest
        /// The number that an earlier field contains.
        case field(String)
        /// Always this number.
        case exactly(Int)
    }

    /// The condition for the presence of a field: another field has a certain value.
    package struct Condition: Hashable, Sendable {
        /// The name of an earlier field.
        package var field: String
        package var comparison: Comparison
        package var number: Double

        package init(_ field: String, _ comparison: Comparison, _ number: Double) {
            self.field = field
            self.comparison = comparison
            self.number = number
        }

        func holds(for other: Double) -> Bool { comparison.holds(other, number) }
    }

    /// The field's name: letters and digits, beginning with a lower-case letter.
    package var name: String
    package var kind: Kind
    /// The encoding if the bit `LayoutBit.widens` is set, or `nil` if there is only one encoding.
    package var wideKind: Kind?
    package var count: Count
    package var condition: Condition?
    /// The scale between the encoded integer and the number.
    package var resolution: Resolution
    /// The unit of the number, or `nil` if it has none.
    package var unit: String?
    /// The unit and the resolution if the bit `LayoutBit.otherUnit` is set, or `nil` if there is only one
    /// unit.
    package var otherUnit: Unit?
    package var isBigEndian = false

    /// A unit, and the scale between the encoded integer and the number in this unit.
    package struct Unit: Hashable, Sendable {
        package var name: String
        package var resolution: Resolution

        package init(_ name: String, _ resolution: Resolution = .one) {
            self.name = name
            self.resolution = resolution
        }
    }

    package init(
        _ name: String, _ kind: Kind, wide wideKind: Kind? = nil, _ unit: String? = nil,
        by resolution: Resolution = .one, or otherUnit: Unit? = nil, count: Count = .one,
        when condition: Condition? = nil
    ) {
        self.name = name
        self.kind = kind
        self.wideKind = wideKind
        self.count = count
        self.condition = condition
        self.resolution = resolution
        self.unit = unit
        self.otherUnit = otherUnit
    }
}

/// The linear scale between an encoded integer and the number that it represents.
///
/// A step of the integer is a fraction, such as 1/100 °C, 1/1024 s or 1000 kg.
package struct Resolution: Hashable, Sendable {
    package var numerator: Int
    package var denominator: Int
    /// The number that the integer 0 represents.
    package var offset: Double

    package init(_ numerator: Int, _ denominator: Int = 1, offset: Double = 0) {
        self.numerator = numerator
        self.denominator = denominator
        self.offset = offset
    }

    /// The scale in which each integer represents itself.
    package static let one = Resolution(1)

    /// The fraction as a floating-point number, without the offset.
    var factor: Double { Double(numerator) / Double(denominator) }

    /// The number that an integer represents.
    func number(_ integer: Int) -> Double { number(Double(integer)) }

    /// The number that an integer in a `Double` represents.
    func number(_ whole: Double) -> Double { whole * Double(numerator) / Double(denominator) + offset }

    /// The integer that represents the nearest number, as a `Double`.
    ///
    /// The result is not finite if the number is not.
    func integer(_ number: Double) -> Double {
        ((number - offset) * Double(denominator) / Double(numerator)).rounded()
    }

    /// The number of decimal places that distinguish two neighbouring numbers.
    var decimals: Int {
        var (digits, power) = (0, 1)
        while power < denominator || !isWhole(offset * Double(power)), digits < 9 {
            digits += 1
            power *= 10
        }
        return digits
    }

    private func isWhole(_ number: Double) -> Bool { abs(number - number.rounded()) < 1e-6 }
}

/// One or more bits of the flags at the beginning of a value.
package enum LayoutBit: Hashable, Sendable {
    /// The fields are present if the bit is set, or if it is clear and `isInverted` is `true`.
    case announces([String], isInverted: Bool)
    /// The field has its wide encoding if the bit is set.
    case widens(String)
    /// The fields have their other unit if the bit is set.
    case otherUnit([String])
    /// A Boolean field.
    case boolean(String)
    /// Two bits: the value of a Boolean field, and whether the field is present.
    case optionalBoolean(String)
    /// A field of `width` bits with an unsigned integer, and the scale of the number that it represents.
    case number(String, width: Int, by: Resolution = .one, unit: String? = nil)
    /// A field of `width` bits, in which the numbers 0, 1 and so on have these names.
    case enumeration(String, width: Int, names: [String])
    /// A number of reserved bits.
    case reserved(Int)

    /// The number of bits.
    var width: Int {
        switch self {
        case .announces, .widens, .otherUnit, .boolean: 1
        case .optionalBoolean: 2
        case .number(_, let width, _, _), .enumeration(_, let width, _), .reserved(let width): width
        }
    }

    /// The name of the field in these bits, or `nil` if they are not a field.
    package var field: String? {
        switch self {
        case .boolean(let name), .optionalBoolean(let name), .number(let name, _, _, _),
            .enumeration(let name, _, _):
            name
        case .announces, .widens, .otherUnit, .reserved: nil
        }
    }
}
