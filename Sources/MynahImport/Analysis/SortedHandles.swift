import MynahCore

/// Handles in their order, for ranges of them.
struct SortedHandles {
    private let handles: [AttributeHandle]

    init(_ handles: some Sequence<AttributeHandle>) {
        self.handles = handles.sorted()
    }

    /// The handles of a range.
    subscript(range: ClosedRange<AttributeHandle>) -> ArraySlice<AttributeHandle> {
        let start = handles.bisection { $0 >= range.lowerBound }
        return handles[start...].prefix { $0 <= range.upperBound }
    }
}
