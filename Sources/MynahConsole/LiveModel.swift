package import MynahEmulator

/// The content of a screen, without a terminal.
package protocol LiveModel: Sendable {
    /// Whether the content changes without an event, because of the time.
    mutating func isMoving(now: WallTime) -> Bool
    /// The lines for a screen of this size; `digits` belong to a passkey that was not entered yet.
    func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String]
    /// The lines, for a terminal of this width, that stay there at the end.
    func summary(width: Int) -> [String]
}
