import Glibc
import Mynah
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// Our side of a meeting with a stack that is not ours: a controller, a device or a phone, told what to do
/// line by line.
@main enum Helper {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            say("failed", "\(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        guard let mode = arguments.first, let place = arguments.dropFirst().first else {
            say("usage", "controllers|device|phone ADDRESS …")
            exit(64)
        }
        let rest = Array(arguments.dropFirst(2))
        switch mode {
        case "controllers": try await controllers(try HCITransportAddress(parsing: place))
        case "device":
            let device = try await Device(transport(place), Device.Choices(rest))
            for await line in lines() { try await device.do(line) }
            await device.phone.stop()
        case "phone":
            guard let target = rest.first.flatMap({ DeviceAddress($0, kind: .random) }) else { exit(64) }
            try await Phone(transport(place), target).run()
        default: exit(64)
        }
    }

    /// `netsim:instance=N`, as `--radio` has it, or an address.
    private static func transport(_ place: String) throws -> any HCITransport {
        let netsim = "netsim:instance="
        guard place.hasPrefix(netsim) else { return try HCITransportAddress(parsing: place).transport() }
        let instance = Int(place.dropFirst(netsim.count))
        return NetsimTransport(try NetsimSearch(.current).place(instance: instance))
    }

    /// Controllers for hosts that connect, the first C0:00:00:00:00:01.
    private static func controllers(_ address: HCITransportAddress) async throws {
        let server = ControllerServer(air: LiveAir()) { number in
            ControllerConfiguration(
                address: DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .public),
                cipher: ControllerConfiguration.aes)
        }
        let port = try await server.listen(on: address)
        say("listening", port.map { "\($0)" } ?? "")
        for await _ in lines() {}
        server.close()
    }

    static func say(_ word: String, _ value: String = "") {
        // Not through the C library's streams, whose flush waits for the reader of standard input.
        let line = Array((value.isEmpty ? "\(word)\n" : "\(word) \(value)\n").utf8)
        _ = write(1, line, line.count)
    }

    /// The driver's lines; they end with the driver.
    private static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            var thread = pthread_t()
            let context = Unmanaged.passRetained(Lines(continuation))
            pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    let lines = Unmanaged<Lines>.fromOpaque(context).takeRetainedValue()
                    while let line = readLine() { lines.continuation.yield(line) }
                    lines.continuation.finish()
                    return nil
                }, context.toOpaque())
        }
    }

    private final class Lines: Sendable {
        let continuation: AsyncStream<String>.Continuation
        init(_ continuation: AsyncStream<String>.Continuation) { self.continuation = continuation }
    }
}
