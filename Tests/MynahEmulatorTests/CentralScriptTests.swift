import MynahCore
import MynahLifecycle
import MynahProfiles
import Testing

@testable import MynahEmulator

@Suite struct CentralScriptTests {
    typealias Action = CentralScript.Action

    private static func device(_ number: UInt64) -> PeripheralIdentifier {
        PeripheralIdentifier(high: number, low: number)
    }
    private static let (one, two, three) = (device(1), device(2), device(3))

    private static func entry(
        _ name: String, _ change: (inout Profile.Central.Peripheral) -> Void = { _ in }
    ) -> Profile.Central.Peripheral {
        var entry = Profile.Central.Peripheral(name: name)
        change(&entry)
        return entry
    }

    /// Two entries: a strap by its service, and anything that is only reported.
    private static func script(
        end: Profile.Central.Scan.End = .connected, reconnect: [[ReconnectWay]] = [[.known, .scan]],
        _ change: (inout Profile.Central.Peripheral) -> Void = { _ in }
    ) -> CentralScript {
        var scan = Profile.Central.Scan()
        scan.end = end
        let strap = entry("Strap") {
            $0.match.services = ["180D"]
            change(&$0)
        }
        var central = Profile.Central(
            scan: scan, peripherals: [strap, entry("Other") { $0.connection = nil }])
        central.reconnect = reconnect
        return CentralScript(central)
    }

    /// The actions that follow from some events.
    private static func actions(
        _ script: inout CentralScript, _ body: (inout CentralScript, inout [Action]) -> Void
    ) -> [Action] {
        var actions: [Action] = []
        body(&script, &actions)
        return actions
    }

    private static func hear(
        _ script: inout CentralScript, _ device: PeripheralIdentifier, _ services: Set<BluetoothUUID> = []
    ) -> [Action] {
        actions(&script) { $0.heard(device, .init(services: services), into: &$1) }
    }

    private static func retrieve(
        _ script: inout CentralScript, _ way: ReconnectWay, _ found: [(PeripheralIdentifier, String?)],
        for entry: Int = 0
    ) -> [Action] {
        actions(&script) { $0.retrieved(way, found.map { ($0.0, $0.1) }, for: entry, into: &$1) }
    }

    /// A script whose strap was connected, and then lost.
    private static func lost(
        _ reconnect: [[ReconnectWay]], _ change: (inout Profile.Central.Peripheral) -> Void = { _ in }
    ) -> (CentralScript, [Action]) {
        var script = script(reconnect: reconnect) {
            $0.onDisconnect = .reconnect
            change(&$0)
        }
        _ = actions(&script) { $0.powered(true, into: &$1) }
        // It has had no device, so it scans in any case.
        _ = retrieve(&script, .connected, [])
        let heard = CentralScript.Heard(services: ["180D"], localName: "Door")
        #expect(actions(&script) { $0.heard(one, heard, into: &$1) } == [.connect(one, entry: 0)])
        _ = actions(&script) { $0.connected(one, into: &$1) }
        let ended = actions(&script) { $0.disconnected(one, isReconnecting: false, into: &$1) }
        return (script, ended)
    }

    private static func wait(_ actions: [Action]) -> UInt64? {
        for case .wait(let number, .seconds(10), 0) in actions { return number }
        return nil
    }

    @Test func `each launch of an app registers once for connection events, when Bluetooth is on`() {
        var central = Profile.Central()
        central.connectionEvents = ["180D"]
        var script = CentralScript(central)
        for _ in 1...2 {
            script.launched()
            let first = Self.actions(&script) { $0.powered(true, into: &$1) }
            #expect(first == [.registerForConnectionEvents(["180D"])])
            for isOn in [false, true] {
                let others = Self.actions(&script) { $0.powered(isOn, into: &$1) }
                #expect(others == [])
            }
        }
    }

    @Test func `an identifier that the app saved leads to its device without a scan`() {
        var script = Self.script()
        script.recall(["Strap": Self.one, "Gone": Self.two, "Other": Self.one])
        #expect(script.saved == ["Strap": Self.one])
        #expect(script.entry(of: Self.one) == 0)
        let asked = Self.actions(&script) { $0.powered(true, into: &$1) }
        #expect(asked.contains(.retrieveKnown([Self.one], entry: 0)))
        // A device that it has seen since counts more than one that it saved before.
        script.recall(["Strap": Self.three])
        #expect(script.saved == ["Strap": Self.one])
    }

    @Test func `known, connected, scan in order, and a device whose address changed is found by scanning`()
        throws
    {
        var (script, actions) = Self.lost([[.known], [.connected], [.scan]])
        #expect(actions.first == .retrieveKnown([Self.one], entry: 0) && actions.count == 2)
        let first = try #require(Self.wait(actions))
        #expect(Self.retrieve(&script, .known, [(Self.one, "Strap")]) == [.connect(Self.one, entry: 0)])
        // Nobody answers at the address that the phone knows.
        actions = Self.actions(&script) { $0.waited(first, for: 0, into: &$1) }
        #expect(actions.first == .retrieveConnected(["180D"], entry: 0) && actions.count == 2)
        let second = try #require(Self.wait(actions))
        #expect(Self.actions(&script) { $0.waited(first, for: 0, into: &$1) } == [])
        #expect(Self.retrieve(&script, .connected, []) == [.startScan])
        #expect(Self.actions(&script) { $0.waited(second, for: 0, into: &$1) } == [])
        #expect(Self.hear(&script, Self.two, ["180D"]) == [.connect(Self.two, entry: 0)])
        #expect(
            Self.actions(&script) { $0.connected(Self.two, into: &$1) }
                == [.stopScan, .cancel(Self.one), .work(Self.two, entry: 0)])
        #expect(script.device(of: 0) == Self.two && script.entry(of: Self.one) == 0)
        // The pending connection that was given up is no loss, nor is it made after all.
        #expect(Self.actions(&script) { $0.connected(Self.one, into: &$1) } == [])
        #expect(Self.actions(&script) { $0.disconnected(Self.one, isReconnecting: false, into: &$1) } == [])
    }

    @Test func `ways of one list are tried at once`() {
        var (script, actions) = Self.lost([[.known, .connected, .scan]])
        #expect(
            actions == [
                .retrieveKnown([Self.one], entry: 0), .retrieveConnected(["180D"], entry: 0), .startScan,
            ])
        #expect(Self.retrieve(&script, .known, [(Self.one, nil)]) == [.connect(Self.one, entry: 0)])
        #expect(Self.retrieve(&script, .connected, [(Self.two, nil)]) == [.connect(Self.two, entry: 0)])
        #expect(
            Self.actions(&script) { $0.connected(Self.two, into: &$1) }
                == [.stopScan, .cancel(Self.one), .work(Self.two, entry: 0)])
    }

    @Test func `the phone's connected devices count if their name is the one that is meant`() {
        var (script, actions) = Self.lost([[.connected]]) { $0.match.localName = "Door" }
        #expect(actions == [.retrieveConnected(["180D"], entry: 0)])
        // Another device of this name is as good, and the app's own is known by its identifier.
        #expect(
            Self.retrieve(
                &script, .connected, [(Self.three, "Another"), (Self.two, "Door"), (Self.one, nil)])
                == [.connect(Self.two, entry: 0)])
        actions = Self.actions(&script) { $0.failed(Self.two, into: &$1) }
        #expect(actions == [.connect(Self.one, entry: 0)])
    }

    @Test func `it scans when Bluetooth is on, connects, and stops when every device is connected`() {
        var script = Self.script()
        #expect(Self.hear(&script, Self.two) == [])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [.startScan])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        #expect(Self.hear(&script, Self.one, ["180D"]) == [.connect(Self.one, entry: 0)])
        #expect(Self.hear(&script, Self.one, ["180D"]) == [])
        #expect(script.entry(of: Self.one) == 0 && script.entry(of: Self.two) == 1)
        #expect(
            Self.actions(&script) { $0.connected(Self.one, into: &$1) }
                == [.stopScan, .work(Self.one, entry: 0)])
    }

    @Test func `an entry has one device, and the first entry that matches counts`() {
        var script = Self.script()
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        _ = Self.hear(&script, Self.two, ["180D"])
        _ = Self.hear(&script, Self.three, ["180D"])
        #expect([Self.one, Self.two, Self.three].map(script.entry) == [0, 1, nil])
    }

    /// Two entries that match the same devices, whose plans have asked which of them are connected.
    private static func alike() -> CentralScript {
        let entries = ["One", "Two"].map { entry($0) { $0.match.services = ["180D"] } }
        var central = Profile.Central(scan: Profile.Central.Scan(), peripherals: entries)
        central.reconnect = [[.connected], [.scan]]
        var script = CentralScript(central)
        let actions = actions(&script) { $0.powered(true, into: &$1) }
        #expect(
            [0, 1].allSatisfy { actions.contains(.retrieveConnected(["180D"], entry: $0)) }
                && actions.count == 4)
        return script
    }

    @Test func `a device that an entry waits for is no other entry's, and no other cancels it`() {
        var script = Self.alike()
        #expect(Self.retrieve(&script, .connected, [(Self.one, nil)]) == [.connect(Self.one, entry: 0)])
        #expect(Self.retrieve(&script, .connected, [(Self.one, nil)], for: 1) == [.startScan])
        #expect(Self.hear(&script, Self.one, ["180D"]) == [])
        #expect(Self.actions(&script) { $0.connected(Self.one, into: &$1) } == [.work(Self.one, entry: 0)])
        #expect(Self.hear(&script, Self.two, ["180D"]) == [.connect(Self.two, entry: 1)])
        #expect(
            Self.actions(&script) { $0.connected(Self.two, into: &$1) }
                == [.stopScan, .work(Self.two, entry: 1)])
        #expect([Self.one, Self.two].map(script.entry) == [0, 1])
    }

    @Test func `an entry does not try a device that another has taken since it was retrieved`() {
        var script = Self.alike()
        let both: [(PeripheralIdentifier, String?)] = [(Self.one, nil), (Self.two, nil)]
        #expect(Self.retrieve(&script, .connected, both) == [.connect(Self.one, entry: 0)])
        #expect(Self.retrieve(&script, .connected, both, for: 1) == [.connect(Self.two, entry: 1)])
        #expect(Self.actions(&script) { $0.failed(Self.one, into: &$1) } == [.startScan])
        #expect(script.entry(of: Self.two) == 1)
    }

    @Test(arguments: [
        (Profile.Central.Scan.End.found, [false, true]), (.connected, [false, false]),
        (.never, [false, false]),
    ])
    func `a scan ends as the profile says`(end: Profile.Central.Scan.End, stops: [Bool]) {
        var script = Self.script(end: end)
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        #expect(
            [Self.hear(&script, Self.one, ["180D"]), Self.hear(&script, Self.two)].map {
                $0.contains(.stopScan)
            } == stops)
        let connected = Self.actions(&script) { $0.connected(Self.one, into: &$1) }
        #expect(connected.contains(.stopScan) == (end == .connected))
    }

    @Test(arguments: [
        (Profile.Central.Peripheral.OnDisconnect.connect, false, true), (.connect, true, false),
        (.nothing, false, false), (.nothing, true, false),
    ])
    func `a lost device is asked for again unless the system does it`(
        policy: Profile.Central.Peripheral.OnDisconnect, isReconnecting: Bool, asks: Bool
    ) {
        var script = Self.script { $0.onDisconnect = policy }
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        _ = Self.actions(&script) { $0.connected(Self.one, into: &$1) }
        let actions = Self.actions(&script) {
            $0.disconnected(Self.one, isReconnecting: isReconnecting, into: &$1)
        }
        #expect(actions == (asks ? [.connect(Self.one, entry: 0)] : []))
        #expect(Self.hear(&script, Self.one, ["180D"]) == [])
        #expect(
            Self.actions(&script) { $0.connected(Self.one, into: &$1) } == [.work(Self.one, entry: 0)])
    }

    @Test func `a connection that failed is asked for again when the device is heard again`() {
        var script = Self.script()
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        #expect(Self.actions(&script) { $0.failed(Self.one, into: &$1) } == [])
        #expect(Self.hear(&script, Self.one) == [.connect(Self.one, entry: 0)])
    }

    @Test(arguments: [
        (Profile.Central.Peripheral.WhenDone.disconnect, false, [Action.cancel(device(1))]),
        (.disconnect, true, []), (.stay, false, []),
    ])
    func `a link ends when all is done and nothing notifies`(
        whenDone: Profile.Central.Peripheral.WhenDone, isSubscribed: Bool, expected: [Action]
    ) {
        var script = Self.script { $0.whenDone = whenDone }
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        _ = Self.actions(&script) { $0.connected(Self.one, into: &$1) }
        #expect(
            Self.actions(&script) { $0.done(Self.one, isSubscribed: isSubscribed, into: &$1) } == expected)
        let after = Self.actions(&script) { $0.disconnected(Self.one, isReconnecting: false, into: &$1) }
        #expect(after == (expected.isEmpty ? [.connect(Self.one, entry: 0)] : []))
    }

    @Test func `Bluetooth that was off, and a new process, begin with the devices that are known`() {
        for isLaunch in [false, true] {
            var script = Self.script()
            _ = Self.actions(&script) { $0.powered(true, into: &$1) }
            _ = Self.hear(&script, Self.one, ["180D"])
            _ = Self.actions(&script) { $0.connected(Self.one, into: &$1) }
            if isLaunch {
                script.launched()
            } else {
                #expect(Self.actions(&script) { $0.powered(false, into: &$1) } == [])
            }
            #expect(
                Self.actions(&script) { $0.powered(true, into: &$1) }
                    == [.retrieveKnown([Self.one], entry: 0), .startScan])
            #expect(Self.retrieve(&script, .known, [(Self.one, nil)]) == [.connect(Self.one, entry: 0)])
        }
    }

    @Test func `the app's user starts and stops the scan, until the app starts again`() {
        var script = Self.script()
        #expect(Self.actions(&script) { $0.userWants(false, into: &$1) } == [])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        #expect(Self.actions(&script) { $0.userWants(true, into: &$1) } == [.startScan])
        _ = Self.hear(&script, Self.one, ["180D"])
        #expect(
            Self.actions(&script) { $0.connected(Self.one, into: &$1) } == [.work(Self.one, entry: 0)])
        #expect(Self.actions(&script) { $0.userWants(false, into: &$1) } == [.stopScan])
        script.launched()
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) }.contains(.startScan))
        var silent = CentralScript(Profile.Central())
        _ = Self.actions(&silent) { $0.powered(true, into: &$1) }
        #expect(Self.actions(&silent) { $0.userWants(true, into: &$1) } == [])
    }

    @Test func `requests that the system kept go on, and are not repeated`() {
        var script = Self.script()
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        script.launched()
        script.restored(isScanning: true, connected: [], wanted: [Self.one])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        #expect(
            Self.actions(&script) { $0.connected(Self.one, into: &$1) }
                == [.stopScan, .work(Self.one, entry: 0)])
    }

    @Test func `an app goes on with the work on a restored link, once`() {
        var script = Self.script()
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        _ = Self.actions(&script) { $0.connected(Self.one, into: &$1) }
        let work = [Action.work(Self.one, entry: 0)]
        for _ in 1...2 {
            script.launched()
            script.restored(isScanning: false, connected: [Self.one], wanted: [])
            #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == work)
            #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
            // The connection that launched the app is told after the Bluetooth state.
            #expect(Self.actions(&script) { $0.connected(Self.one, into: &$1) } == [])
        }
        // Bluetooth was turned off meanwhile: nothing is left to go on with.
        script.launched()
        script.restored(isScanning: false, connected: [Self.one], wanted: [])
        _ = Self.actions(&script) { $0.powered(false, into: &$1) }
        #expect(!Self.actions(&script) { $0.powered(true, into: &$1) }.contains(work[0]))
    }

    @Test func `a restored scan goes on, and what it finds is connected`() {
        var script = Self.script(reconnect: [[.known], [.connected], [.scan]])
        script.launched()
        script.restored(isScanning: true, connected: [], wanted: [])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        #expect(Self.hear(&script, Self.one, ["180D"]) == [.connect(Self.one, entry: 0)])
        // The device that it waits for may have another address by now.
        script.launched()
        script.restored(isScanning: true, connected: [], wanted: [Self.one])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        #expect(Self.hear(&script, Self.two, ["180D"]) == [.connect(Self.two, entry: 0)])
        #expect(
            Self.actions(&script) { $0.connected(Self.two, into: &$1) }
                == [.stopScan, .cancel(Self.one), .work(Self.two, entry: 0)])
    }

    @Test func `a device that was heard before its entry scans is connected when it does`() {
        var (script, _) = Self.lost([[.connected], [.scan]])
        _ = Self.hear(&script, Self.one, ["180D"])
        #expect(
            Self.retrieve(&script, .connected, []) == [.connect(Self.one, entry: 0), .startScan])
    }

    @Test func `a restored pending connection is the device of its entry, and no reason to scan`() {
        var script = Self.script()
        _ = Self.actions(&script) { $0.powered(true, into: &$1) }
        _ = Self.hear(&script, Self.one, ["180D"])
        script.launched()
        script.restored(isScanning: false, connected: [], wanted: [Self.one])
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        #expect(
            Self.actions(&script) { $0.connected(Self.one, into: &$1) } == [.work(Self.one, entry: 0)])
    }

    @Test func `a device that the system kept through a restart of the phone has its entry again`() {
        var script = Self.script { $0.match.rssi = -70 }
        script.launched()
        script.recognize([(Self.two, .init(services: ["180F"], localName: nil, rssi: nil))])
        script.recognize([(Self.one, .init(services: ["180D", "180F"], localName: "Strap", rssi: nil))])
        script.restored(isScanning: true, connected: [], wanted: [Self.one])
        #expect(script.entry(of: Self.one) == 0)
        #expect(script.entry(of: Self.two) == 1)
        #expect(Self.actions(&script) { $0.powered(true, into: &$1) } == [])
        // It is not asked for again when it is heard.
        #expect(Self.hear(&script, Self.one, ["180D"]) == [])
        #expect(
            Self.actions(&script) { $0.connected(Self.one, into: &$1) }
                == [.stopScan, .work(Self.one, entry: 0)])
    }

    @Test(
        arguments: [
            (["180D"], "Door", -60, true), (["180D", "180F"], "Door", -75, true), ([], "Door", -60, false),
            (["180D"], "Doors", -60, false), (["180D"], nil, -60, false), (["180D"], "Door", -76, false),
            (["180D"], "Door", nil, false),
        ] as [(Set<BluetoothUUID>, String?, Int?, Bool)])
    func `all of a match must match`(services: Set<BluetoothUUID>, name: String?, rssi: Int?, matches: Bool) {
        var match = Profile.Central.Match()
        match.services = ["180D"]
        match.localName = "Door"
        match.rssi = -75
        #expect(match.matches(.init(services: services, localName: name, rssi: rssi)) == matches)
        #expect(Profile.Central.Match().matches(.init(services: services, localName: name, rssi: rssi)))
    }
}

@Suite struct NeededAttributeTests {
    @Test(
        arguments: [
            ([], [], [], []), (["180D/2A37"], ["180D"], ["2A37"], []),
            (["180D/2A37", "180F/2A19", "180D~2/2A38"], ["180D", "180F"], ["2A37", "2A38"], ["2A19"]),
            (["2A37", "180F/2A19"], nil, ["2A37"], ["2A19", "2A37"]),
        ] as [([String], [BluetoothUUID]?, [BluetoothUUID], [BluetoothUUID])])
    func `only services and characteristics that are named are looked for`(
        names: [String], services: [BluetoothUUID]?, heartRate: [BluetoothUUID], battery: [BluetoothUUID]
    ) throws {
        let needed = NeededAttributes(try names.map { try AttributeName(parsing: $0) })
        #expect(needed.services == services)
        #expect(needed.characteristics(of: "180D") == heartRate)
        #expect(needed.characteristics(of: "180F") == battery)
    }
}
