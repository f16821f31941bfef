import MynahCore

/// Attribute handles in ascending order, in which ranges can be found quickly.
struct SortedHandles {
    private let handles: [AttributeHandle]

    init(_ handles: some Sequence<AttributeHandle>) {
        self.handles = handles.sorted()
    }

    /// The handles in a range.
    subscript(range: ClosedRange<AttributeHandle>) -> ArraySlice<AttributeHandle> {
        let start = handles.bisection { $0 >= range.lowerBound }
        return handles[start...].prefix { $0 <= range.upperBound }
    }
}
