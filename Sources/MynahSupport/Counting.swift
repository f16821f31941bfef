extension BinaryInteger {
    /// Returns the number with the counted noun: `1 byte`, `2 bytes`.
    ///
    /// `many` is the plural of the noun, or `nil` if the plural is `one` with an s.
    package func counting(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
