import Mynah
import MynahCore
import MynahProfiles

/// The answers that are sent at a later time, the earliest first.
struct LaterAnswers {
    /// A value, and the time of the device at which it is sent.
    struct Answer {
        var due: Duration
        var value: [UInt8]
        var attribute: AttributeKey
        var central: Central?
        /// `true` if a value that is too long for the link is sent in pieces.
        var isInPieces = false
    }

    private var answers: [Answer] = []
    private var room = AnswerRoom()

    /// The time of the next answer, or `nil` if there is none.
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

    /// Removes and returns the answers that are due.
    mutating func takeDue(at now: Duration) -> [Answer] {
        let due = Array(answers.prefix { $0.due <= now })
        answers.removeFirst(due.count)
        for answer in due { room.release(answer.value.count, of: answer.central?.id) }
        return due
    }

    /// Forgets the answers for a central whose link has ended.
    mutating func forget(_ central: Peer.ID) {
        answers.removeAll { $0.central?.id == central }
        room.forget(central)
    }
}

/// The number and the total length of the values that wait for each central.
struct AnswerRoom {
    private struct Use {
        var count = 0
        var bytes = 0
    }

    /// The largest number of bytes that wait for one central; the answers of a profile's rule have fewer.
    static let mostBytes = 1 << 20

    private var uses: [Peer.ID?: Use] = [:]
    /// The number of centrals for which values wait.
    var centrals: Int { uses.count }

    /// Reserves room for a value of a central, or of all; returns `false` if too many wait already.
    mutating func take(_ length: Int, of central: Peer.ID?) -> Bool {
        let use = uses[central] ?? Use()
        guard use.count < ProfileLimit.answers.count, use.bytes + length <= Self.mostBytes else {
            return false
        }
        uses[central] = Use(count: use.count + 1, bytes: use.bytes + length)
        return true
    }

    /// Frees the room of a value that does not wait any more.
    mutating func release(_ length: Int, of central: Peer.ID?) {
        guard let use = uses[central] else { return }
        uses[central] = use.count == 1 ? nil : Use(count: use.count - 1, bytes: use.bytes - length)
    }

    /// Frees the room of all values of a central.
    mutating func forget(_ central: Peer.ID?) { uses[central] = nil }
}
