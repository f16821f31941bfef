import MynahCore
import MynahSupport
import Testing

@Suite struct PairingAnswerTests {
    @Test(
        arguments: [
            (.agree, nil, .agreed), (.agree, .agreed, .agreed), (.agree, .declined, .declined),
            (.agree, .passkey(1), .declined),
            (.compare(7), nil, .agreed), (.compare(7), .agreed, .agreed), (.compare(7), .declined, .declined),
            (.compare(7), .passkey(7), .declined),
            (.enter, nil, .declined), (.enter, .agreed, .declined), (.enter, .declined, .declined),
            (.enter, .passkey(7), .passkey(7)),
        ] as [(PairingStep, PairingAnswer?, PairingAnswer)])
    func `no answer agrees unless a number is wanted, and an answer to another step declines`(
        step: PairingStep, answer: PairingAnswer?, taken: PairingAnswer
    ) {
        #expect(step.taking(answer) == taken)
    }

    @Test(arguments: [true, false], [PairingAnswer.passkey(7), nil])
    func `an answer is taken whether it comes early or late, and one that is dropped declines`(
        isListenedToFirst: Bool, answer: PairingAnswer?
    ) {
        let heard = Lock<[PairingAnswer]>([])
        var reply: PendingPairingReply? = PendingPairingReply()
        guard let pending = reply?.pending else { return }
        let listen = { pending.whenAnswered { answer in heard.withLock { $0.append(answer) } } }
        if isListenedToFirst { listen() }
        if let answer { #expect(reply?.answer(answer) == true && reply?.answer(.agreed) == false) }
        reply = nil
        if !isListenedToFirst { listen() }
        #expect(heard.withLock { $0 } == [answer ?? .declined])
    }
}
