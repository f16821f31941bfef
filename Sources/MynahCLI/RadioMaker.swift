import MynahBlueZ
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// Makes the radios that a command uses.
final class RadioMaker: Sendable {
    /// What a user chose.
    struct Options {
        var choice: ChosenRadio
        /// BlueZ's, in order.
        var adapters: [String] = []
        /// For BlueZ; `nil` if there is no limit.
        var notificationRate: Int?
        /// For BlueZ.
        var namesSubscribers = false
        /// Where our own host keeps its bonds; held already.
        var stateDirectory: String?
        /// Writes what is kept there.
        var writer = FileWriter()
        /// The address policy of our own host; `nil` if a phone's is private and an accessory's is not.
        var address: AddressChoice?
        /// Records our own host's HCI, and the virtual air.
        var capture: Capture?
        /// Whether the run is to turn Bluetooth off, which is not done to BlueZ's adapters.
        var setsPower = false
        /// Takes what the user should know and what stops no radio; called on any thread.
        var notice: @Sendable (RadioWarning) -> Void
    }

    private let options: Options
    /// Made when it is wanted first.
    private let air: Lock<SharedAir?>

    init(_ options: Options) {
        self.options = options
        air = Lock(nil)
    }

    private var choice: ChosenRadio { options.choice }

    /// The radio for the device of that number, which is a phone where apps play it.
    func peripheralRadio(_ index: Int, isPhone: Bool) throws(RadioError) -> any PeripheralRadio {
        switch choice {
        case .bluez:
            if options.capture != nil { throw Self.noCaptureOfBlueZ }
            if options.setsPower { throw Self.noPowerOfBlueZ }
            var bluez = BlueZRadio.Options()
            if options.adapters.indices.contains(index) { bluez.adapter = options.adapters[index] }
            bluez.notificationRate = options.notificationRate
            bluez.acquiresNotify = options.namesSubscribers
            return BlueZRadio(options: bluez)
        case .virtual, .netsim, .hci:
            return try host(index, options.address ?? (isPhone ? .private : .identity))
        }
    }

    /// The radios are not used any more: nothing of them is left in the directory of the air.
    func end() {
        air.withLock { $0 }?.leave()
        options.capture?.end()
    }

    /// Our own host, on what was chosen; instead of BlueZ on the virtual radio.
    func host(_ index: Int = 0, _ address: AddressChoice = .identity) throws(RadioError) -> HostRadio {
        var host = HostRadio.Options()
        host.address = address.policy
        host.bonds = options.stateDirectory.map { directory in
            BondFile(
                path: "\(directory)/bonds\(index == 0 ? "" : "-\(index + 1)").json", writer: options.writer)
        }
        let notice = options.notice
        switch choice {
        case .hci(let place):
            host.name = "own host on \(place)"
            host.controller = "the \(choice.name)"
            let transport = place.transport { place in
                notice(
                    RadioWarning(
                        "waitingForController", "waiting for a controller to connect to \(place)"))
            }
            return HostRadio(transport: try recorded(transport, index), options: host)
        case .netsim(let place):
            host.name = "own host on the \(choice.name)"
            host.controller = "the \(choice.name)"
            let transport = NetsimTransport(place) { notice(RadioWarning("waitingForEmulator", $0)) }
            return HostRadio(transport: try recorded(transport, index), options: host)
        case .virtual, .bluez:
            host.name = ChosenRadio.virtual.name
            let air = try sharedAir()
            let transport = try recorded(air.transport(cipher: ControllerConfiguration.aes), index)
            try options.capture?.record(air)
            return HostRadio(transport: transport, options: host)
        }
    }

    /// The directory of the air that our own host is on; `nil` if it is on no air.
    var airDirectory: String? { air.withLock { $0?.directory } }

    /// Writes what our own host keeps.
    var writer: FileWriter { options.writer }

    /// Where our own host listens, for a message.
    var listeningPlace: String {
        switch choice {
        case .hci, .netsim: "by the \(choice.name)"
        case .virtual, .bluez: airDirectory.map { "on the air in \($0)" } ?? "on the virtual radio"
        }
    }

    private func recorded(
        _ transport: any HCITransport, _ index: Int
    ) throws(RadioError) -> any HCITransport {
        try options.capture?.transport(transport, of: index) ?? transport
    }

    static let noCaptureOfBlueZ = RadioError(
        .unsupported, "--capture records Mynah's own host, and this is BlueZ",
        remedy: "run `btmon -w FILE` for BlueZ's HCI, or choose --radio virtual, netsim or hci:TRANSPORT")

    static let noPowerOfBlueZ = RadioError(
        .unsupported, "--at poweredOff and poweredOn are not for BlueZ, whose adapter other programs use too",
        remedy: "choose --radio virtual, netsim or hci:TRANSPORT")

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
}
