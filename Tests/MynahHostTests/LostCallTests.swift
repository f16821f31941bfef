import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// A transport that is opened when the test lets it.
private final class LateTransport: HCITransport {
    let opening = Lock<Waiter<Void>?>(nil)
    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        do {
            try await waiting(for: "the test lets the transport open") { waiter in
                opening.withLock { $0 = waiter }
            }
        } catch {
            throw RadioError(.lost, "\(error)")
        }
    }
    func send(_ packet: H4Packet) {}
    func close() {}
}

/// Calls that must end although the radio, or its controller, does first.
@Suite(.timeLimit(.minutes(15))) struct LostCallTests {
    @Test func `a connection whose peripheral was not heard ends with the controller`() async throws {
        let (controller, clock, sink) = (ScriptedController(), ManualClock(), CentralWords())
        controller.state.withLock { $0.featureStatus = nil }
        let radio = HostRadio(
            transport: controller,
            clock: clock)
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        let address = try #require(
            DeviceAddress(littleEndian: [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0], kind: .random))
        let code = Lock<RadioError.Code?>(nil)
        let connecting = Task {
            do throws(RadioError) {
                _ = try await radio.connect(address, timeout: nil)
            } catch {
                code.withLock { $0 = error.code }
            }
        }
        try await controller.wait("the host has begun to connect") {
            $0.commands.contains { $0.opcode == .leExtendedCreateConnection }
        }
        controller.tell(
            HCIEvent(
                HCIEvent.leMeta,
                [0x01, 0, 0x40, 0, 0, 1, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x18, 0, 0, 0, 0x48, 0, 0]))
        controller.end()
        try await until("the call to connect has ended") { code.withLock { $0 } != nil }
        #expect(code.withLock { $0 } == .lost)
        await connecting.value
        await radio.stop()
    }

    @Test func `a start whose transport opens after the stop ends`() async throws {
        let (transport, clock) = (LateTransport(), ManualClock())
        let radio = HostRadio(
            transport: transport,
            clock: clock)
        let code = Lock<RadioError.Code?>(nil)
        let starting = Task {
            do throws(RadioError) {
                try await radio.start(DeviceIdentity(name: "Phone"), central: CentralWords())
            } catch {
                code.withLock { $0 = error.code }
            }
        }
        try await until("the transport is being opened") { transport.opening.withLock { $0 } != nil }
        await radio.stop()
        transport.opening.withLock { $0 }?.resume()
        try await until("the call to start has ended") { code.withLock { $0 } != nil }
        #expect(code.withLock { $0 } == .lost)
        await starting.value
    }
}
