/// A test report in the XML format of JUnit.
package struct JUnitReport: Sendable {
    /// The reason that a case did not pass.
    package enum Trouble: Hashable, Sendable {
        /// An expected event did not happen.
        case failure(String)
        /// The case was not carried out completely.
        case error(String)
    }

    /// A test.
    package struct Case: Sendable {
        package var name: String
        package var group: String
        /// The duration of the case, or `nil` if it is not known.
        package var time: Duration?
        /// The reasons that the case did not pass; empty if it passed.
        package var troubles: [Trouble]
        /// The output of the case, or `nil` if there is none.
        package var output: String?

        package init(
            _ name: String, of group: String = "mynah", time: Duration? = nil, troubles: [Trouble] = [],
            output: String? = nil
        ) {
            self.name = name
            self.group = group
            self.time = time
            self.troubles = troubles
            self.output = output
        }
    }

    /// The beginning of every report, after the XML declaration.
    private static let root = "<testsuites><testsuite name=\"mynah\""

    /// Whether a body is a report of this format.
    static func isReport(_ body: [UInt8]) -> Bool {
        let lines = String(decoding: body.prefix(200), as: UTF8.self).split(separator: "\n")
        return lines.first?.hasPrefix("<?xml ") == true && lines.dropFirst().first?.hasPrefix(root) == true
    }

    private let cases: [Case]

    /// Makes a report of these cases.
    package init(_ cases: [Case]) {
        self.cases = cases
    }

    /// The document.
    package var text: String {
        let failures = cases.count { $0.troubles.contains { if case .failure = $0 { true } else { false } } }
        let errors = cases.count { $0.troubles.contains { if case .error = $0 { true } else { false } } }
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            \(Self.root) tests="\(cases.count)" failures="\(failures)" \
            errors="\(errors)">

            """
        for each in cases {
            text += "<testcase classname=\"\(Self.escaped(each.group))\" name=\"\(Self.escaped(each.name))\""
            text += each.time.map { " time=\"\(Self.seconds($0))\"" } ?? ""
            text += ">"
            for trouble in each.troubles {
                switch trouble {
                case .failure(let message): text += "<failure message=\"\(Self.escaped(message))\"/>"
                case .error(let message): text += "<error message=\"\(Self.escaped(message))\"/>"
                }
            }
            text += each.output.map { "<system-out>\(Self.escaped($0))</system-out>" } ?? ""
            text += "</testcase>\n"
        }
        return text + "</testsuite></testsuites>\n"
    }

    /// Formats a duration in seconds with three decimals.
    private static func seconds(_ time: Duration) -> String {
        let (seconds, attoseconds) = max(time, .zero).components
        let milliseconds = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        return "\(seconds).\(milliseconds)"
    }

    /// Escapes text for XML 1.0, and replaces control characters, which are not allowed.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value):
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
