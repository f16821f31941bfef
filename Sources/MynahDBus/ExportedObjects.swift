/// The exported objects, and the paths of object managers.
struct ExportedObjects {
    private struct Export {
        let order: UInt64
        let object: any DBusObject
    }

    private var exports: [ObjectPath: Export] = [:]
    private var lastOrder: UInt64 = 0
    private(set) var managers: Set<ObjectPath> = []

    subscript(path: ObjectPath) -> (any DBusObject)? { exports[path]?.object }

    mutating func add(_ object: any DBusObject, at path: ObjectPath) throws(DBusError) {
        guard exports[path] == nil else { throw DBusError(.objectPathInUse, "\(path) is exported already") }
        lastOrder += 1
        exports[path] = Export(order: lastOrder, object: object)
    }

    mutating func remove(_ path: ObjectPath) { exports[path] = nil }

    mutating func addManager(at path: ObjectPath) { managers.insert(path) }

    mutating func removeManager(at path: ObjectPath) { managers.remove(path) }

    /// Returns the objects below a path, in the order of their export.
    func below(_ path: ObjectPath) -> [(path: ObjectPath, object: any DBusObject)] {
        exports.filter { $0.key.isBelow(path) }.sorted { $0.value.order < $1.value.order }
            .map { ($0.key, $0.value.object) }
    }

    /// Returns the names of the direct children of a path, sorted.
    func children(of path: ObjectPath) -> [String] {
        let paths = Set(exports.keys).union(managers)
        return Set(paths.compactMap { $0.firstElement(below: path).map(String.init) }).sorted()
    }
}
