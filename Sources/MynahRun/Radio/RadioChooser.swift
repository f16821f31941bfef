import MynahBlueZ
package import MynahCore
package import MynahHCI

/// The radio of a command, after `auto` was resolved.
package enum ChosenRadio: Equatable, Sendable {
    case bluez
    case virtual
    case netsim(NetsimPlace)
    case hci(HCITransportAddress)

    /// The name of the radio in messages.
    package var name: String {
        switch self {
        case .bluez: "BlueZ"
        case .virtual: RadioNames.virtual
        case .netsim(let place): "Android emulator's radio (\(place))"
        case .hci(let address): "controller at \(address)"
        }
    }
}

/// Resolves the choice of a radio for `run`, `scan` and `connect`.
package struct RadioChooser: Sendable {
    var choice: RadioChoice
    /// The names of BlueZ's adapters that the user has chosen.
    var adapters: [String] = []
    /// Whether an app of the run is a central, which BlueZ cannot play.
    var playsCentrals = false
    var notice: @Sendable (RadioWarning) -> Void

    /// Makes a chooser; `notice` gets warnings for the user, on any thread.
    package init(
        choice: RadioChoice, adapters: [String] = [], playsCentrals: Bool = false,
        notice: @escaping @Sendable (RadioWarning) -> Void
    ) {
        self.choice = choice
        self.adapters = adapters
        self.playsCentrals = playsCentrals
        self.notice = notice
    }

    /// The radio for a device.
    ///
    /// With `auto`, BlueZ is probed first, because nothing may start before the radio is chosen.
    package func forDevice() async throws(RadioError) -> ChosenRadio {
        guard choice == .auto else { return try settled() }
        if playsCentrals {
            return try choose { AutoRadio.forPhone("a profile with central:", emulator: $0) }
        }
        var trouble: RadioError?
        var probe = BlueZProbe()
        probe.adapter = adapters.first
        do throws(RadioError) {
            try await probe.run { notice(RadioWarning("waitingForBus", $0)) }
        } catch {
            // The probe was interrupted, so another radio is not needed.
            if Task.isCancelled { throw error }
            trouble = error
        }
        let needsBlueZ = !adapters.isEmpty || BlueZProbe.kernelHasAdapter
        return try choose { AutoRadio.forDevice(bluez: trouble, needsBlueZ: needsBlueZ, emulator: $0) }
    }

    /// The radio for a phone, which BlueZ does not support.
    package func forPhone(_ command: String) throws(RadioError) -> ChosenRadio {
        guard choice == .auto else { return try settled() }
        return try choose { AutoRadio.forPhone(command, emulator: $0) }
    }

    private func choose(_ decide: (AutoRadio.Emulator) -> AutoRadio) throws(RadioError) -> ChosenRadio {
        var place: NetsimPlace?
        let emulator: AutoRadio.Emulator
        do throws(NetsimSearch.Absence) {
            let live = try search.live()
            place = live
            emulator = .alive("\(live)")
        } catch {
            emulator = .absent(error.reason)
        }
        switch decide(emulator) {
        case .bluez: return .bluez
        case .failed(let error): throw error
        case .virtual(let warning):
            notice(warning)
            return .virtual
        case .emulator(let warning):
            notice(warning)
            return place.map { .netsim($0) } ?? .virtual
        }
    }

    private func settled() throws(RadioError) -> ChosenRadio {
        switch choice {
        case .auto, .virtual: .virtual
        case .bluez: .bluez
        case .hci(let address): .hci(address)
        case .netsim(let instance): .netsim(try search.place(instance: instance))
        }
    }

    private var search: NetsimSearch { NetsimSearch(.current) }
}
