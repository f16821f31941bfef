package import MynahEmulator

/// What a screen shows, without a terminal.
package protocol LiveModel: Sendable {
    /// Whether what it shows changes by itself.
    mutating func isMoving(now: WallTime) -> Bool
    /// The lines for a screen of this size; `digits` were typed and not yet entered.
    func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String]
    /// What stays on a terminal of this width afterwards.
    func summary(width: Int) -> [String]
}
