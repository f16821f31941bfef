package import MynahSupport

/// The report of the findings of `mynah doctor`.
package struct DoctorReport: Sendable {
    package let findings: [Finding]

    package init(_ findings: [Finding]) { self.findings = findings }

    /// The verdict on the whole machine.
    package var verdict: Finding.Verdict { .of(findings) }

    /// The report as JSON.
    package var json: JSON {
        .object([
            .init("verdict", .string(verdict.rawValue)),
            .init("exitCode", .integer(Int(verdict.exitCode))),
            .init("unknown", .integer(unknownCount)),
            .init("checks", .array(findings.map(Self.json))),
        ])
    }

    /// The number of checks with the verdict `unknown`.
    private var unknownCount: Int { findings.count { $0.verdict == .unknown } }

    private static func json(of finding: Finding) -> JSON {
        .object([
            .init("id", .string(finding.id)),
            .init("verdict", .string(finding.verdict.rawValue)),
            .init("found", .string(finding.found)),
            .init("meaning", finding.meaning.map { .string($0) } ?? .null),
            .init("remedy", finding.remedy.map { .string($0) } ?? .null),
        ])
    }

    /// The lines of the report: one for each check, followed by its consequence and remedy.
    ///
    /// With `isBold`, for a terminal, the verdicts `stop` and `loss` are bold.
    package func lines(isBold: Bool) -> [String] {
        let width = (findings.map(\.id.count).max() ?? 0) + 2
        let indent = String(repeating: " ", count: 9 + width)
        var lines: [String] = []
        for finding in findings {
            let verdict = finding.verdict.rawValue
            let word = isBold && finding.needsMending ? "\u{1B}[1m\(verdict)\u{1B}[0m" : verdict
            lines.append(
                word + String(repeating: " ", count: 9 - verdict.count)
                    + ScreenLine.pad(finding.id, width) + PrintableText.of(finding.found))
            if let meaning = finding.meaning { lines.append(indent + PrintableText.of(meaning)) }
            if let remedy = finding.remedy { lines.append(indent + "-> " + PrintableText.of(remedy)) }
        }
        return lines + ["", summary]
    }

    private var summary: String {
        func count(_ verdict: Finding.Verdict, _ one: String, _ many: String) -> String {
            findings.count { $0.verdict == verdict }.counting(one, many)
        }
        let isUnknown = unknownCount > 0
        let unknown = "\(count(.unknown, "check", "checks")) could not be made"
        return switch verdict {
        case .stop: "A run will not work: \(count(.stop, "check stops it", "checks stop it"))."
        case .loss:
            "A run works, with \(count(.loss, "loss", "losses"))" + (isUnknown ? "; \(unknown)." : ".")
        case .fine, .unknown, .skipped: isUnknown ? "Nothing stops a run, but \(unknown)." : "A run works."
        }
    }
}

extension Finding {
    fileprivate var needsMending: Bool { verdict == .stop || verdict == .loss }
}
