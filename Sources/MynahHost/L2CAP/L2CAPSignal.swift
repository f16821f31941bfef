import MynahCore
import MynahSupport

/// A command of the LE signalling channel (Core Specification, Vol 3, Part A, 4).
enum L2CAPSignal: Hashable, Sendable {
    /// The reason for rejecting a command.
    enum Rejection: UInt16, Hashable, Sendable {
        case notUnderstood = 0x0000
        case signallingMTUExceeded = 0x0001
        case invalidChannel = 0x0002
    }

    case reject(Rejection)
    /// Rejects a command for a channel that does not exist (4.1).
    case rejectChannel(local: UInt16, remote: UInt16)
    case disconnectionRequest(destination: UInt16, source: UInt16)
    case disconnectionResponse(destination: UInt16, source: UInt16)
    case parameterUpdateRequest(ConnectionParameterRange)
    case parameterUpdateResponse(isAccepted: Bool)
    case creditConnectionRequest(psm: UInt16, source: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16)
    case creditConnectionResponse(
        destination: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16, result: UInt16)
    case credits(channel: UInt16, count: UInt16)
    /// A command with an unknown code or a wrong length.
    case unknown(code: UInt8)

    /// The command in a PDU and its identifier, or `nil` if the PDU is too short or the identifier is 0.
    static func parse(_ bytes: [UInt8]) -> (identifier: UInt8, signal: L2CAPSignal)? {
        var reader = ByteReader(bytes)
        guard let code = reader.readUInt8(), let identifier = reader.readUInt8(),
            let length = reader.readUInt16()
        else { return nil }
        // An LE signalling PDU contains one command, and zero is not a valid identifier (4).
        guard identifier != 0 else { return nil }
        guard reader.remaining == Int(length), let signal = parse(code, &reader), reader.isAtEnd else {
            return (identifier, .unknown(code: code))
        }
        return (identifier, signal)
    }

    private static func parse(_ code: UInt8, _ reader: inout ByteReader) -> L2CAPSignal? {
        func numbers(_ count: Int) -> [UInt16]? {
            var list: [UInt16] = []
            for _ in 0..<count {
                guard let number = reader.readUInt16() else { return nil }
                list.append(number)
            }
            return list
        }
        switch code {
        case 0x01:
            let reason = reader.readUInt16().flatMap { Rejection(rawValue: $0) }
            _ = reader.readRest()
            return reason.map { .reject($0) }
        case 0x06: return numbers(2).map { .disconnectionRequest(destination: $0[0], source: $0[1]) }
        case 0x07: return numbers(2).map { .disconnectionResponse(destination: $0[0], source: $0[1]) }
        case 0x12:
            return numbers(4).map {
                .parameterUpdateRequest(
                    ConnectionParameterRange(minimum: $0[0], maximum: $0[1], latency: $0[2], timeout: $0[3]))
            }
        case 0x13: return numbers(1).map { .parameterUpdateResponse(isAccepted: $0[0] == 0) }
        case 0x14:
            return numbers(5).map {
                .creditConnectionRequest(psm: $0[0], source: $0[1], mtu: $0[2], mps: $0[3], credits: $0[4])
            }
        case 0x15:
            return numbers(5).map {
                .creditConnectionResponse(
                    destination: $0[0], mtu: $0[1], mps: $0[2], credits: $0[3], result: $0[4])
            }
        case 0x16: return numbers(2).map { .credits(channel: $0[0], count: $0[1]) }
        default: return nil
        }
    }

    /// The command as a PDU.
    func bytes(identifier: UInt8) -> [UInt8] {
        let (code, numbers): (UInt8, [UInt16]) =
            switch self {
            case .reject(let reason): (0x01, [reason.rawValue])
            case .rejectChannel(let local, let remote):
                (0x01, [Rejection.invalidChannel.rawValue, local, remote])
            case .disconnectionRequest(let destination, let source): (0x06, [destination, source])
            case .disconnectionResponse(let destination, let source): (0x07, [destination, source])
            case .parameterUpdateRequest(let range):
                (0x12, [range.minimum, range.maximum, range.latency, range.timeout])
            case .parameterUpdateResponse(let isAccepted): (0x13, [isAccepted ? 0 : 1])
            case .creditConnectionRequest(let psm, let source, let mtu, let mps, let credits):
                (0x14, [psm, source, mtu, mps, credits])
            case .creditConnectionResponse(let destination, let mtu, let mps, let credits, let result):
                (0x15, [destination, mtu, mps, credits, result])
            case .credits(let channel, let count): (0x16, [channel, count])
            case .unknown(let code): (code, [])
            }
        var writer = ByteWriter(capacity: 4 + 2 * numbers.count)
        writer.write([code, identifier])
        writer.write(UInt16(2 * numbers.count))
        for number in numbers { writer.write(number) }
        return writer.bytes
    }
    /// The command as a frame of the signalling channel.
    func frame(identifier: UInt8) -> L2CAPFrame {
        L2CAPFrame(channel: L2CAPFrame.Channel.signalling, payload: bytes(identifier: identifier))
    }
}
