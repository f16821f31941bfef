import Logging
import MynahCore
package import MynahHCI
package import MynahSupport

/// The air of a run with virtual time, which no other process and no real device can reach.
///
/// Only here do keys, nonces and passkeys follow from a seed. The controllers of its radios are always on
/// this air.
package final class PrivateAir: Sendable {
    /// The virtual air.
    package let air: LiveAir
    private let seed: UInt64
    private let time: VirtualTime
    /// The number of radios that were made on the air.
    private let radios = Lock(0)

    /// Makes an empty air; all random numbers on it, including those of its radios, follow from the seed.
    package init(seed: UInt64, time: VirtualTime) {
        self.seed = seed
        self.time = time
        air = LiveAir(seed: ValueSeed.of(seed, "air"), time: time)
    }

    /// A controller on the air.
    package func transport() -> VirtualTransport {
        air.transport(
            ControllerConfiguration(
                address: DeviceAddress(value: 0, kind: .public), cipher: ControllerConfiguration.aes))
    }

    /// A radio on the air, whose random numbers follow from the seed and from the number of radios that were
    /// made before.
    ///
    /// `capture` records its controller on an interface with this name, and `tap` receives its packets.
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
