import MynahCore
import MynahSupport

/// Exchanges the MTU (Core Specification, Vol 3, Part G, 4.3.1).
struct MTUExchange: GATTProcedure {
    let ownMTU: Int

    func bearer(_ bearer: ATTClient.Bearer, after value: Int) -> ATTClient.Bearer {
        var bearer = bearer
        bearer.mtu = value
        bearer.hasExchangedMTU = true
        return bearer
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<Int> {
        // The MTU may be exchanged only once on a bearer.
        bearer.hasExchangedMTU
            ? .done(bearer.mtu) : .ask(ATTClientPDU.exchangeMTU(UInt16(clamping: ownMTU)))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<Int> {
        switch answer {
        // A server that does not support the exchange keeps the default (Part F, 3.4.2.2).
        case .failure(.requestNotSupported): return .done(GATT.defaultMTU)
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            var reader = ByteReader(bytes)
            guard let theirs = reader.readUInt16(), reader.isAtEnd else {
                return .violated("the peripheral returned no MTU")
            }
            return .done(max(GATT.defaultMTU, min(ownMTU, Int(theirs))))
        }
    }
}

/// Reads a value of any length (4.8.1 and 4.8.3).
struct ValueRead: GATTProcedure {
    let handle: AttributeHandle
    private var mtu = GATT.defaultMTU
    private var value: [UInt8] = []

    init(_ handle: AttributeHandle) {
        self.handle = handle
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[UInt8]> {
        mtu = bearer.mtu
        return .ask(ATTClientPDU.read(handle))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[UInt8]> {
        switch answer {
        // The last answer was the end of the value, or the value has become shorter since.
        case .failure(.invalidOffset) where !value.isEmpty, .failure(.attributeNotLong) where !value.isEmpty:
            return .done(value)
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            value += bytes
            guard value.count <= GATT.maximumValueLength else {
                return .violated(
                    "the peripheral returned a value of more than \(GATT.maximumValueLength) bytes")
            }
            guard bytes.count >= mtu - 1, value.count < GATT.maximumValueLength else {
                return .done(value)
            }
            return .ask(ATTClientPDU.readBlob(handle, offset: UInt16(clamping: value.count)))
        }
    }
}

/// Reads several values with their lengths in one request (4.8.5).
///
/// The result has `nil` for each value that was cut or left out.
struct MultipleRead: GATTProcedure {
    let handles: [AttributeHandle]

    /// The largest number of handles that fit into one request.
    static func limit(mtu: Int) -> Int { max(2, (mtu - 1) / 2) }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[[UInt8]?]> {
        .ask(ATTClientPDU.readMultiple(handles, isVariable: true))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[[UInt8]?]> {
        switch answer {
        case .failure(let error): return .failed(.refused(error))
        case .success(let bytes):
            var reader = ByteReader(bytes)
            var values = [[UInt8]?](repeating: nil, count: handles.count)
            for index in handles.indices {
                // Only the last value of an answer may be cut.
                guard let length = reader.readUInt16(), let value = reader.readBytes(Int(length)) else {
                    return .done(values)
                }
                values[index] = value
            }
            guard reader.isAtEnd else {
                return .violated("the peripheral returned more values than requested")
            }
            return .done(values)
        }
    }
}

/// Reads several values of any length with as few requests as possible.
///
/// If the server does not support Read Multiple Variable, the values are read one by one.
struct ValuesRead: GATTProcedure {
    private enum Read: Sendable {
        case together(MultipleRead)
        case single(ValueRead)
    }

    /// The handles of the values that are still missing.
    private var rest: ArraySlice<AttributeHandle>
    /// The values that the last read of several handles returned, in the order of `rest`.
    ///
    /// An element is `nil` if its value must be read alone.
    private var found: ArraySlice<[UInt8]?> = []
    private var values: [[UInt8]] = []
    private var read: Read?
    private var bearer = ATTClient.Bearer()

    init(_ handles: [AttributeHandle]) {
        rest = handles[...]
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[[UInt8]]> {
        self.bearer = bearer
        return next()
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[[UInt8]]> {
        switch read {
        case .together(var procedure):
            switch procedure.resume(answer) {
            case .ask(let pdu): return .ask(pdu)
            case .done(let values): found = values[...]
            case .failed(.refused(.requestNotSupported)):
                found = ArraySlice(repeating: nil, count: procedure.handles.count)
            case .failed(let error): return .failed(error)
            }
        case .single(var procedure):
            let step = procedure.resume(answer)
            read = .single(procedure)
            switch step {
            case .ask(let pdu): return .ask(pdu)
            case .done(let value): took(value)
            case .failed(let error): return .failed(error)
            }
        case nil: break
        }
        return next()
    }

    private mutating func took(_ value: [UInt8]) {
        values.append(value)
        rest.removeFirst()
        found.removeFirst()
    }

    private mutating func next() -> GATTStep<[[UInt8]]> {
        while case .some(.some(let value)) = found.first { took(value) }
        guard let handle = rest.first else { return .done(values) }
        let several = rest.prefix(MultipleRead.limit(mtu: bearer.mtu))
        if found.isEmpty, several.count > 1 {
            var procedure = MultipleRead(handles: Array(several))
            let step = procedure.start(bearer)
            read = .together(procedure)
            return forward(step)
        }
        if found.isEmpty { found = [nil] }
        var procedure = ValueRead(handle)
        let step = procedure.start(bearer)
        read = .single(procedure)
        return forward(step)
    }

    /// Converts the first step of another procedure to a step of this one; it must not be `done`.
    private func forward<Value>(_ step: GATTStep<Value>) -> GATTStep<[[UInt8]]> {
        switch step {
        case .ask(let pdu): .ask(pdu)
        case .failed(let error): .failed(error)
        case .done: .violated("a read ended before it began")
        }
    }
}

/// Reads several values of known lengths in one request; the result is all values without separators (4.8.4).
struct ConcatenatedRead: GATTProcedure {
    let handles: [AttributeHandle]

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<[UInt8]> {
        .ask(ATTClientPDU.readMultiple(handles, isVariable: false))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<[UInt8]> {
        switch answer {
        case .failure(let error): .failed(.refused(error))
        case .success(let bytes): .done(bytes)
        }
    }
}

/// Writes a value and waits for the response (4.9.3 to 4.9.5).
///
/// A value that is too long for one request is written in prepared parts. The response to each part must
/// repeat the part; otherwise the whole write is cancelled.
struct ValueWrite: GATTProcedure {
    private enum State: Hashable, Sendable {
        case writing
        case preparing(offset: Int, part: [UInt8])
        case executing
        case cancelling(RequestError)
    }

    let handle: AttributeHandle
    let value: [UInt8]
    private var mtu = GATT.defaultMTU
    private var state = State.writing

    init(_ handle: AttributeHandle, _ value: [UInt8]) {
        self.handle = handle
        self.value = value
    }

    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<Void> {
        mtu = bearer.mtu
        guard value.count <= GATT.maximumValueLength else {
            return .failed(
                .failed(
                    RadioError(
                        .valueTooLong,
                        "the value has \(value.count) bytes; the maximum is \(GATT.maximumValueLength)"
                    )))
        }
        guard value.count > mtu - 3 else { return .ask(ATTClientPDU.write(handle, value)) }
        return prepare(at: 0)
    }

    private mutating func prepare(at offset: Int) -> GATTStep<Void> {
        let part = Array(value[offset..<min(offset + mtu - 5, value.count)])
        state = .preparing(offset: offset, part: part)
        return .ask(ATTClientPDU.prepareWrite(handle, offset: UInt16(clamping: offset), part))
    }

    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<Void> {
        switch (state, answer) {
        case (.cancelling(let error), _): return .failed(error)
        case (.writing, .failure(let error)), (.executing, .failure(let error)):
            return .failed(.refused(error))
        case (.writing, .success), (.executing, .success): return .done(())
        case (.preparing, .failure(let error)): return cancel(.refused(error))
        case (.preparing(let offset, let part), .success(let bytes)):
            guard
                bytes.elementsEqual(
                    ATTClientPDU.prepareWrite(handle, offset: UInt16(clamping: offset), part).dropFirst())
            else {
                return cancel(
                    .failed(
                        RadioError(
                            .protocolViolation,
                            "the peripheral returned another value than the one that was sent")))
            }
            guard offset + part.count == value.count else { return prepare(at: offset + part.count) }
            state = .executing
            return .ask(ATTClientPDU.executeWrite(isCancelled: false))
        }
    }

    private mutating func cancel(_ error: RequestError) -> GATTStep<Void> {
        state = .cancelling(error)
        return .ask(ATTClientPDU.executeWrite(isCancelled: true))
    }
}
