import MynahCore
import MynahSupport
import Testing

@Suite struct ValueTests {
    @Test(arguments: UInt8.min...UInt8.max)
    func `every ATT error says its code`(code: UInt8) {
        #expect(ATTError(code: code).description.hasPrefix("0x" + Hex.encode([code])))
    }

    @Test func `ATT errors have the specification's names`() {
        #expect(ATTError.invalidOffset.description == "0x07 (invalid offset)")
        #expect(ATTError(code: 0x85).description == "0x85 (application error)")
        #expect(ATTError(code: 0x60).description == "0x60")
    }

    @Test func `properties have their bits and names`() {
        #expect(
            CharacteristicProperties.named.map(\.property.rawValue) == [
                1, 2, 4, 8, 16, 32, 64, 128, 256, 512,
            ])
        #expect(CharacteristicProperties([.notify, .read]).names == ["read", "notify"])
    }

    @Test(arguments: ["AA:BB:CC:DD:EE:FF", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"])
    func `an address reads and writes itself`(text: String) {
        #expect(DeviceAddress(text, kind: .public)?.description == text.uppercased())
    }

    @Test func `addresses have an order, in which the type counts last`() {
        let one = DeviceAddress(value: 1, kind: .public)
        let (other, two) = (DeviceAddress(value: 1, kind: .random), DeviceAddress(value: 2, kind: .public))
        #expect(one.isBefore(other) && other.isBefore(two) && one.isBefore(two))
        #expect(!other.isBefore(one) && !two.isBefore(other) && !one.isBefore(one))
    }

    @Test(arguments: [
        "", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:FF:00", "AA BB CC DD EE FF", "AABB:CCDD:EE:FF:",
        "GG:BB:CC:DD:EE:FF",
    ])
    func `anything else is no address`(text: String) {
        #expect(DeviceAddress(text, kind: .random) == nil)
    }

    @Test func `every key is another`() {
        #expect(Set((0..<100).map { _ in AttributeKey() }).count == 100)
    }

    @Test func `a set of error codes holds those it was given`() {
        let codes = RadioCapabilities.ErrorCodes([0x06, 0x3F, 0x40, 0x80, 0xFF])
        #expect(
            (UInt8.min...UInt8.max).filter { codes.contains(ATTError(code: $0)) } == [
                0x06, 0x3F, 0x40, 0x80, 0xFF,
            ])
        #expect(RadioCapabilities.ErrorCodes.all.contains(ATTError(code: 0xFF)))
    }
}

@Suite struct PendingReplyTests {
    let heard = Lock<[PendingReply.Outcome]>([])

    func listen(to reply: PendingAnswer) {
        let heard = heard
        reply.whenAnswered { outcome in heard.withLock { $0.append(outcome) } }
    }

    @Test func `an answer given before it is wanted is kept`() {
        let reply = PendingReply()
        reply.answer(.success([1]))
        listen(to: reply.pending)
        #expect(heard.withLock { $0 } == [.success([1])])
    }

    @Test func `an answer given later arrives once`() {
        let reply = PendingReply()
        listen(to: reply.pending)
        #expect(heard.withLock { $0.isEmpty })
        reply.answer(.failure(.valueNotAllowed))
        #expect(heard.withLock { $0 } == [.failure(.valueNotAllowed)])
    }

    @Test(arguments: [true, false])
    func `a reply that is dropped is an unlikely error`(isListenedToFirst: Bool) {
        var reply: PendingReply? = PendingReply()
        guard let pending = reply?.pending else { return }
        if isListenedToFirst { listen(to: pending) }
        reply = nil
        if !isListenedToFirst { listen(to: pending) }
        #expect(heard.withLock { $0 } == [.failure(.unlikelyError)])
    }

    @Test(arguments: [true, false])
    func `a second answer is refused, and the first one counts`(isListenedToFirst: Bool) {
        let reply = PendingReply()
        if isListenedToFirst { listen(to: reply.pending) }
        #expect(reply.answer(.success([1])))
        #expect(!reply.answer(.success([2])))
        if !isListenedToFirst { listen(to: reply.pending) }
        #expect(!reply.answer(.success([3])))
        #expect(heard.withLock { $0 } == [.success([1])])
    }

    @Test(arguments: [true, false])
    func `a second request that gets the same reply is an unlikely error`(isAnsweredFirst: Bool) {
        let reply = PendingReply()
        if isAnsweredFirst { reply.answer(.success([1])) }
        listen(to: reply.pending)
        listen(to: reply.pending)
        if !isAnsweredFirst { reply.answer(.success([1])) }
        let outcomes: [PendingReply.Outcome] = [.success([1]), .failure(.unlikelyError)]
        #expect(heard.withLock { $0 } == (isAnsweredFirst ? outcomes : outcomes.reversed()))
    }

    @Test func `a reply that was answered and dropped says no more`() {
        var reply: PendingReply? = PendingReply()
        if let pending = reply?.pending { listen(to: pending) }
        reply?.answer(.success([]))
        reply = nil
        #expect(heard.withLock { $0 } == [.success([])])
    }
}
