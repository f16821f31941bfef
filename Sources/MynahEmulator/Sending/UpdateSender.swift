import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// Sends values of a device to subscribed centrals, and reports what was sent.
///
/// Belongs to the device's player, and runs on the phone's executor.
final class UpdateSender {
    /// Signals that there may be room again, or that nobody is left to wait for.
    let room = ChangeSignal()
    private let memory: DeviceMemory
    /// Attributes whose value was reported to be too long.
    private var tooLong: Set<AttributeKey> = []

    init(of memory: DeviceMemory) {
        self.memory = memory
    }

    /// Allows each problem to be reported again.
    func forgetReports() {
        tooLong = []
    }

    /// The recipients of a value: each central for itself if the radio can address one.
    func targets(of attribute: AttributeKey) -> [Ticker.Target] {
        guard let subscribers = memory.manager?.access.subscribers(of: attribute) else { return [] }
        guard !subscribers.hasUnnamed, subscribers.areAddressable else {
            return subscribers.hasUnnamed || !subscribers.named.isEmpty ? [.everyone] : []
        }
        return subscribers.named.map { .central($0) }
    }

    /// Returns whether there was room, or `nil` if the value could not be sent at all.
    func send(_ value: [UInt8], of attribute: AttributeKey, to central: Peer.ID?) -> Bool? {
        guard let manager = memory.manager else { return nil }
        do throws(RadioError) {
            return try manager.access.updateValue(
                value, for: attribute, onSubscribedCentrals: central.map { [$0] })
        } catch {
            // Once for each attribute: at a thousand a second it would bury everything else.
            if tooLong.insert(attribute).inserted {
                reportError(error.description, on: attribute)
            }
            return nil
        }
    }

    /// Offers a value to one subscriber or to all of them.
    func offer(
        _ value: [UInt8], of attribute: AttributeKey, to central: Central.ID?
    ) -> Result<SendResult, RadioError> {
        guard let manager = memory.manager else {
            return .failure(RadioError(.invalidState, "the app \(memory.device.label) has ended"))
        }
        do throws(RadioError) {
            return .success(try manager.access.send(value, of: attribute, to: central.map { [$0] }))
        } catch {
            return .failure(error)
        }
    }

    /// A woken app that sends what it was not woken for.
    func noteExtraneous(_ attribute: AttributeKey) {
        guard memory.appSide.isNewlyExtraneous(attribute) else { return }
        memory.appSide.app?.access.noteExtraneousWork(on: attribute)
    }

    // MARK: Reports

    /// Reports a value that was sent to one central, or to several; one with `every` has the number of its
    /// tick.
    ///
    /// Each central whose link carries less than the value has an event of its own, with what it receives.
    func reportNotified(
        _ value: [UInt8], of attribute: AttributeKey, to central: Peer.ID? = nil,
        among receivers: [Peer.ID] = [], tick: Int64? = nil
    ) {
        guard memory.events.isObserved else { return }
        func report(_ value: [UInt8], to central: Central?, length: Int? = nil) {
            memory.report(.notified, on: attribute, central) {
                $0.value = value
                $0.tick = tick.map { Int($0) }
                $0.length = length
            }
        }
        let all = central.map { [$0] } ?? receivers
        // Every link carries this.
        let fits = value.count <= GATT.defaultMTU - GATT.notificationHeaderLength
        let cut =
            fits ? [] : all.filter { memory.manager?.access.room(for: $0).map { $0 < value.count } == true }
        if all.isEmpty || cut.count < all.count { report(value, to: central.flatMap(named)) }
        for id in cut {
            guard let central = named(id) else { continue }
            report(
                Array(value.prefix(central.maximumUpdateValueLength)), to: central, length: value.count)
        }
    }

    private func reportError(_ message: String, on attribute: AttributeKey) {
        memory.events.report(
            .error, .notice(.init(message, on: memory.table.eventAttribute(of: attribute))),
            isQueued: memory.appSide.isDeliveringQueued)
    }

    func named(_ central: Peer.ID) -> Central? {
        memory.manager?.access.central(central)
    }
}
