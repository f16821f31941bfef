import Mynah
import MynahCore
import MynahProfiles

/// The answers to send at a later time, earliest first.
struct LaterAnswers {
    /// A value, and the device time at which it is sent.
    struct Answer {
        var due: Duration
        var value: [UInt8]
        var attribute: AttributeKey
        var central: Central?
        /// `true` to send a value that is too long for the link in several notifications.
        var isInPieces = false
    }

    private var answers: [Answer] = []
    private var room = AnswerRoom()

    /// The time of the next answer, or `nil` if there is none.
    var next: Duration? { answers.first?.due }

    /// Adds an answer, after others for the same time; returns `false` if too many already wait.
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

    /// Discards the answers for a central whose link has ended.
    mutating func forget(_ central: Peer.ID) {
        answers.removeAll { $0.central?.id == central }
        room.forget(central)
    }
}

/// The number and the total length of the values that are queued for each central.
struct AnswerRoom {
    private struct Use {
        var count = 0
        var bytes = 0
    }

    /// The most bytes that may be queued for one central; the answers of one rule always fit.
    static let mostBytes = 1 << 20

    private var uses: [Peer.ID?: Use] = [:]
    /// The number of centrals for which values are queued.
    var centrals: Int { uses.count }

    /// Counts a value for a central, or for all if `central` is `nil`; returns `false` if too many are
    /// queued.
    mutating func take(_ length: Int, of central: Peer.ID?) -> Bool {
        let use = uses[central] ?? Use()
        guard use.count < ProfileLimit.answers.count, use.bytes + length <= Self.mostBytes else {
            return false
        }
        uses[central] = Use(count: use.count + 1, bytes: use.bytes + length)
        return true
    }

    /// Removes a value from the count.
    mutating func release(_ length: Int, of central: Peer.ID?) {
        guard let use = uses[central] else { return }
        uses[central] = use.count == 1 ? nil : Use(count: use.count - 1, bytes: use.bytes - length)
    }

    /// Removes all values of a central from the count.
    mutating func forget(_ central: Peer.ID?) { uses[central] = nil }
}
