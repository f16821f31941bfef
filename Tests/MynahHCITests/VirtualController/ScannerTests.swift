import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct ScannerTests {
    private struct Rig {
        var scanner = Scanner()
        var addresses = ControllerAddresses(Part.configuration())
        var acceptList = FilterAcceptList(capacity: 4)
        var random = SeededRandom(seed: 1)
        var outbox: ControllerOutbox

        init(extended: Bool = false) {
            outbox = .open(extended: extended)
        }

        /// Legacy parameters: an interval of 100 ms, of which it listens so many units of 0.625 ms.
        mutating func set(isActive: Bool = false, window: String = "A000", policy: String = "00") {
            let answer = CommandAnswer.of("\(isActive ? "01" : "00") A000 \(window) 00 \(policy)") {
                scanner.setParameters(&$0)
            }
            #expect(answer == .success)
        }

        mutating func enable(_ hex: String = "01 00", at now: AirTime = .zero) -> CommandAnswer? {
            CommandAnswer.of(hex) { scanner.enable(&$0, at: now, &addresses, &random) }
        }

        mutating func enableExtended(_ hex: String, at now: AirTime = .zero) -> CommandAnswer? {
            CommandAnswer.of(hex) { scanner.enableExtended(&$0, at: now, &addresses, &random) }
        }

        mutating func hear(
            _ number: UInt8 = 2, _ properties: AirAdvertisement.Properties = [.scannable, .legacy],
            target: DeviceAddress? = nil, data: [UInt8] = [], at now: AirTime = .zero
        ) -> [String] {
            let advertisement = AirAdvertisement(
                properties, address: AirRig.address(number), target: target, data: data)
            let report = ScanReport(advertisement, Identity(address: AirRig.address(number)), rssi: -40)
            scanner.hear(
                report, from: Part.station, acceptList, addresses.resolving, at: now, &outbox)
            return outbox.take()
        }

        mutating func respond(_ number: UInt8 = 2) -> [String] {
            let response = AirAdvertisement(
                [.scannable, .legacy, .scanResponse], address: AirRig.address(number))
            scanner.hearResponse(response, rssi: -40, &addresses.resolving, &outbox)
            return outbox.take()
        }
    }

    private let report = "043E0C0201" + "0200" + "0200000000C0" + "00D8"
    private let request = "air 9 0200" + "0100000000C0" + "00" + "0200000000C0" + "FF"
    private let response = "043E0C0201" + "0400" + "0200000000C0" + "00D8"

    @Test(arguments: [(0, true), (49, true), (50, false), (99, false), (100, true), (10_049, true)])
    func `it hears within its window`(milliseconds: Int64, isHeard: Bool) {
        var rig = Rig()
        rig.set(window: "5000")
        #expect(rig.hear(at: .milliseconds(milliseconds)).isEmpty)
        #expect(rig.enable() == .success)
        #expect(rig.hear(at: .milliseconds(milliseconds)).isEmpty != isHeard)
        // To enable it again does not shift its windows.
        #expect(rig.enable(at: .milliseconds(30)) == .success)
        #expect(rig.hear(at: .milliseconds(milliseconds)).isEmpty != isHeard)
    }

    @Test func `an active scanner asks until it has heard a response`() {
        var rig = Rig()
        rig.set(isActive: true)
        #expect(rig.enable("01 01") == .success)
        #expect(rig.respond().isEmpty)
        #expect(rig.hear() == [report.replacingKind("02"), request])
        #expect(rig.hear() == [request])
        #expect(rig.respond() == [response])
        #expect(rig.respond().isEmpty)
        #expect(rig.hear().isEmpty)
        // Without the filter it reports and asks each time.
        #expect(rig.enable("01 00") == .success)
        for _ in 0..<2 { #expect(rig.hear() == [report.replacingKind("02"), request]) }
        #expect(rig.hear(2, [.legacy]) == [report.replacingKind("03")])
        #expect(rig.enable("00 00") == .success)
        #expect(rig.respond().isEmpty && rig.hear().isEmpty)
    }

    @Test(arguments: [
        // The filter policy, the device, and whether the advertisement is directed to another device: whether
        // it is reported.
        ("00", 2, "", true), ("01", 2, "", false), ("01", 3, "", true), ("00", 2, "own", true),
        ("00", 2, "other", false), ("00", 2, "resolvable", false), ("02", 2, "resolvable", true),
        ("02", 2, "other", false), ("03", 2, "resolvable", false), ("03", 3, "resolvable", true),
    ])
    func `the filter policy says what is reported`(
        policy: String, number: UInt8, target: String, isReported: Bool
    ) {
        var rig = Rig()
        rig.set(policy: policy)
        #expect(CommandAnswer.of("00 0300000000C0") { rig.acceptList.add(&$0, isInUse: false) } == .success)
        #expect(rig.enable() == .success)
        #expect(rig.scanner.usesAcceptList == (policy == "01" || policy == "03"))
        let address: DeviceAddress? =
            switch target {
            case "own": AirRig.address(1)
            case "other": AirRig.address(7)
            case "resolvable": Part.random(5, 0b01)
            default: nil
            }
        #expect(rig.hear(number, [.directed, .legacy], target: address).isEmpty != isReported)
    }

    @Test func `a scan ends after its duration, and one with a period goes on`() {
        var rig = Rig(extended: true)
        #expect(rig.enableExtended("01 00 3200 0000") == .success)
        #expect(rig.scanner.due == .milliseconds(500))
        rig.scanner.advance(to: .milliseconds(499), &rig.outbox)
        #expect(rig.outbox.take().isEmpty)
        rig.scanner.advance(to: .milliseconds(500), &rig.outbox)
        #expect(rig.outbox.take() == ["043E0111"])
        #expect(!rig.scanner.isOn && rig.scanner.due == nil)
        // 500 ms of each 1.28 s, without duplicates in one period.
        #expect(rig.enableExtended("01 02 3200 0100") == .success)
        #expect(rig.hear(at: .milliseconds(499)).count == 1)
        #expect(rig.hear(at: .milliseconds(499)).isEmpty)
        #expect(rig.hear(3, at: .milliseconds(500)).isEmpty)
        rig.scanner.advance(to: .milliseconds(1280), &rig.outbox)
        #expect(rig.hear(at: .milliseconds(1280)).count == 1)
        #expect(rig.scanner.due == .milliseconds(2560))
    }

    @Test(arguments: [
        ("02 00 0000 0000", nil), ("01 03 0000 0000", nil), ("01 02 3200 0000", nil),
        ("01 00 8000 0100", nil), ("01 00 7F00 0100", CommandAnswer.success), ("00 09 FFFF 0100", .success),
    ])
    func `a scan that cannot be is refused`(command: String, answer: CommandAnswer?) {
        var rig = Rig(extended: true)
        #expect(rig.enableExtended(command) == answer)
    }

    @Test(arguments: [
        ("00 00 01 01 1000 1000", CommandAnswer.success), ("00 00 05 01 1000 1000 00 1000 1000", .success),
        ("00 00 02 01 1000 1000", nil), ("00 00 05 01 1000 1000", nil), ("00 00 01 01 1000 1100", nil),
        ("04 00 01 01 1000 1000", nil), ("00 00 01 01 0300 0300", nil),
    ])
    func `extended parameters are taken if they are valid`(command: String, answer: CommandAnswer?) {
        var scanner = Scanner()
        #expect(CommandAnswer.of(command) { scanner.setExtendedParameters(&$0) } == answer)
        #expect(scanner.parameters.isActive == (answer != nil))
    }

    @Test func `an extended report carries long data in several events`() {
        var rig = Rig(extended: true)
        #expect(rig.enableExtended("01 00 0000 0000") == .success)
        let lines = rig.hear(2, [], data: [UInt8](repeating: 0x2A, count: 300))
        #expect(lines.count == 2)
        // More data follows the first one.
        #expect(lines[0].hasPrefix("043EFF0D012000000200000000C0"))
        #expect(lines[1].hasPrefix("043E610D010000000200000000C0"))
        #expect(lines[0].hasSuffix(String(repeating: "2A", count: 229)))
        #expect(lines[1].hasSuffix("47" + String(repeating: "2A", count: 71)))
    }
}

extension String {
    /// A legacy report with another event type.
    fileprivate func replacingKind(_ kind: String) -> String {
        String(prefix(10)) + kind + String(dropFirst(12))
    }
}
