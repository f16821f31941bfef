import MynahCore
import MynahSupport

// Commands for one connection (Core Specification, Vol 4, Part E, 7.1.6, 7.1.23, 7.5.4, 7.8.18 to 7.8.36 and
// 7.8.49).
//
// Return parameters begin with the connection handle.
extension Connections {
    /// Answers a command that reads a connection's state; `values` returns the return parameters after the
    /// handle.
    func read(_ reader: inout ByteReader, _ values: (Connection) -> [UInt8]) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle() else { return nil }
        guard let connection = connection(handle) else {
            return .connection(handle, .unknownConnectionIdentifier)
        }
        return .connection(handle, .success, values(connection))
    }

    /// Performs Disconnect.
    mutating func disconnect(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let reason = reader.readUInt8(),
            [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(reason)
        else { return nil }
        return .begun(
            change(handle, at: now, &outbox) { connection, actions in
                connection.disconnect(HCIStatus(reason), &actions)
            })
    }

    // MARK: Features and version of the peer

    /// Performs Read Remote Version Information.
    mutating func readRemoteVersion(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle() else { return nil }
        let own = settings.version
        return .begun(
            change(handle, at: now, &outbox) { connection, actions in
                connection.version.read(own, connection.endpoints, &actions)
                return .success
            })
    }

    /// Performs LE Read Remote Features.
    mutating func readRemoteFeatures(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle() else { return nil }
        let own = settings.features
        return .begun(change(handle, at: now, &outbox) { $0.features.read(own, &$1) })
    }

    // MARK: Connection parameters

    /// Performs LE Connection Update.
    mutating func update(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let maximum = reader.peekSecond(),
            let parameters = LEConnection.Parameters(range: &reader)
        else { return nil }
        return .begun(
            change(handle, at: now, &outbox) { connection, actions in
                guard connection.stage == .open else { return .unknownConnectionIdentifier }
                return connection.parameters.update(
                    parameters, maximum: maximum, as: connection.endpoints.role, &actions)
            })
    }

    /// Performs LE Remote Connection Parameter Request Reply.
    mutating func acceptUpdate(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(),
            let parameters = LEConnection.Parameters(range: &reader)
        else { return nil }
        return .connection(
            handle, change(handle, at: now, &outbox) { $0.parameters.accept(parameters, &$1) })
    }

    /// Performs LE Remote Connection Parameter Request Negative Reply.
    mutating func refuseUpdate(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let reason = reader.readUInt8() else { return nil }
        return .connection(
            handle, change(handle, at: now, &outbox) { $0.parameters.refuse(HCIStatus(reason), &$1) })
    }

    // MARK: Data length and PHYs

    /// Performs LE Set Data Length.
    mutating func setDataLength(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let octets = reader.readUInt16(),
            let time = reader.readUInt16(), DataLengthProcedure.isValid(octets: octets, time: time)
        else { return nil }
        return .connection(
            handle,
            change(handle, at: now, &outbox) { connection, actions in
                connection.lengths.begin(octets: octets, time: time, &actions)
                return .success
            })
    }

    /// Performs LE Set PHY.
    mutating func setPHYs(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let all = reader.readUInt8(),
            let sending = reader.readUInt8(), let receiving = reader.readUInt8(),
            let options = reader.readUInt16(), options <= 2,
            let wanted = LinkPHYs(all: all, sending: sending, receiving: receiving)
        else { return nil }
        return .begun(change(handle, at: now, &outbox) { $0.phys.request(wanted, &$1) })
    }

    // MARK: Encryption

    /// Performs LE Enable Encryption.
    mutating func encrypt(
        _ reader: inout ByteReader, at now: AirTime, _ random: inout SeededRandom,
        _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let value = reader.readBytes(8),
            let diversifier = reader.readUInt16(), let key = reader.readBytes(16)
        else { return nil }
        return .begun(
            change(handle, at: now, &outbox) { connection, actions in
                guard connection.stage == .open else { return .unknownConnectionIdentifier }
                guard connection.endpoints.role == .central, !connection.encryption.isUnderWay
                else { return .commandDisallowed }
                connection.encryption.begin(
                    key, random: value, diversifier: diversifier, nonce: random.next(), at: now, &actions)
                return .success
            })
    }

    /// Performs LE Long Term Key Request Reply.
    mutating func replyWithKey(
        _ reader: inout ByteReader, at now: AirTime, _ random: inout SeededRandom,
        _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle(), let key = reader.readBytes(16) else { return nil }
        return .connection(
            handle,
            change(handle, at: now, &outbox) { connection, actions in
                guard connection.encryption.awaitsKey else { return .commandDisallowed }
                connection.encryption.reply(key, own: random.next(), &actions)
                return .success
            })
    }

    /// Performs LE Long Term Key Request Negative Reply.
    mutating func refuseKey(
        _ reader: inout ByteReader, at now: AirTime, _ outbox: inout ControllerOutbox
    ) -> CommandAnswer? {
        guard let handle = reader.readConnectionHandle() else { return nil }
        return .connection(
            handle,
            change(handle, at: now, &outbox) { connection, actions in
                guard connection.encryption.awaitsKey else { return .commandDisallowed }
                connection.encryption.refuse(&actions)
                return .success
            })
    }
}

extension CommandAnswer {
    /// The answer to a command that begins a procedure on a connection.
    ///
    /// A status of `nil` means that there is no such connection.
    fileprivate static func begun(_ status: HCIStatus?) -> CommandAnswer {
        .status(status ?? .unknownConnectionIdentifier)
    }

    /// The answer to a command on a connection, with the handle and further return parameters.
    ///
    /// A status of `nil` means that there is no such connection.
    fileprivate static func connection(
        _ handle: ConnectionHandle, _ status: HCIStatus?, _ values: [UInt8] = []
    ) -> CommandAnswer {
        .complete(
            status ?? .unknownConnectionIdentifier, handle.littleEndianBytes + values)
    }
}

extension ByteReader {
    /// Returns the second of the next two 16-bit integers, without consuming any bytes.
    fileprivate func peekSecond() -> UInt16? {
        var copy = self
        guard copy.readUInt16() != nil else { return nil }
        return copy.readUInt16()
    }
}
