import Foundation
import MynahCore
import MynahHCI
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahImport

/// Captures with wrong bytes in them: none crashes or stops the import, and what is imported is a profile.
@Suite(.timeLimit(.minutes(15))) struct MutatedCaptureTests {
    /// 2,000 in a usual run; MYNAH_MUTATIONS says how many.
    private static let count =
        ProcessInfo.processInfo.environment["MYNAH_MUTATIONS"].flatMap { Int($0) } ?? 2000

    private static let scripts: [HCIScript] = {
        var rich = HCIScript()
        rich.advert("020106 05FF5900 0102 0303 0D18")
        rich.advert("0609 5374726170", isScanResponse: true)
        rich.connect()
        rich.exchange("02 0002", "03 4000")
        rich.discover()
        rich.exchange("08 1000 FFFF 0228", "09 08 1700 2000 2200 0F18")
        rich.exchange("04 1600 FFFF", "05 01 1600 0129 1800 0029")
        rich.exchange("0A 1200", "0B 0048")
        rich.exchange("12 1300 0100", "13")
        rich.answer("1B 1200 0049")
        rich.exchange("12 1500 01", "01 12 1500 80")
        rich.exchange("16 1500 0000 0102", "17 1500 0000 0102")
        rich.exchange("18 01", "19")
        rich.answer("1B 1200 0050")
        rich.send([0x02, 0x00, 0x00, 0x05, 0x10, 0, 0], on: 6, isFromHost: false)
        return [.strap(), .strap(isCentral: false), rich]
    }()

    /// Imports a capture in both ways; returns whether there was a profile.
    private static func check(_ bytes: [UInt8], _ label: String) -> Bool {
        do throws(ImportProblem) {
            let result = try CaptureImport.profile(from: bytes, named: "test")
            do throws(ProfileIssues) {
                _ = try ProfileLoader.load(text: result.profile, file: "test.yaml")
            } catch {
                Issue.record("\(label): \(error)\n\(result.profile)")
            }
            _ = try CaptureImport.profile(from: bytes, named: "test") { _ in "test.jsonl" }
            return true
        } catch {
            return false
        }
    }

    @Test func `mutated packets are imported as a valid profile or refused`() {
        let packets = Self.scripts.map(\.packets)
        var mutator = PacketMutator(seed: 1, packets.joined().map(\.packet.body))
        var imported = 0
        for round in 0..<Self.count {
            var script = packets[round % packets.count]
            for _ in 0...mutator.number(below: 4) {
                let place = mutator.number(below: script.count)
                script[place].packet.body = mutator.next()
                if mutator.number(below: 8) == 0 { script.remove(at: mutator.number(below: script.count)) }
                if script.isEmpty { break }
            }
            let formats = CaptureFormat.allCases
            let format = formats[mutator.number(below: formats.count)]
            if Self.check(format.bytes(script), "round \(round)") { imported += 1 }
        }
        // Most mutations leave a device to import.
        #expect(imported > Self.count / 4)
    }

    @Test func `mutated files are imported or refused`() {
        let files = CaptureFormat.allCases.flatMap { format in
            Self.scripts.map { format.bytes($0.packets) }
        }
        var mutator = PacketMutator(seed: 2, files)
        var imported = 0
        for round in 0..<Self.count where Self.check(mutator.next(), "round \(round)") { imported += 1 }
        #expect(imported > 0)
    }

    /// A device with more attributes than are kept, and more links, writes and errors than any has.
    @Test func `a capture that is made up to be slow is imported all the same`() throws {
        var script = HCIScript()
        script.connect()
        func bytes(_ number: Int) -> String {
            Hex.encode([UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)])
        }
        for start in stride(from: 1, to: 20_000, by: 3) {
            let (first, second, third) = (bytes(start), bytes(start + 1), bytes(start + 2))
            script.exchange("10 \(first) FFFF 0028", "11 06 \(first) \(third) 0D18")
            script.exchange("08 \(first) FFFF 0228", "09 08 \(second) \(bytes(start * 7)) FFFF 0F18")
            script.exchange("08 \(first) FFFF 0328", "09 07 \(second) 3A \(third) 372A")
            script.exchange("04 \(first) FFFF", "05 01 \(third) 0129")
            script.exchange("0A \(third)", "01 0A \(third) 05")
            script.exchange("12 \(third) 0100", "13")
            script.answer("1B \(third) 00")
        }
        // A quadratic analysis would take longer than the suite may.
        #expect(try script.profile(recordingFile: "x.jsonl").profile.contains("mynah: 1"))
    }
}
