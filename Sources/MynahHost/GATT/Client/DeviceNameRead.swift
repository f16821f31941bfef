import MynahCore
import MynahSupport

/// Reads the GAP device name, of any length, by its UUID (Core Specification, Vol 3, Part C, 12.1; Part G,
/// 4.8.2 and 4.8.3).
struct DeviceNameRead: GATTProcedure {
    private var mtu = GATT.defaultMTU
    /// The read of the whole name by its handle, or `nil` if that was not necessary so far.
    private var whole: ValueRead?

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<String> {
        mtu = bearer.mtu
        return .ask(ATTClientPDU.readByType(AttributeHandle.all, AttributeType.deviceName))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<String> {
        if whole != nil { return takeWhole(answer) }
        switch answer {
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            var reader = ByteReader(bytes)
            guard let length = reader.readUInt8(), length >= 2, let handle = reader.readAttributeHandle(),
                let value = reader.readBytes(Int(length) - 2)
            else { return .violated("the peripheral returned no device name") }
            // A value in a Read By Type Response has at most ATT_MTU − 4 bytes, and at most 253.
            guard value.count >= min(mtu - 4, 253) else { return .done(Self.text(value)) }
            var read = ValueRead(handle)
            let step = read.start(.init(mtu: mtu))
            whole = read
            return map(step)
        }
    }

    private mutating func takeWhole(_ answer: Result<[UInt8], ATTError>) -> GATTStep<String> {
        guard let step = whole?.resume(answer) else {
            return .violated("the peripheral returned no device name")
        }
        return map(step)
    }

    private func map(_ step: GATTStep<[UInt8]>) -> GATTStep<String> {
        switch step {
        case .ask(let pdu): .ask(pdu)
        case .done(let value): .done(Self.text(value))
        case .failed(let error): .failed(error)
        }
    }

    /// The name without the zeros that some peripherals append.
    private static func text(_ value: [UInt8]) -> String {
        String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
    }
}
