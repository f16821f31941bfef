/// Handles a negative number as the value of `mynah ctl variable` and `mynah ctl set`, which the parser would
/// interpret as an option.
enum NegativeValue {
    /// Moves a negative number to the end of the words, after `--`, so that the parser accepts it as a value.
    static func moved(in words: [String]) -> [String] {
        guard words.first == "ctl", words.contains("variable") || words.contains("set"),
            !words.contains("--")
        else { return words }
        let places = words.indices.filter { isNegative(words[$0]) && !words[$0 - 1].hasPrefix("--") }
        guard places.count == 1, let place = places.first else { return words }
        return words[..<place] + words[(place + 1)...] + ["--", words[place]]
    }

    private static func isNegative(_ word: String) -> Bool {
        word.hasPrefix("-") && word.dropFirst().first.map { $0.isNumber || $0 == "." } == true
            && Double(word) != nil
    }
}
