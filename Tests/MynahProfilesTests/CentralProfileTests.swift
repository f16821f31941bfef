import MynahCore
import MynahProfiles
import Testing

@Suite struct CentralProfileTests {
    static let whole = head(
        """
        app: {backgroundModes: [bluetooth-central]}
        central:
          - restoreIdentifier: com.example.lock
            scan:
              services: [180D, battery]
              solicited: [6D796E61-0200-4C61-8000-6C6162000000, 180F]
              until: found
            reconnect: [[known, connected], scan]
            peripherals:
              - name: Strap
                match: {services: [heart-rate], localName: Mynah HRM, rssi: -75 dBm}
                connect: {startDelay: 2 s, autoReconnect: true}
                discover: all
                read: [180F/2A19, body-sensor-location]
                subscribe: [180D/2A37]
                write: [{to: 2A39, value: {hex: 01}, withResponse: false, every: 30 s, after: 5 s}]
                onDisconnect: nothing
              - name: Other
                connect: never
          - peripherals: [{name: Strap, whenDone: disconnect, discover: none}]

        """)

    @Test("every key is read")
    func all() throws {
        #expect(problems(Self.whole) == [])
        let centrals = try profile(Self.whole).centrals
        #expect(centrals.count == 2)
        let central = try #require(centrals.first)
        #expect(central.restoreIdentifier == "com.example.lock")
        #expect(central.reconnect == [[.known, .connected], [.scan]])
        #expect(central.scan?.services == ["180D", "180F"])
        #expect(central.scan?.solicited == ["6D796E61-0200-4C61-8000-6C6162000000", "180F"])
        #expect(central.scan?.end == .found)
        #expect(central.scan?.allowsDuplicates == false)
        let strap = try #require(central.peripherals.first)
        #expect(strap.name == "Strap" && strap.discovery == .all && strap.onDisconnect == .nothing)
        #expect(strap.match.services == ["180D"])
        #expect(strap.match.localName == "Mynah HRM" && strap.match.rssi == -75)
        #expect(strap.connection?.startDelay == .seconds(2) && strap.connection?.autoReconnect == true)
        #expect(strap.read.map(\.text) == ["180F/2A19", "body-sensor-location"])
        #expect(strap.subscribe.map(\.text) == ["180D/2A37"])
        #expect(strap.writes.map(\.value) == [[1]] && strap.writes.first?.withResponse == false)
        #expect(strap.writes.first?.every == .seconds(30) && strap.writes.first?.after == .seconds(5))
        #expect(central.peripherals.last?.connection == nil)
        #expect(centrals.last?.scan == nil)
        #expect(centrals.last?.reconnect == [[.known], [.connected], [.scan]])
        let rest = try #require(centrals.last?.peripherals.first)
        #expect(rest.whenDone == .disconnect && rest.onDisconnect == .connect && rest.discovery == .none)
    }

    @Test("a mapping is one manager, and left out is none")
    func one() throws {
        #expect(try profile(head("app: {}\ncentral: {}\n")).centrals.count == 1)
        #expect(try profile(head("app: {}\n")).centrals.isEmpty)
    }

    @Test(
        "what is wrong is said where it is",
        arguments: [
            (
                "central: {}\n",
                ["3:1: error: central: needs an app: section, because only an app can be a central"]
            ),
            (
                "app: {backgroundModes: [bluetooth-central]}\ncentral: {scan: {allowDuplicates: true}}\n",
                [
                    "4:11: warning: a scan without services finds nothing in the background; add services",
                    """
                    4:18: note: allowDuplicates applies in the foreground only; in the background each \
                    device is reported once
                    """,
                ]
            ),
            ("app: {}\ncentral: {scan: {allowDuplicates: true}}\n", []),
            (
                "app: {}\ncentral: {scan: {solicited: [180D]}}\n",
                [
                    "4:18: warning: solicited has no effect without services: the scan finds every device"
                ]
            ),
            (
                """
                app: {backgroundModes: [bluetooth-central]}\ncentral: {peripherals: [{name: a, connect: \
                {notifyOnDisconnection: true}}]}\n
                """,
                [
                    """
                    4:45: warning: notifyOnDisconnection shows no alert for an app with \
                    bluetooth-central: the app is woken instead
                    """
                ]
            ),
            ("app: {}\ncentral: {peripherals: [{name: a, connect: {notifyOnDisconnection: true}}]}\n", []),
            (
                """
                app: {restoreIdentifier: a, backgroundModes: [bluetooth-central]}
                central: [{restoreIdentifier: b}, {restoreIdentifier: a}]

                """,
                [
                    """
                    3:26: warning: restoreIdentifier of app has no effect without services or \
                    advertising: it is that of the peripheral manager. For the central manager, give \
                    central a restoreIdentifier
                    """,
                    """
                    4:55: error: the restoreIdentifier "a" is another manager's of this app; give \
                    each one of its own
                    """,
                ]
            ),
            (
                "app: {}\ncentral: {restoreIdentifier: a}\n",
                [
                    """
                    4:30: warning: restoreIdentifier has no effect without the background mode \
                    bluetooth-central: nothing is kept of the central manager
                    """
                ]
            ),
            ("app: {backgroundModes: [bluetooth-central]}\ncentral: {restoreIdentifier: a}\n", []),
            (
                "app: {restoreIdentifier: a}\nadvertising: {localName: a}\ncentral: {}\n",
                [
                    """
                    3:26: warning: restoreIdentifier has no effect without the background mode \
                    bluetooth-peripheral: nothing is kept of the peripheral manager
                    """
                ]
            ),
            (
                "app: {iOS: 16}\ncentral: {peripherals: [{name: a, connect: {autoReconnect: true}}]}\n",
                ["4:45: error: autoReconnect needs iOS 17, and the app has iOS: 16"]
            ),
            (
                "app: {}\ncentral: {peripherals: [{name: a}, {name: a}]}\n",
                ["4:36: error: another peripheral has the name \"a\"; names must differ"]
            ),
            (
                "app: {}\ncentral: {peripherals: [{name: a, connect: never, read: [2A37]}]}\n",
                ["4:51: error: read needs a connection, and this entry has connect: never"]
            ),
            (
                "app: {}\ncentral: {peripherals: [{name: a, discover: none, subscribe: [2A37]}]}\n",
                ["4:51: error: subscribe needs discovery, and this entry has discover: none"]
            ),
            (
                "app: {}\ncentral: {peripherals: [{name: a, read: [2A37/2901]}]}\n",
                ["4:42: error: read must name a characteristic, as 180D/2A37 or 2A37, not \"2A37/2901\""]
            ),
            (
                "app: {}\ncentral: {peripherals: [{name: a, match: {rssi: -75}}]}\n",
                ["4:49: error: rssi must be from -127 dBm to 20 dBm, as in -75 dBm, not \"-75\""]
            ),
            (
                """
                app: {}\ncentral: {peripherals: [{name: a, write: [{to: 2A39, value: {generate: \
                heart-rate}}]}]}\n
                """,
                ["4:61: error: the value of a write must be hex, text or base64"]
            ),
            (
                "app: {}\ncentral: {peripherals: [{name: a, subscribe: [2A37], whenDone: disconnect}]}\n",
                [
                    """
                    4:64: warning: whenDone: disconnect waits for the end of all subscriptions, and this \
                    entry subscribes
                    """
                ]
            ),
            (
                "app: {}\ncentral: {reconnect: [known, [scan, known], lost]}\n",
                [
                    "4:31: warning: the way scan needs scan: in the same central section",
                    "4:37: error: the way known is repeated",
                    "4:45: error: unknown way to reconnect \"lost\"; known are known, connected and scan",
                ]
            ),
            (
                "app: {}\ncentral: {peripheral: []}\n",
                ["4:11: error: unknown key \"peripheral\" in central; did you mean \"peripherals\"?"]
            ),
        ])
    func wrong(_ rest: String, _ expected: [String]) {
        #expect(problems(head(rest)) == expected)
    }

    @Test("BlueZ plays no central, and is told where it says so")
    func bluez() throws {
        let issue = try #require(try profile(head("app: {}\ncentral: {}\n")).centralIssueWithBlueZ)
        #expect(issue.severity == .error && issue.mark?.line == 4)
        #expect(issue.message.contains("virtual") && issue.message.contains("hci:user:0"))
        #expect(try profile(head("app: {}\n")).centralIssueWithBlueZ == nil)
    }
}
