package import MynahCore
package import MynahDBus
import MynahSupport

import Glibc

/// Checks whether there is a bluetoothd with an adapter, without changing anything.
package struct BlueZProbe: Sendable {
    /// The D-Bus bus on which bluetoothd is called.
    package var bus = DBusConnection.Address.system
    /// The name or address of the adapter (`hci0` or `AA:BB:CC:DD:EE:FF`), or `nil` for any adapter.
    package var adapter: String?
    /// Whether the bus may start bluetoothd if it is not running, by default only if the kernel has an
    /// adapter.
    ///
    /// Without an adapter, systemd does not start bluetoothd and reports no error, so the call would time
    /// out.
    package var startsDaemon = Self.kernelHasAdapter
    /// The longest time to wait for each answer.
    package var limit = Duration.seconds(5)
    /// The time after which `run` reports that it is waiting.
    package var silence = Duration.seconds(1)

    /// Makes a probe of the system bus for any adapter.
    package init() {}

    private enum Step {
        case ended(Result<Void, RadioError>)
        case isSlow
        case isOverdue
    }

    /// Checks that bluetoothd has the adapter, and throws an error if it does not.
    ///
    /// `whenWaiting` is called once if an answer takes longer than `silence`.
    package func run(whenWaiting: @Sendable (_ message: String) -> Void) async throws(RadioError) {
        let result = await withTaskGroup(of: Step.self) { steps in
            steps.addTask { .ended(await look()) }
            // The answer ends the wait at once, and cancels the deadline.
            steps.addTask { await pause(for: min(silence, limit), then: .isSlow) }
            defer { steps.cancelAll() }
            return await firstResult(of: &steps, whenWaiting: whenWaiting)
        }
        try result.get()
    }

    private func firstResult(
        of steps: inout TaskGroup<Step>, whenWaiting: @Sendable (_ message: String) -> Void
    ) async -> Result<Void, RadioError> {
        for await step in steps {
            if Task.isCancelled { break }
            switch step {
            case .ended(let result): return result
            case .isSlow:
                whenWaiting("waiting up to \(limit.components.seconds) s for bluetoothd on \(place)")
                steps.addTask { await pause(for: max(.zero, limit - silence), then: .isOverdue) }
            case .isOverdue:
                return .failure(
                    RadioError(
                        .timedOut,
                        "bluetoothd did not answer within \(limit.components.seconds) s on \(place)",
                        remedy: "restart it: sudo systemctl restart bluetooth"))
            }
        }
        return .failure(RadioError(.lost, "looking for bluetoothd was interrupted"))
    }

    private func pause(for time: Duration, then step: Step) async -> Step {
        // The sleep is a time limit of the probe, and is cancelled with the probe.
        try? await Task.sleep(for: time)
        return step
    }

    private var place: String { "the D-Bus system bus (\(bus.resolved))" }

    private func look() async -> Result<Void, RadioError> {
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try await DBusConnection.connect(to: bus)
        } catch {
            return .failure(BlueZErrors.radioError(error, doing: "connecting to the bus"))
        }
        let objects = await ask(connection)
        await connection.close()
        return Result { () throws(RadioError) in _ = try objects.get().selectAdapter(adapter) }
    }

    private func ask(_ connection: DBusConnection) async -> Result<BusObjects, RadioError> {
        do throws(DBusError) {
            let isRunning = try await connection.nameHasOwner(BlueZ.service)
            guard isRunning || startsDaemon else {
                return .failure(BlueZErrors.notRunning)
            }
            let reply = try await connection.call(
                BlueZ.service, .root, BlueZ.objectManager, "GetManagedObjects")
            return Result { () throws(RadioError) in try BusObjects(reply) }
        } catch {
            return .failure(BlueZErrors.radioError(error, doing: "listing its adapters"))
        }
    }

    /// Whether the kernel has an adapter, even if bluetoothd reports none.
    package static var kernelHasAdapter: Bool {
        Directory.names(in: "/sys/class/bluetooth")?.contains { $0.hasPrefix("hci") } ?? false
    }
}
