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
    /// What a user chose.
    struct Options {
        var choice: RadioChoice
        /// BlueZ's, in order.
        var adapters: [String] = []
        /// For BlueZ; nil: no limit.
        var notificationRate: Int?
        /// For BlueZ.
        var namesSubscribers = false
        /// Where our own host keeps its bonds; held already.
        var stateDirectory: String?
        /// Of our own host; nil: a phone's is private.
        var address: AddressChoice?
        /// Takes what the user should know and what stops no radio; called on any thread.
        var notice: @Sendable (RadioWarning) -> Void = { warning in
            // That matters to a process that is there for long; a phone's command is over soon.
            guard warning.code != "airNotWatched" else { return }
            StandardError.print("warning: \(warning.message)")
        }
    }

    private let options: Options
    /// Made when it is wanted first.
    private let air: Lock<SharedAir?>

    init(_ options: Options) {
        self.options = options
        air = Lock(nil)
    }

    private init(_ options: Options, _ air: Lock<SharedAir?>) {
        self.options = options
        self.air = air
    }

    private var choice: RadioChoice { options.choice }

    /// The radio for the device of that number, which is a phone where apps play it.
    func peripheralRadio(_ index: Int, isPhone: Bool) throws(RadioError) -> any PeripheralRadio {
        switch choice {
        case .auto, .bluez:
            var bluez = BlueZRadio.Options()
            if options.adapters.indices.contains(index) { bluez.adapter = options.adapters[index] }
            bluez.notificationRate = options.notificationRate
            bluez.acquiresNotify = options.namesSubscribers
            return BlueZRadio(options: bluez)
        case .virtual, .hci:
            return try host(index, options.address ?? (isPhone ? .private : .identity))
        }
    }

    /// The virtual radio, with all else as it was chosen.
    var onVirtualRadio: RadioMaker {
        var options = options
        options.choice = .virtual
        return RadioMaker(options, air)
    }

    /// The radios are not used any more: nothing of them is left in the directory of the air.
    func end() {
        air.withLock { $0 }?.leave()
    }

    /// Our own host, on what was chosen or else on the virtual radio.
    func host(_ index: Int = 0, _ address: AddressChoice = .identity) throws(RadioError) -> HostRadio {
        var host = HostRadio.Options()
        host.address = address.policy
        host.bonds = options.stateDirectory.map { directory in
            BondFile(path: "\(directory)/bonds\(index == 0 ? "" : "-\(index + 1)").json")
        }
        if case .hci(let place) = choice {
            host.name = "own host on \(place)"
            host.controller = "the controller at \(place)"
            return HostRadio(transport: place.transport(), options: host)
        }
        host.name = "virtual radio"
        return HostRadio(
            transport: try sharedAir().transport(cipher: ControllerConfiguration.aes), options: host)
    }

    /// The directory of the air that our own host is on; nil if it is on none.
    var airDirectory: String? { air.withLock { $0?.directory } }

    /// Where our own host listens, for a message.
    var listeningPlace: String {
        if case .hci(let place) = choice { return "by the controller at \(place)" }
        return airDirectory.map { "on the air in \($0)" } ?? "on the virtual radio"
    }

    private func sharedAir() throws(RadioError) -> SharedAir {
        let made = air.withLock { air in
            Result<SharedAir, RadioError> { () throws(RadioError) in
                if let air { return air }
                let new = try SharedAir(notice: options.notice)
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
        guard choice == .auto, options.adapters.isEmpty, !Self.hasAdapter else { return nil }
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
