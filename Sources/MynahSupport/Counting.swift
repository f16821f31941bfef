extension BinaryInteger {
    /// The number with what it counts: `1 byte`, `2 bytes`.
    ///
    /// `many` is what several are called; `nil` for the noun with an s.
    package func counting(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
