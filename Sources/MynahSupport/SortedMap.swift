/// A map in the order of its keys, for a few values that are looked up very often.
///
/// A dictionary hashes the key at each use, and moves a value out and in again to change a part of it. This
/// map finds a value by binary search, and changes it in place. Unlike a dictionary, it has the same order in
/// every process.
public struct SortedMap<Key: Comparable, Value> {
    @usableFromInline var storedKeys: [Key] = []
    /// The values, in the order of the keys.
    @usableFromInline var storedValues: [Value] = []

    /// Makes an empty map.
    @inlinable public init() {}

    /// The keys, in order.
    @inlinable public var keys: [Key] { storedKeys }

    /// The values, in the order of their keys.
    @inlinable public var values: [Value] { storedValues }

    /// The keys with their values, in the order of the keys.
    @inlinable public var pairs: Zip2Sequence<[Key], [Value]> { zip(storedKeys, storedValues) }

    /// The number of keys.
    @inlinable public var count: Int { storedKeys.count }

    /// Whether the map is empty.
    @inlinable public var isEmpty: Bool { storedKeys.isEmpty }

    /// The indices of all keys.
    @inlinable public var indices: Range<Int> { storedKeys.indices }

    /// The index of a key, or `nil` if the map does not have it.
    @inlinable public func index(of key: Key) -> Int? {
        let place = place(of: key)
        return place < storedKeys.count && storedKeys[place] == key ? place : nil
    }

    /// The index of a key, or the index at which the key would be inserted if the map does not have it.
    @inlinable func place(of key: Key) -> Int {
        var (low, high) = (0, storedKeys.count)
        while low < high {
            let middle = (low + high) / 2
            if storedKeys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The value at an index, which can be changed in place without a copy.
    @inlinable public subscript(at index: Int) -> Value {
        _read { yield storedValues[index] }
        _modify { yield &storedValues[index] }
    }

    /// The value of a key; setting `nil` removes the key.
    @inlinable public subscript(key: Key) -> Value? {
        get {
            guard let index = index(of: key) else { return nil }
            return storedValues[index]
        }
        set {
            let place = place(of: key)
            let isThere = place < storedKeys.count && storedKeys[place] == key
            switch (newValue, isThere) {
            case (let value?, true): storedValues[place] = value
            case (let value?, false):
                storedKeys.insert(key, at: place)
                storedValues.insert(value, at: place)
            case (nil, true):
                storedKeys.remove(at: place)
                storedValues.remove(at: place)
            case (nil, false): break
            }
        }
    }

    /// The value of a key, or a default value if the map does not have it.
    @inlinable public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        set { self[key] = newValue }
    }

    /// Removes a key, and returns its value, or `nil` if the map does not have the key.
    @inlinable @discardableResult public mutating func removeValue(forKey key: Key) -> Value? {
        guard let index = index(of: key) else { return nil }
        storedKeys.remove(at: index)
        return storedValues.remove(at: index)
    }
}

extension SortedMap: Sendable where Key: Sendable, Value: Sendable {}
