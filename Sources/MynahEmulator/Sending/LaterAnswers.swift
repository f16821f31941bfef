import Mynah
import MynahCore
import MynahProfiles

/// The answers that go out at a time, the earliest first.
struct LaterAnswers {
    /// A value that goes out at a time of the device.
    struct Answer {
        var due: Duration
        var value: [UInt8]
        var attribute: AttributeKey
        var central: Central?
        /// `true` if the value is sent in pieces of what the link carries.
        var isInPieces = false
    }

    private var answers: [Answer] = []
    private var room = AnswerRoom()

    /// When the next answer is due, or `nil` if there is none.
    var next: Duration? { answers.first?.due }

    /// Adds an answer, after those that are due at the same time; returns `false` if too many wait already.
    mutating func add(_ answer: Answer) -> Bool {
        guard room.take(answer.value.count, of: answer.central?.id) else { return false }
        var (low, high) = (0, answers.count)
        while low < high {
            let middle = (low + high) / 2
            if answers[middle].due <= answer.due { low = middle + 1 } else { high = middle }
        }
        answers.insert(answer, at: low)
        return true
    }

    /// Removes the answers that are due by now, and returns them.
    mutating func takeDue(at now: Duration) -> [Answer] {
        let due = Array(answers.prefix { $0.due <= now })
        answers.removeFirst(due.count)
        for answer in due { room.release(answer.value.count, of: answer.central?.id) }
        return due
    }

    /// A central's link has ended.
    mutating func forget(_ central: Peer.ID) {
        answers.removeAll { $0.central?.id == central }
        room.forget(central)
    }
}

/// How many values wait for each central, and how long they are together.
struct AnswerRoom {
    private struct Use {
        var count = 0
        var bytes = 0
    }

    /// The most bytes that wait for one central; a profile has fewer in the answers of a rule.
    static let mostBytes = 1 << 20

    private var uses: [Peer.ID?: Use] = [:]
    /// For how many centrals values wait.
    var centrals: Int { uses.count }

    /// Counts a value for a central, or for every one; returns `false` if too many wait already.
    mutating func take(_ length: Int, of central: Peer.ID?) -> Bool {
        let use = uses[central] ?? Use()
        guard use.count < ProfileLimit.answers.count, use.bytes + length <= Self.mostBytes else {
            return false
        }
        uses[central] = Use(count: use.count + 1, bytes: use.bytes + length)
        return true
    }

    /// A value waits no longer.
    mutating func release(_ length: Int, of central: Peer.ID?) {
        guard let use = uses[central] else { return }
        uses[central] = use.count == 1 ? nil : Use(count: use.count - 1, bytes: use.bytes - length)
    }

    /// No value waits for a central any more.
    mutating func forget(_ central: Peer.ID?) { uses[central] = nil }
}
