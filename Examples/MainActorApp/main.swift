// An app that keeps its state on the main actor, as a user interface does: the loops over discoveries and
// values run there too.
//
// In another terminal: `swift run HeartRateMonitor`.
import Mynah
import MynahHost

/// The content of the screen: the heart-rate monitor that was found, and its last rates.
@MainActor final class Screen {
    private var name = "searching" { didSet { draw() } }
    private var rates: [UInt8] = [] { didSet { draw() } }

    private func draw() { print(name, rates) }

    func show(_ manager: CentralManager) async throws {
        for await discovery in try await manager.discoveries(of: ["180D"]).prefix(1) {
            name = discovery.advertisement.localName ?? "a device without a name"
            let strap = discovery.peripheral
            try await manager.connect(strap, timeout: .seconds(10))
            try await strap.discoverAll(["180D"])
            guard let rate = await strap.characteristic("2A37") else { break }
            for await value in try await strap.values(of: rate).prefix(3) { rates.append(value[1]) }
        }
    }
}

let manager = CentralManager(radio: try HostRadio.virtual())
try await manager.start()
try await Screen().show(manager)
await manager.stop()
