import MynahCore
import MynahSupport

@testable import MynahHCI

/// Short forms for the tests of a controller's parts, which build no controller.
extension ControllerOutbox {
    /// An outbox whose host takes every event.
    static func open(extended: Bool = false) -> ControllerOutbox {
        var outbox = ControllerOutbox()
        var mask = ByteReader([UInt8](repeating: 0xFF, count: 8))
        var leMask = mask
        _ = (outbox.setEventMask(&mask), outbox.setLEEventMask(&leMask))
        _ = outbox.admits(extended ? .extended : .legacy)
        return outbox
    }

    /// The output since the last call, one item a line: packets to the host as hex, PDUs as "air" and
    /// hex.
    mutating func take() -> [String] {
        defer { outputs = [] }
        return outputs.map { output in
            switch output {
            case .host(let packet): return Hex.encode(packet.bytes)
            case .air(let pdu, let station):
                var writer = ByteWriter()
                pdu.write(&writer)
                return "air \(station?.rawValue ?? 0) " + Hex.encode(writer.bytes)
            }
        }
    }

    /// The PDUs that have been written since the last call.
    mutating func takePDUs() -> [AirPDU] {
        defer { outputs = [] }
        return outputs.compactMap { output in
            if case .air(let pdu, _) = output { return pdu }
            return nil
        }
    }
}

extension CommandAnswer {
    /// The answer of a handler to these parameters.
    static func of(_ hex: String, _ handler: (inout ByteReader) -> CommandAnswer?) -> CommandAnswer? {
        var reader = ByteReader(Hex.decode(hex) ?? [])
        return handler(&reader)
    }
}

extension AirTime {
    static func milliseconds(_ count: Int64) -> AirTime { AirTime(microseconds: count * 1000) }
}

enum Part {
    static let station = Station(9)

    static func configuration(_ change: (inout ControllerConfiguration) -> Void = { _ in })
        -> ControllerConfiguration
    {
        var configuration = ControllerConfiguration(address: AirRig.address(1), cipher: AirRig.cipher)
        change(&configuration)
        return configuration
    }

    /// A random address with these upper two bits: 0b11 for a static one, 0b01 for a resolvable one.
    static func random(_ number: UInt64, _ bits: UInt64 = 0b11) -> DeviceAddress {
        guard let address = DeviceAddress(value: bits << 46 | number, kind: .random) else {
            preconditionFailure("48 bits are an address")
        }
        return address
    }

    static func endpoints(_ role: LEConnection.Role) -> ConnectionEndpoints {
        ConnectionEndpoints(
            handle: 0x40, role: role, station: station, access: 0x1122_3344,
            peer: Identity(address: AirRig.address(2)), local: AirRig.address(1))
    }

    /// A connection with an interval of 30 ms and a supervision timeout of 720 ms.
    static func connection(_ role: LEConnection.Role) -> Connection {
        Connection(
            endpoints(role), LEConnection.Parameters(), ConnectionSettings(configuration()), rssi: -40,
            at: .zero)
    }
}
