/// Reads the words of a command line that a shell passes to a completion.
///
/// zsh and fish pass the words unchanged. bash also splits them at `=` and `:`, which become words
/// themselves, and keeps quotes and backslashes.
package enum CompletionWords {
    /// The value of an option, given as `NAME VALUE` or `NAME=VALUE`, or `nil` if there is none.
    ///
    /// If the option occurs several times, the last value is used.
    package static func value(of option: String, in words: [String]) -> String? {
        guard let place = words.lastIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else {
            return nil
        }
        var rest = words[(place + 1)...]
        var value: String
        if words[place] == option {
            if rest.first == "=" { rest = rest.dropFirst() }
            guard let first = rest.popFirst() else { return nil }
            value = first
        } else {
            value = String(words[place].dropFirst(option.count + 1))
        }
        // This joins the parts into which bash has split the value.
        while let cut = rest.popFirst(), !cut.isEmpty, cut.allSatisfy({ $0 == ":" || $0 == "=" }) {
            value += cut + (rest.popFirst() ?? "")
        }
        let text = unquoted(value)
        return text.isEmpty ? nil : text
    }

    /// A word without its quotes and backslashes.
    package static func unquoted(_ word: String) -> String {
        if let quote = word.first, quote == "\"" || quote == "'", word.count > 1, word.last == quote {
            return String(word.dropFirst().dropLast())
        }
        var isEscaped = false
        return word.filter { character in
            isEscaped = character == "\\" && !isEscaped
            return !isEscaped
        }
    }
}
