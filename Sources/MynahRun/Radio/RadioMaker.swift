package import Mynah
import MynahBlueZ
package import MynahCore
package import MynahHCI
package import MynahHost
import MynahSupport

/// Makes the radios that a command uses.
package final class RadioMaker: Sendable {
    /// The options of the radios.
    package struct Options: Sendable {
        package var choice: ChosenRadio
        /// The names of BlueZ's adapters, in the order of the radios.
        var adapters: [String] = []
        /// The largest number of notifications a second on BlueZ, or `nil` for no limit.
        var notificationRate: Int?
        /// Whether BlueZ must report which central has subscribed.
        var namesSubscribers = false
        /// The directory for the bonds of Mynah's own host, for radios without a directory of their own.
        ///
        /// With `nil`, such bonds are only in memory.
        package var stateDirectory: StateDirectory?
        /// The kind of address of Mynah's own host.
        ///
        /// With `nil`, phones use private addresses, and accessories use their identity address.
        var address: AddressChoice?
        /// The capture of the HCI packets and the virtual air, or `nil` if there is none.
        var capture: Capture?
        /// A function that receives the HCI packets of Mynah's own host, or `nil` if there is none.
        package var tap: TappedTransport.Tap?
        /// Whether the run will turn Bluetooth off, which BlueZ's adapters do not allow.
        var setsPower = false
        /// The clock of the radios and, with virtual time, the simulated medium on which they send, called
        /// the air.
        package var time = RunTime.real
        /// The simulated medium (air) of virtual radios, or `nil` for the one that all processes of this user
        /// share.
        package var air: LiveAir?
        /// Called with warnings that do not stop a radio, on any thread.
        package var notice: @Sendable (RadioWarning) -> Void

        /// Makes radios of the chosen kind, with default options.
        package init(
            choice: ChosenRadio, capture: Capture? = nil, notice: @escaping @Sendable (RadioWarning) -> Void
        ) {
            self.choice = choice
            self.capture = capture
            self.notice = notice
        }
    }

    private let options: Options
    /// The simulated medium that all processes of this user share, or `nil` before it is first used.
    private let shared: Lock<SharedAir?>
    /// The controllers of virtual radios, by radio number.
    private let stations = Lock<[Int: Station]>([:])

    /// A virtual controller, with its distance when it is in range.
    private struct Station {
        let transport: VirtualTransport
        var distance = AirDistance.usual
        /// The distances from this controller to single devices, as set by the user, by address.
        var devices: [DeviceAddress: AirDistance] = [:]
    }

    package init(_ options: Options) {
        self.options = options
        shared = Lock(nil)
    }

    /// Returns a maker of the same radios for a new start of the run; the old radios must no longer be used.
    func anew(in time: RunTime) -> RadioMaker {
        var options = options
        options.time = time
        options.capture?.beginAnew()
        return RadioMaker(options)
    }

    private var choice: ChosenRadio { options.choice }

    /// Creates the capture's file.
    ///
    /// Throws if BlueZ is chosen and the run has a capture or turns Bluetooth off.
    func check() throws(RadioError) {
        if choice == .bluez {
            if options.capture != nil { throw Self.noCaptureOfBlueZ }
            if options.setsPower { throw Self.noPowerOfBlueZ }
        }
        try options.capture?.createFile()
    }

    /// Makes a radio for an accessory, or for the apps of a phone.
    ///
    /// `labels` are the devices' names in events. `stateDirectory` is for the bonds of Mynah's own host; with
    /// `nil`, the directory of the options is used.
    func peripheralRadio(
        _ index: Int, _ labels: [String], isPhone: Bool, _ stateDirectory: StateDirectory?
    ) throws(RadioError) -> any PeripheralRadio {
        switch choice {
        case .bluez:
            stateDirectory?.takeWarning().map(options.notice)
            var bluez = BlueZRadio.Options()
            if options.adapters.indices.contains(index) { bluez.adapter = options.adapters[index] }
            bluez.notificationRate = options.notificationRate
            bluez.acquiresNotify = options.namesSubscribers
            return BlueZRadio(options: bluez)
        case .virtual, .netsim, .hci:
            return try host(
                index, isPhone ? .phone : .accessory(labels.first ?? ""),
                (options.address ?? (isPhone ? .private : .identity)).policy, devices: labels,
                stateDirectory: stateDirectory)
        }
    }

    /// The name of the chosen radio.
    var name: String { choice.name }

    /// Makes a radio with this number for a phone in the central role, which BlueZ does not support.
    ///
    /// `choice` is a radio for this phone only, or `nil` for the run's radio. If the second result is not
    /// `nil`, it has made the phone's radio, and the caller must end it together with the phone.
    func phoneRadio(
        _ index: Int, named name: String, _ address: AddressPolicy, on choice: RadioChoice?,
        _ stateDirectory: StateDirectory?
    ) throws(RadioError) -> (radio: HostRadio, maker: RadioMaker?) {
        guard let choice else {
            guard self.choice != .bluez else {
                throw RadioError(
                    .unsupported, "the run plays on BlueZ, which plays no phone",
                    remedy: "give the phone a radio, such as virtual")
            }
            try checkHasRoom(for: index)
            let radio = try host(
                index, .connect, address, devices: [name], stateDirectory: stateDirectory)
            return (radio, nil)
        }
        guard options.time.air == nil || choice == .virtual else {
            throw RadioError(
                .unsupported, "with --clock \(options.time.clock.name) a phone has the virtual radio",
                remedy: "leave out the radio")
        }
        let chooser = RadioChooser(choice: choice, notice: options.notice)
        guard options.time.air == nil else {
            return (try host(index, .connect, address, devices: [name], stateDirectory: stateDirectory), nil)
        }
        var own = Options(choice: try chooser.forPhone("a phone"), notice: options.notice)
        own.time = options.time
        own.air = options.air
        let maker = RadioMaker(own)
        let radio = try maker.host(0, .connect, address, devices: [name], stateDirectory: stateDirectory)
        return (radio, maker)
    }

    /// Throws `unsupported` if there is no radio with this number, so that no device can be added.
    func checkHasRoom(for index: Int) throws(RadioError) {
        switch choice {
        case .virtual, .netsim: return
        case .hci:
            guard index > 0 else { return }
            throw RadioError(
                .unsupported, "the \(choice.name) is one radio, and it is in use",
                remedy: "remove its device first")
        case .bluez:
            guard index >= max(1, options.adapters.count) else { return }
            throw RadioError(
                .unsupported, "every adapter is in use",
                remedy: "remove a device, or name more adapters with --adapter at the start")
        }
    }

    // MARK: Range

    /// Throws `unsupported` if the radio is not virtual, because only virtual distances can be changed.
    func checkHasRange() throws(RadioError) {
        guard choice != .virtual else { return }
        throw RadioError(
            .unsupported,
            "outOfRange, inRange and distance are for the virtual radio, and this is \(choice.name)",
            remedy: "choose --radio virtual")
    }

    /// Changes the distance between the radio with this number and all other devices.
    func move(_ index: Int, _ change: RangeChange) {
        stations.withLock { stations in
            switch change {
            case .outOfRange: stations[index]?.transport.setDistance(nil)
            case .inRange:
                if let station = stations[index] { station.transport.setDistance(station.distance) }
            case .distance(let metres):
                guard let distance = AirDistance(metres: metres) else { return }
                stations[index]?.distance = distance
                stations[index]?.transport.setDistance(distance)
            }
        }
    }

    /// Changes the distance between the radio with this number and one other device.
    func move(_ index: Int, _ change: RangeChange, from device: DeviceAddress) {
        stations.withLock { stations in
            guard let station = stations[index] else { return }
            switch change {
            case .outOfRange: station.transport.setDistance(nil, from: device)
            case .inRange:
                if let distance = station.devices[device] {
                    station.transport.setDistance(distance, from: device)
                } else {
                    station.transport.forgetDistance(from: device)
                }
            case .distance(let metres):
                guard let distance = AirDistance(metres: metres) else { return }
                stations[index]?.devices[device] = distance
                station.transport.setDistance(distance, from: device)
            }
        }
    }

    /// Stops using the shared virtual air and ends the capture; call this when no radio is used any longer.
    package func end() {
        stations.withLock { $0 = [:] }
        shared.withLock { $0 }?.leave()
        options.capture?.end()
    }

    /// The error that ended the capture early, or `nil` if there was none.
    package var captureFailure: RadioError? { options.capture?.failure }

    /// Makes Mynah's own host on the chosen radio, or on the virtual radio if BlueZ was chosen.
    ///
    /// `owner` selects the bond file in `stateDirectory`, or in the directory of the options if that is
    /// `nil`.
    package func host(
        _ index: Int = 0, _ owner: BondOwner = .connect, _ address: AddressPolicy = .automatic,
        devices: [String] = [], stateDirectory: StateDirectory? = nil
    ) throws(RadioError) -> HostRadio {
        var host = HostRadio.Options()
        host.address = address
        host.bonds = (stateDirectory ?? options.stateDirectory).map { directory in
            directory.takeWarning().map(options.notice)
            // `connect` only looks for a device: it must not take the bonds from another process.
            if owner != .connect, let message = directory.takeOverBonds(for: owner, at: index) {
                options.notice(RadioWarning("bondsRenamed", message))
            }
            return BondFile(
                path: directory.bondPath(of: owner),
                formerPath: owner == .connect ? directory.formerBondPath(at: 0) : nil,
                writer: directory.writer)
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
            return HostRadio(
                transport: try recorded(transport, devices), options: host, clock: options.time.clock)
        case .netsim(let place):
            host.name = "own host on the \(choice.name)"
            host.controller = "the \(choice.name)"
            let transport = NetsimTransport(place) { notice(RadioWarning("waitingForEmulator", $0)) }
            return HostRadio(
                transport: try recorded(transport, devices), options: host, clock: options.time.clock)
        case .virtual, .bluez:
            host.name = ChosenRadio.virtual.name
            host.isSimulated = true
            if let simulation = options.time.air {
                return try simulated(index, host, devices: devices, on: simulation)
            }
            let (station, air) = try station()
            stations.withLock { $0[index] = Station(transport: station) }
            let transport = try recorded(station, devices)
            try options.capture?.record(air)
            return HostRadio(transport: transport, options: host, clock: options.time.clock)
        }
    }

    /// Makes Mynah's own host on the air of a run with virtual time.
    private func simulated(
        _ index: Int, _ host: HostRadio.Options, devices: [String], on simulation: PrivateAir
    ) throws(RadioError) -> HostRadio {
        let station = simulation.transport()
        stations.withLock { $0[index] = Station(transport: station) }
        let capture = try options.capture?.interface(of: devices)
        let radio = simulation.radio(on: station, options: host, capture: capture, tap: options.tap)
        try options.capture?.record(simulation.air)
        return radio
    }

    /// The directory of the virtual air that processes share, or `nil` if Mynah's own host does not use that
    /// air.
    package var airDirectory: String? { shared.withLock { $0?.directory } }

    /// The place where Mynah's own host scans, in words for a message.
    package var listeningPlace: String {
        switch choice {
        case .hci, .netsim: "by the \(choice.name)"
        case .virtual, .bluez: airDirectory.map { "on the air in \($0)" } ?? "on the virtual radio"
        }
    }

    /// Hints about runs whose devices this command cannot receive, because each has a simulated medium of its
    /// own.
    package var hintsAboutPrivateRuns: [String] {
        guard let airDirectory else { return [] }
        return AirNote.contents(in: airDirectory).map(\.hint)
    }

    private func recorded(
        _ transport: any HCITransport, _ devices: [String]
    ) throws(RadioError) -> any HCITransport {
        let recorded = try options.capture?.transport(transport, of: devices) ?? transport
        return options.tap.map { TappedTransport(recorded, tap: $0) } ?? recorded
    }

    package static let noCaptureOfBlueZ = RadioError(
        .unsupported, "--capture cannot record BlueZ, only Mynah's own host",
        remedy: "run `btmon -w FILE` for BlueZ's HCI, or choose --radio virtual, netsim or hci:TRANSPORT")

    static let noPowerOfBlueZ = RadioError(
        .unsupported, "--at cannot turn BlueZ's adapter off, because other programs use it too",
        remedy: "choose --radio virtual, netsim or hci:TRANSPORT")

    /// Makes a controller on the virtual air; also returns the `LiveAir` of this process.
    private func station() throws(RadioError) -> (VirtualTransport, LiveAir) {
        let configuration = ControllerConfiguration(
            address: DeviceAddress(value: 0, kind: .public), cipher: ControllerConfiguration.aes)
        if let air = options.air { return (air.transport(configuration), air) }
        let air = try sharedAir()
        return (air.transport(configuration), air.air)
    }

    private func sharedAir() throws(RadioError) -> SharedAir {
        let made = shared.withLock { shared in
            Result<SharedAir, RadioError> { () throws(RadioError) in
                if let shared { return shared }
                let new = try SharedAir(notice: options.notice)
                shared = new
                return new
            }
        }
        return try made.get()
    }
}
