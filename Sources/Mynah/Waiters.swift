/// Suspended calls, which `resumeAll` resumes together.
struct Waiters {
    private var continuations: [CheckedContinuation<Void, Never>] = []

    var isEmpty: Bool { continuations.isEmpty }

    mutating func add(_ continuation: CheckedContinuation<Void, Never>) {
        continuations.append(continuation)
    }

    mutating func resumeAll() {
        guard !continuations.isEmpty else { return }
        let all = continuations
        continuations = []
        for continuation in all { continuation.resume() }
    }
}
