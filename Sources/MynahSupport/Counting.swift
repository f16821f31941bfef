extension BinaryInteger {
    /// Returns the number and its noun in the singular or plural: `1 byte`, `2 bytes`.
    ///
    /// `many` is the plural of the noun; `nil` means `one` with an s.
    package func counting(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
