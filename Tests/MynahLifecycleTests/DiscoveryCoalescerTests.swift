import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct DiscoveryCoalescerTests {
    /// The scan, what was heard before, what happens now, and what is reported of it.
    ///
    /// A scan is `f` or `b` for its mode, `s` if it names services and `d` with duplicates; `<` starts it,
    /// `>` changes the mode, `stop` stops it. Packets are `a` and `A` (two advertisements), `r` and `R` (two
    /// scan responses), `n` and `N` (without a scan response); `c` connects the device. A report is
    /// data+response×packets.
    static let table = """
        <f    -              n   n+-x1
        <f    n              n   -
        <f    n,n,n          N   N+-x3
        <f    -              a   -
        <f    a              r   a+rx2
        <f    a              a   a+-x1
        <f    a,a            r   a+rx2
        <f    a,r            a   -
        <f    a,r,a          r   -
        <f    a,r,a          a   -
        <f    a,r,a          R   a+Rx2
        <f    a,r,a          A   -
        <f    a,r,A          r   A+rx2
        <f    a,r,A          A   A+rx1
        <f    a,r            R   a+Rx1
        <f    -              r   -
        <f    r              a   -
        <f    r,a            a   a+rx2
        <f    n              <f  -
        <f    n,<f           n   n+-x1
        <f    a,<f           r   -
        <f    n,c            n   -
        <f    n,stop         n   -
        <f    n,stop,<f      n   n+-x1
        <fd   n              n   n+-x1
        <fd   a              a   a+-x1
        <fd   a,r,a          r   a+rx2
        <fd   a,r            r   a+rx1
        <fsd  n,>b           n   -
        <fsd  n,>b           N   N+-x1
        <fsd  n,>b,n,n,>f    n   n+-x3
        <fs   n,>b           n   -
        <fs   n,>b           N   N+-x1
        <fs   n,>b,c         n   n+-x1
        <fs   n,c,>b         n   n+-x1
        <fs   n,c,>b,n       n   -
        <fs   n,stop,<bs     n   -
        <fs   n,stop,<bs     N   N+-x1
        <fs   n,c,stop,<bs   n   n+-x1
        <fs   n,>o           n   -
        <fs   n,>o           N   -
        <fs   n,>o,>f        n   -
        <fs   a,>o           r   -
        <fs   a,>o,>f        r   a+rx2
        <fs   a,>o,>f        a   -
        <f    stop,>f        n   -
        <f    stop,>bs       n   -
        >f    -              n   -
        <f    >b             n   -
        <bs   -              n   n+-x1
        <bs   n              n   -
        <bsd  n              n   -
        <bsd  n              N   N+-x1
        <bs   n,stop,<bs     n   -
        <bs   n,c            n   n+-x1
        <bs   n,c,n          n   -
        <bs   n,c,<bs        n   n+-x1
        <bs   a,r,c          a   -
        <bs   a,r,c,a        r   a+rx2
        <b    -              n   -
        """

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `each packet is reported as the table says`(row: String) {
        let words = row.split(separator: " ").map(String.init)
        var script = Script()
        _ = script.take(words[0])
        for event in words[1].split(separator: ",") where event != "-" { _ = script.take(String(event)) }
        let reports = script.take(words[2])
        #expect((reports.isEmpty ? ["-"] : reports) == Array(words.dropFirst(3)))
    }

    @Test func `Bluetooth off or the end of the app makes every device new`() {
        var script = Script()
        for event in ["<bs", "n"] { _ = script.take(event) }
        script.coalescer.reset()
        #expect(script.take("n") == [])
        _ = script.take("<bs")
        #expect(script.take("n") == ["n+-x1"])
    }

    // MARK: Contents of a discovery

    private func discover(_ scan: AppScan, _ reports: ScanReport...) -> [DiscoveryCoalescer.Discovery] {
        var coalescer = DiscoveryCoalescer()
        coalescer.start(scan)
        var found: [DiscoveryCoalescer.Discovery] = []
        for report in reports { coalescer.heard(report, into: &found) }
        return found
    }

    private func report(
        _ kind: ScanReport.Kind, _ structures: [ADStructure], rssi: Int8? = -50, isExtended: Bool = false
    ) -> ScanReport {
        ScanReport(
            address: .device(1), kind: kind, data: structures.bytes, rssi: rssi, isExtended: isExtended)
    }

    private func services(_ uuid: BluetoothUUID) -> ADStructure {
        ADStructure(type: .serviceUUIDs(uuid.width, isComplete: true), data: uuid.littleEndianBytes)
    }

    private let name = ADStructure(type: .completeLocalName, data: Array("Door".utf8))

    @Test func `advertising data and scan response are one discovery, with the last signal strength`() throws
    {
        let found = discover(
            AppScan(services: ["180D"]), report(.connectable, [services("180D")], rssi: -40),
            report(.scanResponse, [name], rssi: -41))
        let discovery = try #require(found.first)
        #expect(found.count == 1)
        #expect(discovery.address == .device(1) && discovery.rssi == -41 && discovery.coalesced == 2)
        #expect(discovery.advertisement.localName == "Door" && discovery.isConnectable)
        #expect(discovery.advertisement.serviceUUIDs == ["180D"] && discovery.overflowServices == [])
    }

    @Test func `the scan response of a set is not that of another set of the address`() {
        func set(_ identifier: UInt8?, _ kind: ScanReport.Kind, _ structures: [ADStructure]) -> ScanReport {
            var report = report(kind, structures, isExtended: identifier != nil)
            report.set = identifier
            return report
        }
        let found = discover(
            AppScan(services: []), set(nil, .connectable, [services("180D")]),
            set(nil, .scanResponse, [name]), set(1, .nonConnectable, [services("180F")]),
            set(2, .scannable, []), set(2, .scanResponse, [services("1809")]),
            set(nil, .nonConnectable, [services("180A")]))
        #expect(
            found.map(\.advertisement.serviceUUIDs) == [["180D"], ["180F"], ["1809"], ["180A"]])
        #expect(found.map(\.advertisement.localName) == ["Door", nil, nil, nil])
        #expect(found.map(\.scanResponse.isEmpty) == [false, true, false, true])
    }

    @Test func `a service in the scan response is found too`() {
        let packets = (report(.connectable, [name]), report(.scanResponse, [services("180D")]))
        #expect(discover(AppScan(services: ["180D"]), packets.0, packets.1).count == 1)
        #expect(discover(AppScan(services: ["180F"]), packets.0, packets.1).isEmpty)
        #expect(discover(AppScan(services: ["180F", "180D"]), packets.0, packets.1).count == 1)
    }

    @Test(arguments: [ScanMode.foreground, .background])
    func `without overflow areas a device is found by what it lists, and by its bit later`(mode: ScanMode) {
        let packet = report(.nonConnectable, [services("180D"), OverflowArea(["180F"]).structure])
        for (service, before, after) in [("180D", [[]], []), ("180F", [], [["180F"]])]
            as [(BluetoothUUID, [[BluetoothUUID]], [[BluetoothUUID]])]
        {
            var coalescer = DiscoveryCoalescer()
            coalescer.start(AppScan(services: [service], mode: mode))
            for (reads, expected) in [(false, before), (true, after)] {
                coalescer.readsOverflowArea = reads
                var found: [DiscoveryCoalescer.Discovery] = []
                coalescer.heard(packet, into: &found)
                #expect(found.map(\.overflowServices) == expected)
            }
        }
    }

    @Test func `a name that appears later is reported`() {
        let found = discover(
            AppScan(), report(.connectable, []), report(.connectable, []), report(.scanResponse, [name]))
        #expect(found.map(\.advertisement.localName) == [nil, "Door"])
        #expect(found.map(\.coalesced) == [1, 2])
    }

    @Test func `a device whose advertisement comes to match is reported then`() {
        let found = discover(
            AppScan(services: ["180D"]), report(.nonConnectable, [name]),
            report(.nonConnectable, [services("180D")]), report(.nonConnectable, [name]))
        #expect(found.map(\.advertisement.serviceUUIDs) == [["180D"]])
    }

    @Test(arguments: [
        (ScanReport.Kind.connectable, false, 0, true), (.connectable, true, 1, true),
        (.directed, false, 1, true),
        (.scannable, false, 0, false), (.scannable, true, 0, false), (.nonConnectable, false, 1, false),
    ])
    func `only an advertisement that has a scan response waits for one`(
        kind: ScanReport.Kind, isExtended: Bool, atOnce: Int, isConnectable: Bool
    ) {
        let packet = report(kind, [name], isExtended: isExtended)
        #expect(discover(AppScan(), packet).count == atOnce)
        #expect(discover(AppScan(), packet, packet).map(\.isConnectable) == [isConnectable])
    }

    @Test func `an overflow UUID is listed for the app that asked for it, a colliding one too`() throws {
        let hidden: BluetoothUUID = "FD64"
        let colliding = try #require(
            (UInt16(0)...0xFFFF).lazy.map { BluetoothUUID($0) }
                .first { $0 != hidden && OverflowArea.index(of: $0) == OverflowArea.index(of: hidden) })
        let packet = report(.nonConnectable, [services("180D"), OverflowArea([hidden, "180D"]).structure])
        #expect(discover(AppScan(services: [hidden]), packet).map(\.overflowServices) == [[hidden]])
        #expect(discover(AppScan(services: [colliding]), packet).map(\.overflowServices) == [[colliding]])
        #expect(discover(AppScan(services: ["180D", hidden]), packet).map(\.overflowServices) == [[hidden]])
        #expect(discover(AppScan(), packet).map(\.overflowServices) == [[]])
        #expect(discover(AppScan(services: ["180F"], mode: .background), packet).isEmpty)
    }

    @Test func `a device that looks for a solicited service is found by a scan that names services`() {
        let packet = report(
            .nonConnectable, [ADStructure(type: .solicitedServiceUUIDs(.bits16), data: [0x0D, 0x18])])
        #expect(discover(AppScan(services: ["180F"], solicited: ["180D"]), packet).count == 1)
        #expect(discover(AppScan(services: ["180F"], solicited: ["180A"]), packet).isEmpty)
        #expect(discover(AppScan(solicited: ["180A"]), packet).count == 1)
    }

    @Test func `a new scan for other services looks at what it knows again`() {
        var coalescer = DiscoveryCoalescer()
        var found: [DiscoveryCoalescer.Discovery] = []
        coalescer.start(AppScan(services: ["180F"], mode: .background))
        coalescer.heard(report(.nonConnectable, [services("180D")]), into: &found)
        #expect(found.isEmpty)
        coalescer.start(AppScan(services: ["180D"], mode: .background))
        coalescer.heard(report(.nonConnectable, [services("180D")]), into: &found)
        #expect(found.map(\.coalesced) == [2])
    }

    @Test func `a repeated advertisement as scan response adds nothing`() {
        let found = discover(
            AppScan(), report(.connectable, [services("180D")]), report(.scanResponse, [services("180D")]))
        #expect(found.map(\.advertisement.structures.count) == [1])
    }

    @Test func `of many devices those heard last are remembered`() {
        var coalescer = DiscoveryCoalescer()
        coalescer.start(AppScan())
        var found: [DiscoveryCoalescer.Discovery] = []
        func hear(_ device: UInt64) {
            coalescer.heard(
                ScanReport(address: .device(device), kind: .nonConnectable, data: []), into: &found)
        }
        for device in 0..<UInt64(DiscoveryCoalescer.limit + 1) { hear(device) }
        #expect(coalescer.count <= DiscoveryCoalescer.limit / 2 + 1)
        let before = found.count
        hear(UInt64(DiscoveryCoalescer.limit))
        #expect(found.count == before)
        hear(0)
        #expect(found.count == before + 1)
    }

    // MARK: Histories

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `in any history no packet is counted twice, and no report repeats another without a reason`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var watcher = DiscoveryWatcher()
            for _ in 0..<80 { watcher.step(&random) }
            #expect(watcher.faults == [])
        }
    }
}

/// Runs events that are written as words.
private struct Script {
    var coalescer = DiscoveryCoalescer()
    private var scan = AppScan()

    mutating func take(_ event: String) -> [String] {
        switch event.first {
        case "<":
            scan = AppScan(
                services: event.contains("s") ? ["180D"] : [], allowsDuplicates: event.contains("d"),
                mode: Self.mode(event))
            coalescer.start(scan)
        case ">": coalescer.change(to: Self.mode(event))
        case "s": coalescer.stop()
        case "c": coalescer.connected(.device(1))
        default: return hear(event)
        }
        return []
    }

    private static func mode(_ event: String) -> ScanMode {
        switch event.dropFirst().first {
        case "f": .foreground
        case "b": .background
        default: .off
        }
    }

    private mutating func hear(_ packet: String) -> [String] {
        let kind: ScanReport.Kind =
            switch packet {
            case "a", "A": .connectable
            case "r", "R": .scanResponse
            default: .nonConnectable
            }
        // Each says the service of the scans, and which packet it is.
        let mark = ADStructure(type: .completeLocalName, data: Array(packet.utf8))
        let service = ADStructure(type: .serviceUUIDs(.bits16, isComplete: true), data: [0x0D, 0x18])
        var found: [DiscoveryCoalescer.Discovery] = []
        coalescer.heard(
            ScanReport(address: .device(1), kind: kind, data: [mark, service].bytes), into: &found)
        return found.map { "\(Self.mark($0.data))+\(Self.mark($0.scanResponse))x\($0.coalesced)" }
    }

    private static func mark(_ bytes: [UInt8]) -> String { AdvertisementData(bytes).localName ?? "-" }
}

/// Judges random histories of three devices by what was heard and reported, and not by what the machine
/// remembers.
private struct DiscoveryWatcher {
    private struct Seen {
        var packets = 0
        var lastReport: DiscoveryCoalescer.Discovery?
        /// Something happened after which a device may be reported again.
        var mayRepeat = true
        var lastData: [UInt8]?
        var lastResponse: [UInt8]?
        var hasChanged = false
    }

    private var coalescer = DiscoveryCoalescer()
    /// The app's scan, or `nil` if it does not scan.
    private var scan: AppScan?
    private var seen: [DeviceAddress: Seen] = [:]
    private(set) var faults: [String] = []

    mutating func step(_ random: inout SeededGenerator) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            let new = AppScan(
                services: ["180D"], allowsDuplicates: .random(using: &random),
                mode: Bool.random(using: &random) ? .foreground : .background)
            scan = new
            coalescer.start(new)
            if new.mode == .foreground { seen = [:] }
        case 1:
            let mode = ScanMode.allCases.randomElement(using: &random) ?? .off
            scan?.mode = mode
            coalescer.change(to: mode)
        case 2 where Bool.random(using: &random):
            scan = nil
            coalescer.stop()
        case 2:
            let address = DeviceAddress.device(.random(in: 1...3, using: &random))
            coalescer.connected(address)
            seen[address, default: Seen()].mayRepeat = true
        default: hear(&random)
        }
    }

    private mutating func hear(_ random: inout SeededGenerator) {
        let kinds: [ScanReport.Kind] = [.connectable, .scanResponse, .nonConnectable]
        let kind = kinds.randomElement(using: &random) ?? .connectable
        var structures = [ADStructure(type: .txPowerLevel, data: [.random(in: 0...1, using: &random)])]
        if Bool.random(using: &random) {
            structures.append(
                ADStructure(type: .serviceUUIDs(.bits16, isComplete: true), data: [0x0D, 0x18]))
        }
        let report = ScanReport(
            address: .device(.random(in: 1...3, using: &random)), kind: kind, data: structures.bytes)
        var found: [DiscoveryCoalescer.Discovery] = []
        coalescer.heard(report, into: &found)
        var own = seen[report.address] ?? Seen()
        if let scan, scan.mode != .off {
            own.packets += 1
            if kind == .scanResponse {
                own.hasChanged = own.hasChanged || own.lastResponse != report.data
                own.lastResponse = report.data
            } else {
                own.hasChanged = own.hasChanged || own.lastData != report.data
                own.lastData = report.data
            }
        }
        for discovery in found { judge(discovery, of: report, &own) }
        // A change that came with this packet may be reported with a later one.
        seen[report.address] = own
    }

    private mutating func judge(
        _ discovery: DiscoveryCoalescer.Discovery, of report: ScanReport, _ own: inout Seen
    ) {
        if discovery.address != report.address { faults.append("another device is reported") }
        guard let scan, scan.mode != .off else { return faults.append("a report without a scan") }
        if discovery.coalesced < 1 || discovery.coalesced > own.packets {
            faults.append("a packet is counted twice")
        }
        own.packets -= discovery.coalesced
        if !discovery.advertisement.serviceUUIDs.contains("180D") { faults.append("it is not looked for") }
        let isDuplicate = scan.mode == .foreground && scan.allowsDuplicates
        if let last = own.lastReport, !isDuplicate, !own.mayRepeat, !own.hasChanged,
            last.data == discovery.data, last.scanResponse == discovery.scanResponse
        {
            faults.append("the same is reported again")
        }
        own.lastReport = discovery
        own.mayRepeat = false
        own.hasChanged = own.lastData != discovery.data
    }
}
