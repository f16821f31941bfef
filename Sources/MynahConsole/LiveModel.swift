package import MynahEmulator

/// The content of a screen, without a terminal.
package protocol LiveModel: Sendable {
    /// Whether the content changes by itself.
    mutating func isMoving(now: WallTime) -> Bool
    /// The lines for a screen of this size; `digits` were typed and not yet entered.
    func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String]
    /// The lines that stay on a terminal of this width at the end.
    func summary(width: Int) -> [String]
}
