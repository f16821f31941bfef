import MynahDBus

/// A phone that a test plays: everything goes through the stand-in, as it would through the air.
///
/// Characteristics are named by UUID (`2a37`), with the service's UUID if several have it (`180d:2a37`),
/// and descriptors by their UUID after a slash (`2a37/2901`).
public struct VirtualCentral: Sendable {
    /// The stand-in that it connects to.
    public let standIn: BlueZStandIn
    /// Its address.
    public let address: String

    init(_ standIn: BlueZStandIn, address: String) {
        self.standIn = standIn
        self.address = address
    }

    /// The Device1 object's path as text.
    public var path: String {
        get async { await standIn.centrals[address]?.path.string ?? "" }
    }

    /// Connects to a connectable advertisement that is on the air; `mtu` as if exchanged already.
    public func connect(mtu: Int = 23, on adapter: String = "hci0") async throws(ATTFailure) {
        try await standIn.connect(address, mtu: mtu, to: adapter)
    }

    /// Leaves.
    public func disconnect() async { await standIn.disconnect(address) }

    /// Is forgotten by the daemon, as an unbonded central is 30 s after it has left.
    public func forget() async { await standIn.forget(address) }

    /// Reads what fits into one PDU, from an offset.
    public func read(_ attribute: String, offset: Int = 0) async throws(ATTFailure) -> [UInt8] {
        try await standIn.read(attribute, offset: offset, by: address)
    }

    /// Reads all of a value, part by part.
    public func readLong(_ attribute: String) async throws(ATTFailure) -> [UInt8] {
        let part = await standIn.centrals[address].map { $0.mtu - 1 } ?? 22
        var value = try await read(attribute)
        var last = value.count
        while last == part, value.count < 512 {
            let more = try await read(attribute, offset: value.count)
            last = more.count
            value += more
        }
        return Array(value.prefix(512))
    }

    /// Writes with a request, or with a command that wants no response.
    public func write(_ attribute: String, _ value: [UInt8], command: Bool = false) async throws(ATTFailure) {
        try await standIn.write(attribute, value, isCommand: command, by: address)
    }

    /// Writes with prepared parts.
    public func writePrepared(
        _ attribute: String, _ parts: [(offset: Int, value: [UInt8])]
    ) async throws(ATTFailure) {
        try await standIn.writePrepared(attribute, parts, by: address)
    }

    /// Writes a long value as parts of one PDU each.
    public func writeLong(_ attribute: String, _ value: [UInt8]) async throws(ATTFailure) {
        let width = await standIn.centrals[address].map { $0.mtu - 5 } ?? 18
        let parts = stride(from: 0, to: max(value.count, 1), by: width).map { start in
            (offset: start, value: Array(value[start..<min(start + width, value.count)]))
        }
        try await writePrepared(attribute, parts)
    }

    /// Asks for notifications.
    public func subscribe(_ characteristic: String) async throws(ATTFailure) {
        try await standIn.configure(characteristic, 1, by: address)
    }

    /// Asks for indications.
    public func subscribeToIndications(_ characteristic: String) async throws(ATTFailure) {
        try await standIn.configure(characteristic, 2, by: address)
    }

    /// Wants neither any more.
    public func unsubscribe(_ characteristic: String) async throws(ATTFailure) {
        try await standIn.configure(characteristic, 0, by: address)
    }

    /// Pairs, with this number shown or typed where one is.
    public func pair(passkey: UInt32 = 123_456) async throws(ATTFailure) {
        try await standIn.pair(address, passkey: passkey)
    }

    /// The next notifications and indications, as many as asked for, in order.
    public func notifications(_ count: Int = 1) async throws -> [StandInNotification] {
        let address = address
        try await standIn.wait("the central has \(count) notifications") {
            $0.centrals[address].map { $0.inbox.count >= count } ?? false
        }
        return await standIn.takeNotifications(count, of: address)
    }

    /// How many notifications and indications have come and have not been taken.
    public var waitingNotifications: Int {
        get async { await standIn.centrals[address]?.inbox.count ?? 0 }
    }
}

extension BlueZStandIn {
    func takeNotifications(_ count: Int, of address: String) -> [StandInNotification] {
        guard let inbox = centrals[address]?.inbox else { return [] }
        centrals[address]?.inbox.removeFirst(min(count, inbox.count))
        return Array(inbox.prefix(count))
    }
}
