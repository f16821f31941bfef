import MynahRun

extension ConnectRequest {
    /// The text of `help`, for a terminal of this width.
    static func help(width: Int) -> [String] {
        let commands = usages.map {
            ConnectText.Row(
                indent: "  ", text: $0.word + ($0.arguments.isEmpty ? "" : " \($0.arguments)"), column: 21,
                rest: $0.does)
        }
        let notes = [
            "UUID is 2A19, battery-level, 180F/2A19, 2A19/2901 for a descriptor, or @12 for a handle.",
            "180F~2/2A19 is in the second service 180F: ~N counts attributes of one UUID by their handles.",
            "VALUE is hexadecimal, such as 01 02 or 0102, or text: and a text.",
        ]
        return ConnectText.lines(of: commands, width: width) + [""]
            + notes.flatMap {
                ScreenLine.flow($0.split(separator: " ").map(String.init), separator: " ", width: width)
            }
    }
}
