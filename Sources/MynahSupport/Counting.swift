extension BinaryInteger {
    /// The number and the counted noun: `1 byte`, `2 bytes`.
    ///
    /// `many` is the plural, or `nil` if the plural is the noun with an s.
    package func counting(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
