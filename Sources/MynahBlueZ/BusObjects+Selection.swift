import MynahCore
import MynahDBus

extension BusObjects {
    /// Reads bluetoothd's objects from its answer to GetManagedObjects.
    init(_ reply: DBusMessage) throws(RadioError) {
        self.init()
        do throws(DBusError) {
            var reader = reply.reader()
            for entry in try reader.readValue().entries ?? [] {
                guard let path = entry.key.objectPathValue else { continue }
                add(path.string, entry.value)
            }
        } catch {
            throw BlueZErrors.radioError(error, doing: "listing its adapters")
        }
    }

    /// Returns the adapter with the name or address `asked`.
    ///
    /// If `asked` is `nil`, returns the first adapter that supports the peripheral role.
    func selectAdapter(_ asked: String?) throws(RadioError) -> (path: ObjectPath, address: String) {
        let known = adapters.sorted { $0.key < $1.key }
        func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
        let names = known.map { "\(name($0.key)) (\($0.value.address))" }
        let wanted = asked?.uppercased()
        let chosen = known.first { path, adapter in
            guard let wanted else { return adapter.isComplete }
            return name(path).uppercased() == wanted || adapter.address.uppercased() == wanted
        }
        guard let (path, adapter) = chosen else {
            if let asked, !known.isEmpty {
                throw RadioError(
                    .noAdapter, "there is no adapter \(asked)",
                    remedy: "there is \(names.joined(separator: ", "))")
            }
            guard known.isEmpty else {
                throw RadioError(
                    .noAdapter, "the adapter \(names[0]) cannot be a peripheral: it has no LE advertising",
                    remedy: "use another one, or another mode: set ControllerMode = dual in main.conf")
            }
            throw RadioError(
                .noAdapter, "bluetoothd has no Bluetooth adapter",
                remedy: "plug one in, or look for its driver: dmesg | grep -i bluetooth")
        }
        guard let objectPath = try? ObjectPath(path) else {
            throw RadioError(.protocolViolation, "bluetoothd's adapter has no valid path")
        }
        return (objectPath, adapter.address)
    }
}
