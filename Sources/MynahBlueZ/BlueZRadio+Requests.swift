import MynahCore
import MynahDBus

/// An answer that bluetoothd still waits for.
struct LateReply {
    var call: MethodCall
    var attribute: AttributeKey
    var isRead: Bool
    var due: ContinuousClock.Instant
}

// Reads and writes.
extension BlueZRadio {
    func read(_ key: AttributeKey, _ call: MethodCall) {
        var reader = call.reader()
        guard let attribute = attributes[key], let options = try? RequestOptions(&reader) else {
            return call.fail(BlueZErrors.answer(for: .unlikelyError, isRead: true))
        }
        let central = peer(of: options)
        if attribute.permissions.read == .authorized, !central.isAuthorized {
            return call.fail(BlueZErrors.answer(for: .insufficientAuthorization, isRead: true))
        }
        let request = ReadRequest(central: central.id, attribute: key, offset: options.offset)
        if let value = attribute.value {
            guard options.offset <= value.count else {
                return call.fail(BlueZErrors.answer(for: .invalidOffset, isRead: true))
            }
            let slice = options.offset == 0 ? value : Array(value[options.offset...])
            call.reply { $0.appendBytes(slice) }
            tell(.answeredRead(request, slice))
            return
        }
        answer(call, tell(.read(request)), to: key, isRead: true)
    }

    func write(_ key: AttributeKey, _ call: MethodCall) {
        var reader = call.reader()
        guard let attribute = attributes[key], let value = try? reader.readBytes(),
            let options = try? RequestOptions(&reader)
        else { return call.fail(BlueZErrors.answer(for: .unlikelyError, isRead: false)) }
        let central = peer(of: options)
        if attribute.permissions.write == .authorized, !central.isAuthorized {
            return call.fail(BlueZErrors.answer(for: .insufficientAuthorization, isRead: false))
        }
        // Only consent was asked for; the bytes follow when the write is executed.
        if options.preparesAuthorization { return call.reply() }
        guard options.offset + value.count <= attribute.maximumLength else {
            if call.wantsNoReply {
                warnOnce(
                    "writeDropped", about: attribute.uuid.description,
                    "a write of \(value.count) bytes to \(attribute.uuid), which takes \(attribute.maximumLength), was dropped; bluetoothd lets nobody refuse one beside writeWithoutResponse"
                )
            }
            return call.fail(BlueZErrors.answer(for: .invalidAttributeValueLength, isRead: false))
        }
        let request = WriteRequest(
            central: central.id, parts: [.init(attribute: key, offset: options.offset, value: value)],
            wantsResponse: !call.wantsNoReply)
        answer(call, tell(.write(request)), to: key, isRead: false)
    }

    private func answer(_ call: MethodCall, _ answer: RadioAnswer, to key: AttributeKey, isRead: Bool) {
        // Nobody waits: whatever the sink says goes nowhere.
        if call.wantsNoReply { return }
        switch answer {
        case .none: finish(call, .failure(.unlikelyError), isRead: isRead)
        case .answer(let outcome): finish(call, outcome, isRead: isRead)
        case .later(let pending): wait(for: pending, call, key, isRead: isRead)
        }
    }

    private func finish(_ call: MethodCall, _ outcome: PendingReply.Outcome, isRead: Bool) {
        switch outcome {
        case .success(let bytes):
            if isRead { call.reply { $0.appendBytes(bytes) } } else { call.reply() }
        case .failure(let error):
            call.fail(BlueZErrors.answer(for: error, isRead: isRead))
        }
    }

    // MARK: Late answers

    private func wait(for pending: PendingAnswer, _ call: MethodCall, _ key: AttributeKey, isRead: Bool) {
        lastLate += 1
        let number = lastLate
        let isFirst = late.isEmpty
        late[number] = LateReply(
            call: call, attribute: key, isRead: isRead,
            due: ContinuousClock.now.advanced(by: options.answerLimit))
        if isFirst { timers?.deadline.schedule(after: options.answerLimit) }
        pending.whenAnswered { [weak self] outcome in
            guard let self else { return }
            GLibExecutor.shared.run {
                self.assumeIsolated { radio in
                    guard let reply = radio.late.removeValue(forKey: number) else { return }
                    radio.finish(reply.call, outcome, isRead: reply.isRead)
                }
            }
        }
    }

    func answerOverdue() {
        let now = ContinuousClock.now
        for (number, reply) in late where reply.due <= now {
            late[number] = nil
            finish(reply.call, .failure(.unlikelyError), isRead: reply.isRead)
            let uuid = attributes[reply.attribute]?.uuid.description ?? "an attribute"
            tell(
                .warning(
                    RadioWarning(
                        "answerTooLate",
                        "no answer to a \(reply.isRead ? "read" : "write") of \(uuid) within \(options.answerLimit); the central got 0x0E, as bluetoothd waits 5 s"
                    )))
        }
        guard let next = late.values.map(\.due).min() else { return }
        timers?.deadline.schedule(after: now.duration(to: next))
    }
}
