/// A binary heap with the least element first.
///
/// The order of equal elements depends only on the calls, so it is the same in each run.
@usableFromInline package struct MinHeap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    /// Makes an empty heap.
    @inlinable package init() {}

    /// The least element, or `nil` if the heap is empty.
    @inlinable package var first: Element? { elements.first }
    /// The number of elements.
    @inlinable package var count: Int { elements.count }

    /// Adds an element.
    @inlinable package mutating func insert(_ element: Element) {
        elements.append(element)
        var index = elements.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard elements[index] < elements[parent] else { break }
            elements.swapAt(index, parent)
            index = parent
        }
    }

    /// Removes and returns the least element; returns `nil` if the heap is empty.
    @discardableResult @inlinable
    package mutating func removeFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < elements.count {
                if elements[child] < elements[least] { least = child }
            }
            guard least != index else { return first }
            elements.swapAt(index, least)
            index = least
        }
    }

    /// Removes each element for which the function returns `true`.
    @inlinable package mutating func removeAll(where isGone: (Element) -> Bool) {
        let kept = elements.filter { !isGone($0) }
        elements.removeAll(keepingCapacity: true)
        for element in kept { insert(element) }
    }
}

extension MinHeap: Sendable where Element: Sendable {}
