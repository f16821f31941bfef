import MynahCore
import MynahProfiles
import Testing

@testable import MynahEmulator

/// The answers that wait for their time, and those that wait for room.
@Suite struct WaitingAnswerTests {
    private let key = AttributeKey()

    private func answer(_ value: UInt8, at milliseconds: Int) -> LaterAnswers.Answer {
        .init(due: .milliseconds(milliseconds), value: [value], attribute: key)
    }

    @Test func `answers come in the order of their times, and equal times in the order of their adding`() {
        var answers = LaterAnswers()
        #expect(answers.next == nil)
        for (value, time) in [(1, 30), (2, 10), (3, 30), (4, 20)] as [(UInt8, Int)] {
            #expect(answers.add(answer(value, at: time)) == true)
        }
        #expect(answers.next == .milliseconds(10))
        #expect(answers.takeDue(at: .milliseconds(20)).map(\.value) == [[2], [4]])
        #expect(answers.next == .milliseconds(30))
        #expect(answers.takeDue(at: .milliseconds(30)).map(\.value) == [[1], [3]])
        #expect(answers.next == nil)
    }

    @Test func `so many answers wait as a rule may have, and so many bytes`() {
        var answers = LaterAnswers()
        let limit = ProfileLimit.answers.count
        for _ in 0..<limit { #expect(answers.add(answer(0, at: 1)) == true) }
        #expect(answers.add(answer(0, at: 1)) == false)
        _ = answers.takeDue(at: .milliseconds(1))
        #expect(answers.add(answer(0, at: 2)) == true)
        var room = AnswerRoom()
        let other = Peer.ID(2)
        #expect(room.take(AnswerRoom.mostBytes, of: Peer.ID(1)) == true)
        #expect(room.take(1, of: Peer.ID(1)) == false)
        #expect(room.take(1, of: other) == true)
        room.release(AnswerRoom.mostBytes, of: Peer.ID(1))
        #expect(room.take(1, of: Peer.ID(1)) == true)
        room.forget(other)
        #expect(room.centrals == 1)
    }

    @Test func `a central without room holds back its own values alone, which keep their order`() {
        var outbox = Outbox()
        let (first, second) = (Peer.ID(1), Peer.ID(2))
        for number in 0..<6 as Range<UInt8> {
            let central = number % 2 == 0 ? first : second
            #expect(outbox.add(.init(bytes: [number], attribute: key, central: central)) == true)
        }
        var sent: [UInt8] = []
        outbox.deliver { value in
            guard value.central == second else { return false }
            sent += value.bytes
            return true
        }
        #expect(sent == [1, 3, 5])
        #expect(outbox.values.map(\.bytes) == [[0], [2], [4]])
        // The first value without room ends it.
        var asked = 0
        outbox.deliver { _ in
            asked += 1
            return asked == 1
        }
        #expect(asked == 2)
        #expect(outbox.values.map(\.bytes) == [[2], [4]])
        outbox.forget(first)
        #expect(outbox.values.isEmpty)
    }
}
