package import MynahEmulator

/// The content of a live screen, independent of a terminal.
package protocol LiveModel: Sendable {
    /// Whether the content currently changes with time, without an event.
    mutating func isMoving(now: WallTime) -> Bool
    /// The lines for a screen of this size; `digits` are the digits of a passkey that were typed so far.
    func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String]
    /// The lines that remain on a terminal of this width after the end.
    func summary(width: Int) -> [String]
}
