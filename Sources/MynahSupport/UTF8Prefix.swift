extension String {
    /// As many of its Unicode scalars, from the first on, as fit into so many bytes of UTF-8.
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
