import MynahCore

/// Handles in their order, for ranges of them.
struct SortedHandles {
    private let handles: [AttributeHandle]

    init(_ handles: some Sequence<AttributeHandle>) {
        self.handles = handles.sorted()
    }

    /// The handles of a range.
    subscript(range: ClosedRange<AttributeHandle>) -> ArraySlice<AttributeHandle> {
        let start = index(of: range.lowerBound)
        return handles[start...].prefix { $0 <= range.upperBound }
    }

    /// The place of the first that is not below a handle.
    private func index(of handle: AttributeHandle) -> Int {
        var (low, high) = (0, handles.count)
        while low < high {
            let middle = (low + high) / 2
            if handles[middle] < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
