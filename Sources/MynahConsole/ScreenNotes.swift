import MynahSupport

/// The messages that are printed while a live screen is shown, and must not overwrite the screen.
///
/// The last ones are shown at the bottom of the screen, and again after its end.
package struct ScreenNotes: Sendable {
    /// The latest lines of all messages, at most `limit`.
    package private(set) var lines: [String] = []
    private var forgotten = 0

    private static let limit = 100
    /// The largest number of lines at the bottom of a screen.
    private static let shown = 3

    package init() {}

    package mutating func add(_ text: String) {
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map {
            PrintableText.of(String($0))
        }
        guard lines.count > Self.limit else { return }
        forgotten += lines.count - Self.limit
        lines.removeFirst(lines.count - Self.limit)
    }

    /// The lines for the bottom of a screen of this height, at most a quarter of it.
    package func bottom(height: Int) -> [String] { Array(lines.suffix(min(Self.shown, max(0, height / 4)))) }

    /// The lines that stay on the terminal at the end.
    package var last: [String] {
        forgotten == 0 ? lines : ["(\(forgotten) earlier messages are not repeated)"] + lines
    }
}
