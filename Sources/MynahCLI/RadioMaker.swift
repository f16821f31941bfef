import MynahBlueZ
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Makes the radios that a command uses.
final class RadioMaker: Sendable {
    /// As it was chosen.
    let choice: RadioChoice
    private let adapters: [String]
    private let notificationRate: Int?
    private let namesSubscribers: Bool
    private let stateDirectory: String?
    private let address: AddressChoice?
    private let air: Lock<SharedAir?>

    /// As it is chosen: `adapters` names BlueZ's, in order, and `notificationRate` and `namesSubscribers` are for BlueZ too.
    ///
    /// Our own host keeps its bonds in `stateDirectory`, which is held already; its address is `address`, or where none is chosen a
    /// phone's is private.
    convenience init(
        _ choice: RadioChoice, adapters: [String] = [], notificationRate: Int? = nil,
        namesSubscribers: Bool = false, stateDirectory: String? = nil, address: AddressChoice? = nil
    ) {
        self.init(choice, adapters, notificationRate, namesSubscribers, stateDirectory, address, Lock(nil))
    }

    private init(
        _ choice: RadioChoice, _ adapters: [String], _ notificationRate: Int?, _ namesSubscribers: Bool,
        _ stateDirectory: String?, _ address: AddressChoice?, _ air: Lock<SharedAir?>
    ) {
        self.choice = choice
        self.adapters = adapters
        self.notificationRate = notificationRate
        self.namesSubscribers = namesSubscribers
        self.stateDirectory = stateDirectory
        self.address = address
        self.air = air
    }

    /// Whether each radio is an adapter that has to be there.
    var usesAdapters: Bool { choice == .auto || choice == .bluez }

    /// The radio for the device of that number, which is a phone where apps play it.
    func peripheralRadio(_ index: Int, isPhone: Bool) throws(RadioError) -> any PeripheralRadio {
        switch choice {
        case .auto, .bluez:
            var options = BlueZRadio.Options()
            if adapters.indices.contains(index) { options.adapter = adapters[index] }
            options.notificationRate = notificationRate
            options.acquiresNotify = namesSubscribers
            return BlueZRadio(options: options)
        case .virtual, .hci:
            return try host(index, address ?? (isPhone ? .private : .identity))
        }
    }

    /// The virtual radio, with all else as it was chosen.
    var onVirtualRadio: RadioMaker { RadioMaker(.virtual, [], nil, false, stateDirectory, address, air) }

    /// The radios are not used any more: nothing of them is left in the directory of the air.
    func end() {
        air.withLock { $0 }?.leave()
    }

    /// Our own host, on what was chosen or else on the virtual radio.
    func host(_ index: Int = 0, _ address: AddressChoice = .identity) throws(RadioError) -> HostRadio {
        var options = HostRadio.Options()
        options.address = address.policy
        options.bonds = stateDirectory.map { directory in
            BondFile(path: "\(directory)/bonds\(index == 0 ? "" : "-\(index + 1)").json")
        }
        if case .hci(let place) = choice {
            options.name = "own host on \(place)"
            options.controller = "the controller at \(place)"
            return HostRadio(transport: place.transport(), options: options)
        }
        options.name = "virtual radio"
        return HostRadio(
            transport: try sharedAir().transport(cipher: ControllerConfiguration.aes), options: options)
    }

    private func sharedAir() throws(RadioError) -> SharedAir {
        let made = air.withLock { air in
            Result<SharedAir, RadioError> { () throws(RadioError) in
                if let air { return air }
                let new = try SharedAir { StandardError.print("warning: \($0.message)") }
                air = new
                return new
            }
        }
        return try made.get()
    }

    /// Why the virtual radio takes the place of BlueZ after this error; nil: it does not.
    ///
    /// Where an adapter is, its user wants it mended and not replaced.
    func reasonForVirtual(_ error: RadioError) -> String? {
        guard choice == .auto, adapters.isEmpty, !Self.hasAdapter else { return nil }
        switch error.code {
        case .noAdapter, .unreachable: return error.message
        default: return nil
        }
    }

    /// Whether the kernel has one, whatever bluetoothd says.
    private static var hasAdapter: Bool {
        guard let folder = opendir("/sys/class/bluetooth") else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix("hci") { return true }
        }
        return false
    }
}
