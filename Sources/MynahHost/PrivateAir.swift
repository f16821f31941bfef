import Logging
import MynahCore
package import MynahHCI
package import MynahSupport

/// The air, or simulated medium, of a run with virtual time; no other process and no real device can reach
/// it.
///
/// Keys, nonces and passkeys are derived from a seed only for radios on this air. The controllers of these
/// radios are always on this air.
package final class PrivateAir: Sendable {
    package let air: LiveAir
    private let seed: UInt64
    private let time: VirtualTime
    /// The number of radios made so far.
    private let radios = Lock(0)

    /// Makes an empty air; all random numbers on it are derived from the seed.
    package init(seed: UInt64, time: VirtualTime) {
        self.seed = seed
        self.time = time
        air = LiveAir(seed: ValueSeed.of(seed, "air"), time: time)
    }

    /// Makes a controller on the air.
    package func transport() -> VirtualTransport {
        air.transport(
            ControllerConfiguration(
                address: DeviceAddress(value: 0, kind: .public), cipher: ControllerConfiguration.aes))
    }

    /// Makes a radio on the air.
    ///
    /// The random numbers of the radio are derived from the seed and the number of radios made earlier.
    ///
    /// `capture` records the packets of the controller on an interface with this name, and `tap` receives
    /// them.
    package func radio(
        on transport: VirtualTransport, options: HostRadioOptions,
        capture: (file: CaptureFile, interface: String)? = nil, tap: TappedTransport.Tap? = nil
    ) -> HostRadio {
        precondition(transport.isOn(air), "the controller of a simulated radio is on its own air")
        let recorded = capture.map { $0.file.transport(transport, named: $0.interface) } ?? transport
        let number = radios.withLock { number in
            defer { number += 1 }
            return number
        }
        return HostRadio(
            Environment(
                transport: tap.map { TappedTransport(recorded, tap: $0) } ?? recorded, options: options,
                logger: Logger(label: "mynah.host"),
                clock: RunClock(time),
                random: SecurityRandom(simulated: ValueSeed.of(seed, "radio \(number)"))))
    }
}
