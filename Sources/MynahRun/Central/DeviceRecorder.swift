import Mynah
import MynahCore
import MynahSupport

/// Reads everything from a device that a profile needs.
///
/// The values are not stored here: the HCI packets of the transport are captured, and the profile is made
/// from the capture.
package struct DeviceRecorder: Sendable {
    /// The number of requests that have not succeeded, because the link ended or more security is needed.
    package struct Missing: Hashable, Sendable {
        package var reads = 0
        package var subscriptions = 0
        /// Whether the device refused requests for lack of security, even after pairing.
        package var needSecurity = false
        /// Whether the pairing failed.
        package var isPairingFailed = false
    }

    /// The progress of the recording.
    package enum Progress: Hashable, Sendable {
        /// The device is not connected yet, or not all of its attributes are discovered.
        case began
        case asking(Missing)
        case listening
    }

    let manager: CentralManager
    let peripheral: Peripheral
    /// Reports the current step to the user.
    let say: @Sendable (String) -> Void
    private let state = Lock(Progress.began)

    init(manager: CentralManager, peripheral: Peripheral, say: @escaping @Sendable (String) -> Void) {
        self.manager = manager
        self.peripheral = peripheral
        self.say = say
    }

    /// The progress so far.
    var progress: Progress { state.withLock { $0 } }

    fileprivate enum Request {
        case read(DiscoveredCharacteristic)
        case readDescriptor(RemoteDescriptor)
        case subscribe(DiscoveredCharacteristic)
    }

    /// Connects, reads every value, and subscribes to every characteristic.
    ///
    /// Pairing follows only after all requests were made once, because an encrypted link does not show which
    /// attributes need encryption. If the device requests encryption itself, or has a bond, the link is
    /// encrypted earlier, and a comment in the profile says so.
    func ask() async throws(RequestError) {
        do throws(RadioError) {
            try await manager.connect(peripheral, timeout: DeviceFinder.patience)
        } catch {
            throw .failed(error)
        }
        say("connected; discovering its services")
        try await peripheral.exchangeMTU()
        let requests = Self.requests(to: try await peripheral.discoverAll())
        state.withLock { $0 = .asking(Missing(requests)) }
        let missing = Missing(requests)
        say("reading \(missing.reads.counting("value")), and subscribing to \(missing.subscriptions)")
        var refused = try await perform(requests)
        let isPaired = refused.isEmpty ? false : await pair()
        if isPaired { refused = try await perform(refused) }
        guard refused.isEmpty else {
            var rest = Missing(refused)
            rest.needSecurity = await peripheral.isConnected && !Task.isCancelled
            rest.isPairingFailed = !isPaired
            let missing = rest
            return state.withLock { $0 = .asking(missing) }
        }
        state.withLock { $0 = .listening }
    }

    private static func requests(to services: [DiscoveredService]) -> [Request] {
        let characteristics = services.flatMap(\.characteristics)
        let readers = characteristics.filter { $0.properties.contains(.read) }
        let senders = characteristics.filter { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
        let descriptors = characteristics.flatMap { $0.descriptors ?? [] }.filter { $0.uuid != "2902" }
        return readers.map { .read($0) } + descriptors.map { .readDescriptor($0) }
            + senders.map { .subscribe($0) }
    }

    /// Makes requests; returns those that were refused for lack of security.
    ///
    /// Other refusals are part of the device's behavior. The end of the link throws an error.
    private func perform(_ requests: [Request]) async throws(RequestError) -> [Request] {
        var refused: [Request] = []
        for (place, request) in requests.enumerated() {
            do throws(RequestError) {
                try await perform(request)
            } catch {
                guard await peripheral.isConnected, !Task.isCancelled else { throw error }
                if error.asksForSecurity { refused.append(request) }
            }
            let rest = Missing(requests[(place + 1)...] + refused)
            state.withLock { $0 = .asking(rest) }
        }
        return refused
    }

    private func perform(_ request: Request) async throws(RequestError) {
        switch request {
        case .read(let characteristic): _ = try await peripheral.readValue(for: characteristic)
        case .readDescriptor(let descriptor): _ = try await peripheral.readValue(for: descriptor)
        case .subscribe(let characteristic): try await peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    /// Pairs; returns `false` if that fails, so that some values cannot be read.
    private func pair() async -> Bool {
        say("pairing")
        do throws(RequestError) {
            try await peripheral.pair()
            return true
        } catch {
            if !Task.isCancelled { say("warning: values that need pairing are not read: \(error)") }
            return false
        }
    }
}

extension DeviceRecorder.Missing {
    fileprivate init(_ requests: some Collection<DeviceRecorder.Request>) {
        for request in requests {
            switch request {
            case .read, .readDescriptor: reads += 1
            case .subscribe: subscriptions += 1
            }
        }
    }
}
