extension String {
    /// The longest prefix of whole Unicode scalars that fits into `limit` bytes of UTF-8.
    public func prefix(utf8 limit: Int) -> String {
        var text = String.UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            text.append(scalar)
        }
        return String(text)
    }
}
