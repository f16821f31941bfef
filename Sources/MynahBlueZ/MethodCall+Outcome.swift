import MynahCore
import MynahDBus

extension MethodCall {
    /// Answers a call of ReadValue or WriteValue.
    func finish(_ outcome: PendingReply.Outcome, isRead: Bool) {
        switch outcome {
        case .success(let bytes):
            if isRead { reply { $0.appendBytes(bytes) } } else { reply() }
        case .failure(let error):
            fail(BlueZErrors.answer(for: error, isRead: isRead))
        }
    }
}
