extension [UInt8] {
    /// Returns the bytes in pieces of a given length; the last piece may be shorter.
    package func pieces(of length: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: Swift.max(1, length)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(1, length), count)])
        }
    }
}
