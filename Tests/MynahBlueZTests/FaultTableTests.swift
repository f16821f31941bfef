import MynahBlueZ
import MynahCore
import MynahFaults
import MynahSupport
import MynahTestSupport
import Testing

/// The table of the article about faults, held against the value that decides what a radio can do.
@Suite struct FaultTableTests {
    private static let radios: [(capabilities: RadioCapabilities, faults: FaultSupport)] = [
        (RadioCapabilities(name: "own host"), .ownHost),
        (BlueZCapabilities.capabilities(version: .oldest), .bluez),
    ]

    @Test func `the article has the table of triggers and effects, and each radio's limits`() throws {
        let page = try DocumentPage("\(DocumentPage.articles)/Faults.md")
        let start = try #require(page.lines.firstIndex(of: Self.head))
        let rows = page.lines[start...].prefix { $0.hasPrefix("|") }
        let expected = [Self.head, "|---|---|---|---|"] + FaultEffect.Kind.allCases.map(Self.row)
        #expect(Array(rows) == expected, "\(expected.joined(separator: "\n"))")
    }

    private static let head = "| effect | on | own host | BlueZ |"

    private static func row(_ effect: FaultEffect.Kind) -> String {
        let meaningful = FaultSupport.meaningful[effect] ?? []
        let cells = radios.map { cell(effect, on: $0.capabilities, $0.faults, of: meaningful) }
        return "| `\(effect)` | \(list(meaningful)) | \(cells.joined(separator: " | ")) |"
    }

    private static func cell(
        _ effect: FaultEffect.Kind, on radio: RadioCapabilities, _ faults: FaultSupport,
        of meaningful: Set<FaultTrigger.Kind>
    ) -> String {
        let triggers = faults.triggers[effect] ?? []
        guard !triggers.isEmpty else { return "no" }
        let parts =
            [triggers == meaningful ? "yes" : "on \(list(triggers))"] + limits(effect, on: radio, faults)
        return parts.joined(separator: "; ")
    }

    private static func list(_ triggers: Set<FaultTrigger.Kind>) -> String {
        FaultTrigger.Kind.allCases.filter(triggers.contains).map(\.rawValue).joined(separator: ", ")
    }

    private static func limits(
        _ effect: FaultEffect.Kind, on radio: RadioCapabilities, _ faults: FaultSupport
    ) -> [String] {
        let way = faults.ways[effect].map { [$0] } ?? []
        let beside = radio.writes.areRefusedBesideCommands ? [] : ["no write beside `writeWithoutResponse`"]
        switch effect {
        case .delay: return ["an answer up to \(radio.longestFaultDelay.text)"] + beside + way
        case .error:
            let everything = (1...0xFF).allSatisfy { radio.readErrors.contains(ATTError(code: UInt8($0))) }
            return [everything ? "all codes" : "\(radio.readErrors)"] + beside + way
        case .disconnect:
            let reasons = faults.disconnectReasons.map { "0x" + Hex.encode([$0]) }
            return ["reason \(reasons.joined(separator: ", "))"] + way
        case .loseBond:
            let ways = FaultEffect.LostBond.allCases.filter(faults.lostBonds.contains)
            return ["`how: \(ways.map(\.rawValue).joined(separator: "`, `"))`"] + way
        default: return way
        }
    }
}
