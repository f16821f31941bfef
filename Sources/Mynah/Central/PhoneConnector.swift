import MynahCore
import MynahLifecycle

/// Has a phone's radio connect to the devices that managers wait for.
///
/// It belongs to its phone, and runs on its executor. The radio is asked once for each device, and waits without end.
final class PhoneConnector {
    private struct Attempt {
        var task: Task<Void, Never>
        /// Nobody waits for it any more, or its link was reported.
        var isOver = false
    }

    private var attempts: [DeviceAddress: Attempt] = [:]

    /// The addresses that the radio was asked for and has not answered.
    var addresses: [DeviceAddress] { attempts.filter { !$0.value.isOver }.map(\.key) }

    /// Brings the radio in step with what is wanted now.
    func update(on phone: isolated Phone) {
        let central = phone.central
        guard let radio = central.radio, central.radioState == .poweredOn else { return }
        let wanted = central.wantedNow
        for (address, attempt) in attempts where !attempt.isOver && !wanted.contains(address) {
            attempts[address]?.isOver = true
            attempt.task.cancel()
        }
        for address in wanted where attempts[address] == nil { begin(address, radio, PhoneLink(phone)) }
    }

    /// A link to a device was reported: the request for it is about to return.
    func arrived(_ address: DeviceAddress) {
        attempts[address]?.isOver = true
    }

    private func begin(_ address: DeviceAddress, _ radio: any CentralRadio, _ link: PhoneLink) {
        // It keeps the radio and not the phone, which may go meanwhile.
        let task = Task {
            let result: Result<Peer, RadioError>
            do throws(RadioError) {
                result = .success(try await radio.connect(address, timeout: nil))
            } catch {
                result = .failure(error)
            }
            await link.perform { $0.central.connector.ended(address, result, on: $0) }
        }
        attempts[address] = Attempt(task: task)
    }

    private func ended(
        _ address: DeviceAddress, _ result: Result<Peer, RadioError>, on phone: isolated Phone
    ) {
        guard let attempt = attempts.removeValue(forKey: address) else { return }
        switch result {
        case .success: phone.central.connectionEnded(to: address, result, on: phone)
        // Nobody waits for it any more, or the radio is gone, which is reported by itself.
        case .failure(let error) where !attempt.isOver && error.code != .lost:
            phone.central.connectionEnded(to: address, result, on: phone)
        case .failure: break
        }
        update(on: phone)
    }

    /// The radio is gone: what it was asked for comes to nothing, and is asked for again when it has said so.
    func stop() {
        for (address, attempt) in attempts {
            attempts[address]?.isOver = true
            attempt.task.cancel()
        }
    }
}

extension PhoneCentral {
    /// The devices to listen for now, for a manager that is listened for.
    var wantedNow: [DeviceAddress] {
        ledger.wanted.filter { want in
            want.managers.contains { key in
                managers.contains { $0.key == key && $0.connectionMode(radioState) != .off }
            }
        }.map(\.address)
    }
}
