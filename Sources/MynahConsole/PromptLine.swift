/// Draws a prompt and the typed line on a terminal of a given width.
package enum PromptLine {
    /// The output that draws the prompt, the part of the line around the cursor that fits, and the cursor.
    package static func drawing(_ prompt: String, _ buffer: LineBuffer, width: Int) -> String {
        let prompt = shortened(prompt, width)
        // The last column stays free for the cursor.
        let room = max(1, width - DisplayWidth.of(prompt) - 1)
        let characters = buffer.characters
        var start = buffer.cursor
        var columns = 0
        while start > 0 {
            let more = DisplayWidth.of(characters[start - 1])
            guard columns + more <= room else { break }
            columns += more
            start -= 1
        }
        var end = buffer.cursor
        var after = 0
        while end < characters.count {
            let more = DisplayWidth.of(characters[end])
            guard columns + after + more <= room else { break }
            after += more
            end += 1
        }
        let back = after > 0 ? "\u{1B}[\(after)D" : ""
        return "\r" + prompt + String(characters[start..<end]) + "\u{1B}[K" + back
    }

    /// The prompt, shortened to at most half of the terminal's width.
    private static func shortened(_ prompt: String, _ width: Int) -> String {
        let limit = max(4, width / 2)
        guard DisplayWidth.of(prompt) > limit else { return prompt }
        return ScreenLine.fit(String(prompt.dropLast(2)), limit - 2) + prompt.suffix(2)
    }
}
