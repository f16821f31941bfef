import Foundation
import MynahEmulator
import Testing

@testable import MynahConsole

/// Compares screens with the text files beside this test; `MYNAH_RECORD=1` writes the files anew.
@Suite struct ScreenFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Screens").path
    private static let isRecording = ProcessInfo.processInfo.environment["MYNAH_RECORD"] != nil
    private static let widths = [120, 80, 40, 20]
    private static let height = 24

    @Test(arguments: SampleScreens.names, widths)
    func `a screen is as its file shows it, and fits the terminal`(name: String, width: Int) throws {
        let lines = try SampleScreens.lines(named: name, width: width, height: Self.height).map(Self.plain)
        #expect(lines.count <= Self.height || name.hasPrefix("connect-"), "a prompt's lines scroll")
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
        let path = "\(Self.folder)/\(name)-\(width).txt"
        let text = lines.joined(separator: "\n") + "\n"
        guard !Self.isRecording else {
            return try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `every file is of a screen`() throws {
        // The files are being written.
        guard !Self.isRecording else { return }
        let wanted = SampleScreens.names.flatMap { name in Self.widths.map { "\(name)-\($0).txt" } }
        let found = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(Set(found) == Set(wanted))
    }

    /// Without the sequences for bold and inverse text, and without times, which depend on the time zone.
    private static func plain(_ line: String) -> String {
        line.replacing(/\x{1B}\[[0-9]m/, with: "")
            .replacing(/^( *)[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?(?= )/) { match in
                "\(match.1)HH:MM:SS" + (match.2 == nil ? "" : ".mmm")
            }
    }
}
