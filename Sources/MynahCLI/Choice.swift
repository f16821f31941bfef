import ArgumentParser
import MynahConsole
import MynahSupport

/// Parses options that accept one of several words; the error for another word suggests the nearest one.
enum Choice {
    static func parse<Value: RawRepresentable & CaseIterable>(_ text: String) throws -> Value
    where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        let words = words(of: Value.self)
        let near = NearestName.of(text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ValidationError("expected one of \(words.joined(separator: ", "))\(near)")
    }

    /// Parses a whole number for an option.
    static func number<Number: FixedWidthInteger & Sendable>(
        _ text: String, in range: ClosedRange<Number>
    ) throws -> Number {
        do throws(WholeNumber.Problem) {
            return try WholeNumber.parse(text, in: range)
        } catch {
            throw ValidationError(error.description)
        }
    }

    static func words<Value: RawRepresentable & CaseIterable>(of type: Value.Type) -> [String]
    where Value.RawValue == String {
        type.allCases.map(\.rawValue)
    }

    /// The completion of the words in a shell.
    static func completion<Value: RawRepresentable & CaseIterable>(of type: Value.Type) -> CompletionKind
    where Value.RawValue == String {
        .list(words(of: type))
    }
}
