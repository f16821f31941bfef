import MynahCore
import MynahSupport

/// The client's end of one ATT bearer (Core Specification, Vol 3, Part F), without I/O: procedures and PDUs in, actions out.
///
/// Procedures run one after the other, because prepared writes of two would mix in the server's one queue; of each, one request
/// is under way at a time (3.3.2).
struct ATTClient: Sendable {
    /// What it wants done.
    enum Action: Hashable, Sendable {
        case send([UInt8])
        /// A procedure is over.
        case ended(UInt64, Result<GATTValue, RequestError>)
        /// The server sent a value by itself.
        case notified(UInt16, [UInt8], Delivery)
    }

    /// What both ends of a bearer have agreed on.
    struct Bearer: Hashable, Sendable {
        var mtu = GATT.defaultMTU
        /// The client has asked for an MTU, which it does once (3.4.2.1).
        var hasExchangedMTU = false
    }

    private struct Entry: Sendable {
        var number: UInt64
        var procedure: any GATTProcedure
    }

    /// The MTU is the server's end's too, which may have agreed on another.
    var bearer = Bearer()
    /// The opcode of the request that was sent and not answered yet.
    private var asked: UInt8?
    private var running: Entry?
    private var waiting: [Entry] = []
    private var last: UInt64 = 0
    /// A transaction was not completed in time: no other may follow on this bearer (3.3.3).
    private(set) var isDead = false
    /// How many requests were sent; names the one that is under way.
    private(set) var transaction: UInt64 = 0

    /// Whether a request is under way.
    var isAwaiting: Bool { asked != nil }

    /// Whether a PDU is for a client: responses, notifications and indications have odd opcodes without the command bit.
    static func takes(_ opcode: UInt8) -> Bool { opcode & 0x41 == 0x01 }

    /// Takes a procedure, and returns its number.
    mutating func add(_ procedure: any GATTProcedure) -> (number: UInt64, [Action]) {
        last += 1
        guard !isDead else { return (last, [.ended(last, .failure(Self.overdue))]) }
        waiting.append(Entry(number: last, procedure: procedure))
        return (last, running == nil ? startNext() : [])
    }

    private mutating func startNext() -> [Action] {
        var actions: [Action] = []
        while running == nil, !waiting.isEmpty {
            var entry = waiting.removeFirst()
            let step = entry.procedure.begin(bearer)
            running = entry
            actions += carryOut(step)
        }
        return actions
    }

    private mutating func carryOut(_ step: GATTStep) -> [Action] {
        guard let number = running?.number else { return [] }
        switch step {
        case .ask(let pdu):
            asked = pdu.first
            transaction += 1
            return [.send(pdu)]
        case .done(let value):
            if case .mtu(let mtu) = value { bearer = Bearer(mtu: mtu, hasExchangedMTU: true) }
            running = nil
            return [.ended(number, .success(value))]
        case .failed(let error):
            running = nil
            return [.ended(number, .failure(error))]
        }
    }

    /// Takes a PDU of the server; what answers nothing is dropped.
    mutating func receive(_ bytes: [UInt8]) -> [Action] {
        var reader = ByteReader(bytes)
        guard let opcode = reader.readUInt8() else { return [] }
        switch opcode {
        case ATTOpcode.handleValueNotification:
            guard let handle = reader.readUInt16() else { return [] }
            return [.notified(handle, reader.readRest(), .notification)]
        case ATTOpcode.handleValueIndication:
            guard let handle = reader.readUInt16() else { return [] }
            // Confirmed once it has been told.
            return [
                .notified(handle, reader.readRest(), .indication), .send([ATTOpcode.handleValueConfirmation]),
            ]
        case ATTOpcode.multipleHandleValueNotification:
            return notifications(&reader)
        case ATTOpcode.errorResponse:
            guard let asked, reader.readUInt8() == asked, reader.readUInt16() != nil,
                let code = reader.readUInt8()
            else { return [] }
            return answered(.failure(ATTError(code: code)))
        default:
            guard let asked, opcode == asked + 1 else { return [] }
            return answered(.success(reader.readRest()))
        }
    }

    private mutating func answered(_ answer: Result<[UInt8], ATTError>) -> [Action] {
        guard let step = running?.procedure.take(answer) else { return [] }
        asked = nil
        let actions = carryOut(step)
        return running == nil ? actions + startNext() : actions
    }

    private func notifications(_ reader: inout ByteReader) -> [Action] {
        var actions: [Action] = []
        while let handle = reader.readUInt16(), let length = reader.readUInt16(),
            let value = reader.readBytes(Int(length))
        {
            actions.append(.notified(handle, value, .notification))
        }
        return actions
    }

    /// The 30 s of a transaction are over; one that was answered meanwhile is none of it.
    mutating func timedOut(_ number: UInt64) -> [Action] {
        guard isAwaiting, transaction == number else { return [] }
        isDead = true
        return end(Self.overdue)
    }

    /// Nothing that was asked for will be answered any more.
    mutating func end(_ error: RequestError) -> [Action] {
        let all = [running].compactMap { $0 } + waiting
        asked = nil
        running = nil
        waiting = []
        return all.map { .ended($0.number, .failure(error)) }
    }

    private static let overdue = RequestError.failed(
        RadioError(
            .timedOut, "the peripheral did not answer a request in time, and can be asked nothing more"))
}
