import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// Sends values of a device to subscribed centrals, and reports the sent values.
///
/// Belongs to the device's player, and runs on the phone's executor.
final class UpdateSender {
    /// The signal that is sent when a link may have space again, or when a central leaves.
    let room = ChangeSignal()
    private let memory: DeviceMemory
    /// The attributes for which a value was reported as too long.
    private var tooLong: Set<AttributeKey> = []
    /// The last sent value as each subscriber receives it; empty if no fault has changed the value.
    ///
    /// This is `nil` if faults are not possible.
    private let made: Lock<[DeliveredValue]>?
    /// The values changed by faults that were not reported yet.
    private var faulted: [DeliveredValue] = []

    init(of memory: DeviceMemory, faulted: Lock<[DeliveredValue]>?) {
        self.memory = memory
        made = faulted
    }

    /// Allows problems that were already reported to be reported again.
    func forgetReports() {
        tooLong = []
    }

    /// Returns the recipients of a value: each central separately if the radio can address a single one.
    func targets(of attribute: AttributeKey) -> [Ticker.Target] {
        guard let subscribers = memory.manager?.access.subscribers(of: attribute) else { return [] }
        guard !subscribers.hasUnnamed, subscribers.areAddressable else {
            return subscribers.hasUnnamed || !subscribers.named.isEmpty ? [.everyone] : []
        }
        return subscribers.named.map { .central($0) }
    }

    /// Sends a value; returns whether the link accepted the value.
    ///
    /// Returns `nil` if the value cannot be sent at all, for example because it is too long.
    func send(_ value: [UInt8], of attribute: AttributeKey, to central: Peer.ID?) -> Bool? {
        guard let manager = memory.manager else { return nil }
        do throws(RadioError) {
            let hasRoom = try manager.access.updateValue(
                value, for: attribute, onSubscribedCentrals: central.map { [$0] })
            noteFaults()
            return hasRoom
        } catch {
            // Reported once for each attribute: a thousand messages a second would hide everything else.
            if tooLong.insert(attribute).inserted {
                reportError(error.description, on: attribute)
            }
            return nil
        }
    }

    /// Sends a value to one subscriber or to all of them, without reporting an event.
    func offer(
        _ value: [UInt8], of attribute: AttributeKey, to central: Central.ID?
    ) -> Result<SendResult, RadioError> {
        guard let manager = memory.manager else {
            return .failure(RadioError(.invalidState, "the app \(memory.device.label) has ended"))
        }
        do throws(RadioError) {
            let result = try manager.access.send(value, of: attribute, to: central.map { [$0] })
            noteFaults()
            return .success(result)
        } catch {
            return .failure(error)
        }
    }

    /// Moves the changes that faults made to the last sent value into `faulted`.
    private func noteFaults() {
        guard let made else { return }
        faulted += made.withLock { made in
            defer { made = [] }
            return made
        }
    }

    /// Reports extraneous work (`ExtraneousWork`) if a woken app sends a value of an attribute that did not
    /// wake it.
    func noteExtraneous(_ attribute: AttributeKey) {
        guard memory.appSide.isNewlyExtraneous(attribute) else { return }
        memory.appSide.app?.access.noteExtraneousWork(on: attribute)
    }

    // MARK: Reports

    /// Reports a value that was sent to one or several centrals.
    ///
    /// `tick` is the tick number of a periodic value. A central that receives other bytes, because its link
    /// cut the value or a fault changed it, gets a separate event with those bytes. A central that receives
    /// nothing because of a fault gets no event.
    func reportNotified(
        _ value: [UInt8], of attribute: AttributeKey, to central: Peer.ID? = nil,
        among receivers: [Peer.ID] = [], tick: Int64? = nil
    ) {
        let faulted = faulted
        self.faulted = []
        guard memory.events.isObserved else { return }
        func report(_ value: [UInt8], to central: Central?, length: Int? = nil) {
            memory.report(.notified, on: attribute, central) {
                $0.value = value
                $0.tick = tick.map { Int($0) }
                $0.length = length
            }
        }
        // A value this short fits on every link.
        if faulted.isEmpty, value.count <= GATT.defaultMTU - GATT.notificationHeaderLength {
            return report(value, to: central.flatMap(named))
        }
        let all = central.map { [$0] } ?? (receivers.isEmpty ? faulted.compactMap(\.central) : receivers)
        guard !all.isEmpty else {
            // The radio does not report the recipients.
            if let bytes = faulted.isEmpty ? value : faulted[0].bytes { report(bytes, to: nil) }
            return
        }
        let isInPieces = memory.table.entries[attribute]?.isInPieces == true
        let parts = all.flatMap { self.parts(of: value, for: $0, faulted, isInPieces: isInPieces) }
        if parts.contains(where: { $0.bytes == value }) { report(value, to: central.flatMap(named)) }
        for part in parts where part.bytes != value {
            if let central = named(part.central) { report(part.bytes, to: central, length: part.length) }
        }
    }

    /// Returns the parts of a value that a central receives; empty if a fault drops the value.
    ///
    /// `length` is the full length if the link cuts the value, and `nil` otherwise.
    private func parts(
        of value: [UInt8], for central: Peer.ID, _ faulted: [DeliveredValue], isInPieces: Bool
    ) -> [(central: Peer.ID, bytes: [UInt8], length: Int?)] {
        // A radio that does not identify its subscribers sends all of them the same bytes.
        let changed = faulted.first { $0.central == central || $0.central == nil }
        guard let sent = changed.map(\.bytes) ?? value else { return [] }
        guard let room = memory.manager?.access.room(for: central), room < sent.count else {
            return [(central, sent, nil)]
        }
        if isInPieces { return sent.pieces(of: room).map { (central, $0, nil) } }
        return [(central, Array(sent.prefix(room)), sent.count)]
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
