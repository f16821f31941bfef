/// An index of a device's attributes by UUID, which makes it fast to resolve many attribute names.
package struct AttributeIndex: Sendable {
    /// The attributes of the device.
    package let tree: AttributeTree
    private var positions: [AttributeTree.Level: [BluetoothUUID: [AttributeTree.Position]]] = [:]

    /// Makes the index of a tree.
    package init(_ tree: AttributeTree) {
        self.tree = tree
        for level in AttributeTree.Level.allCases {
            positions[level] = Dictionary(grouping: tree.positions(at: level)) { tree.uuid(at: $0) }
        }
    }

    /// Returns the positions of the attributes at a level with one of these UUIDs, in attribute order.
    func positions(at level: AttributeTree.Level, of uuids: Set<BluetoothUUID>) -> [AttributeTree.Position] {
        let found = uuids.compactMap { positions[level]?[$0] }
        guard found.count > 1 else { return found.first ?? [] }
        return found.joined().sorted { one, other in
            (one.service, one.characteristic ?? 0, one.descriptor ?? 0)
                < (other.service, other.characteristic ?? 0, other.descriptor ?? 0)
        }
    }
}
