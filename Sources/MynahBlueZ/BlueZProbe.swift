public import MynahCore
public import MynahDBus

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Looks for bluetoothd and an adapter, and changes nothing.
public struct BlueZProbe: Sendable {
    /// The bus.
    public var bus = DBusConnection.Address.system
    /// The adapter, `hci0` or `AA:BB:CC:DD:EE:FF`; `nil` if any will do.
    public var adapter: String?
    /// Whether the bus is to start bluetoothd if it is not running.
    ///
    /// Without an adapter in the kernel systemd skips bluetoothd without an error, and the bus waits for it in vain.
    public var startsDaemon = Self.kernelHasAdapter
    /// How long an answer is waited for.
    package var limit = Duration.seconds(5)
    /// How long it waits before it says so.
    package var silence = Duration.seconds(1)

    /// A probe of the system bus for any adapter.
    public init() {}

    private enum Step {
        case ended(Result<Void, RadioError>)
        case isSlow
        case isOverdue
    }

    /// Returns if bluetoothd has the adapter; `whenWaiting` is called, once, if the answer takes long.
    public func run(whenWaiting: @Sendable (_ message: String) -> Void) async throws(RadioError) {
        let (steps, continuation) = AsyncStream<Step>.makeStream()
        let looking = Task {
            do throws(RadioError) {
                try await look()
                continuation.yield(.ended(.success(())))
            } catch {
                continuation.yield(.ended(.failure(error)))
            }
        }
        // Two deadlines, not a poll: the answer ends the waiting at once, and cancels them.
        let timing = Task {
            guard (try? await Task.sleep(for: min(silence, limit))) != nil else { return }
            continuation.yield(.isSlow)
            guard (try? await Task.sleep(for: max(.zero, limit - silence))) != nil else { return }
            continuation.yield(.isOverdue)
        }
        defer {
            looking.cancel()
            timing.cancel()
        }
        for await step in steps {
            switch step {
            case .ended(let result): return try result.get()
            case .isSlow:
                whenWaiting("waiting up to \(limit.components.seconds) s for bluetoothd on \(place)")
            case .isOverdue:
                throw RadioError(
                    .timedOut, "bluetoothd did not answer within \(limit.components.seconds) s on \(place)",
                    remedy: "restart it: systemctl restart bluetooth")
            }
        }
        throw RadioError(.lost, "looking for bluetoothd was interrupted")
    }

    private var place: String { "the D-Bus system bus (\(bus.resolved))" }

    private func look() async throws(RadioError) {
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try await DBusConnection.connect(to: bus)
        } catch {
            throw BlueZErrors.radioError(error, doing: "connecting to the bus")
        }
        let outcome = await ask(connection)
        await connection.close()
        _ = try outcome.get().selectAdapter(adapter)
    }

    private func ask(_ connection: DBusConnection) async -> Result<BusObjects, RadioError> {
        do throws(DBusError) {
            let isRunning = try await connection.nameHasOwner(BlueZ.service)
            guard isRunning || startsDaemon else {
                return .failure(
                    RadioError(
                        .unreachable, "bluetoothd is not running",
                        remedy: "start it: systemctl start bluetooth"))
            }
            let reply = try await connection.call(
                BlueZ.service, .root, BlueZ.objectManager, "GetManagedObjects")
            return Result { () throws(RadioError) in try BusObjects(reply) }
        } catch {
            return .failure(BlueZErrors.radioError(error, doing: "listing its adapters"))
        }
    }

    /// Whether the kernel has an adapter, whatever bluetoothd says.
    public static var kernelHasAdapter: Bool {
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
