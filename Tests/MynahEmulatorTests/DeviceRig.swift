import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport

/// Emulated devices on a radio without air, with a clock that tests move and a log of their events.
struct DeviceRig {
    let radio: FakeRadio
    let clock = ManualClock()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))

    init() {
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.readErrors = .init([0x0E, 0x80])
        radio = FakeRadio(capabilities: capabilities)
    }

    /// The devices of these profiles, before their start; `isControlled`: a test may answer their requests.
    func emulator(_ texts: [String], isControlled: Bool = false) throws -> Emulator {
        let log = log
        let devices = try texts.map { text in
            var device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
            if isControlled { device.requestNumbers = RequestNumbers() }
            return device
        }
        return Emulator(
            devices, on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
    }
}
