import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahConsole

@Suite(.timeLimit(.minutes(5))) struct EventTextTests {
    private static let strap: [JSON.Member] = [
        .init("peripheral", .string("0063EC46-11F5-41F3-950D-542CBE63A5A9")),
        .init("address", .string("D2:6D:8F:35:7E:9D")), .init("name", .string("Mynah HRM")),
    ]
    private static let named = strap + [.init("as", .string("Strap"))]
    private static let rate: [JSON.Member] = [
        .init("service", .string("180D")), .init("characteristic", .string("2A37")),
    ]
    private static let scan: [JSON.Member] = [
        .init("services", .array([.string("180D"), .string("180F")])), .init("allowDuplicates", .bool(true)),
        .init("intervalMilliseconds", .number(40)), .init("windowMilliseconds", .number(30)),
        .init("omitted", .array([])),
    ]
    private static let solicited: [JSON.Member] = [.init("solicited", .array([.string("1805")]))]
    private static let paused: [JSON.Member] = [
        .init("services", .array([])), .init("allowDuplicates", .bool(false)),
        .init("intervalMilliseconds", .null), .init("windowMilliseconds", .null),
        .init(
            "omitted",
            .array([.object([.init("item", .string("scan")), .init("reason", .string("no mode"))])])),
    ]

    @Test(
        arguments: [
            (.scanStarted, scan, "for 180D, 180F  with duplicates  30 of 40 ms"),
            (.scanStopped, scan, "for 180D, 180F  with duplicates"),
            (.scanPaused, paused, "for every device  without scan: no mode"),
            (.scanPaused, paused + solicited, "for every device  without scan: no mode"),
            (.scanStopped, scan + solicited, "for 180D, 180F  or looking for 1805  with duplicates"),
            (
                .pairingPasskey,
                [
                    .init("device", .string("Lock")), .init("central", .string("C0:00:00:00:00:01")),
                    .init("step", .string("display")), .init("passkey", .string("001234")),
                ], "device Lock  step display  passkey 001234  central C0:00:00:00:00:01"
            ),
            (
                .peripheralDiscovered,
                named + [
                    .init("rssi", .integer(-40)), .init("services", .array([.string("180D")])),
                    .init("overflowServices", .array([])), .init("coalesced", .integer(1)),
                    .init("data", .string("0201")), .init("scanResponse", .string("")),
                ], "Strap  D2:6D:8F:35:7E:9D  -40 dBm  services 180D"
            ),
            (.peripheralConnected, named + [.init("local", .bool(true))], "Strap  local"),
            (.peripheralConnected, strap + [.init("local", .bool(false))], "Mynah HRM"),
            (
                .peripheralDisconnected,
                named + [.init("pending", .bool(false)), .init("message", .string("lost"))],
                "Strap  lost"
            ),
            (
                .characteristicsDiscovered,
                named + [.init("service", .string("180D")), .init("uuids", .array([.string("2A37")]))],
                "Strap  service 180D  2A37"
            ),
            (
                .valueRead, named + rate + [.init("error", .string("0x05"))],
                "Strap  heart-rate-measurement  error 0x05"
            ),
            (
                .valueWritten,
                named + rate + [.init("value", .string("01")), .init("withResponse", .bool(false))],
                "Strap  heart-rate-measurement  01  without response"
            ),
            (
                .notificationChanged, named + rate + [.init("on", .bool(false))],
                "Strap  heart-rate-measurement  off"
            ),
            (
                .linkKept, strap + [.init("heldBy", .array([.string("A"), .string("B")]))],
                "Mynah HRM  heldBy A, B"
            ),
            (
                .parametersChanged,
                strap + [
                    .init("intervalMilliseconds", .number(11.25)), .init("latency", .integer(4)),
                    .init("supervisionTimeoutMilliseconds", .integer(4000)),
                ], "Mynah HRM  every 11.25 ms  latency 4  timeout 4000 ms"
            ),
            (
                .parametersRequested,
                strap + [
                    .init("intervalMilliseconds", .integer(15)),
                    .init("intervalMaximumMilliseconds", .integer(30)), .init("latency", .integer(31)),
                    .init("supervisionTimeoutMilliseconds", .integer(4000)), .init("accepted", .bool(false)),
                    .init("rule", .string("latency")), .init("message", .string("the latency is too high")),
                ],
                "Mynah HRM  every 15 to 30 ms  latency 31  timeout 4000 ms  rejected  latency  "
                    + "the latency is too high"
            ),
            (.linkEnded, strap + [.init("heldBy", .array([]))], "Mynah HRM"),
            (
                .alertShown, strap + [.init("by", .string("disconnection")), .init("app", .string("A"))],
                "Mynah HRM  by disconnection  app A"
            ),
        ] as [(DeviceEvent.Name, [JSON.Member], String)])
    func `an app's events as a central are shown briefly`(
        name: DeviceEvent.Name, fields: [JSON.Member], text: String
    ) {
        let event = DeviceEvent(time: WallTime(microseconds: 0), name: name, fields: fields)
        #expect(EventText.detail(of: event) == text)
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", "control http://127.0.0.1:8080  page http://127.0.0.1:8080/"),
        ("unix:/tmp/s", "control unix:/tmp/s"),
    ])
    func `the event ready names the page for browsers, if one can reach it`(control: String, text: String) {
        let event = DeviceEvent(
            time: WallTime(microseconds: 0), name: .ready, fields: [.init("control", .string(control))])
        #expect(EventText.detail(of: event) == text)
    }

    @Test func `a line begins with the device that its event names, else with the given one`() {
        var event = DeviceEvent(time: WallTime(microseconds: 0), .appForeground)
        let line = EventText.line(of: event)
        #expect(EventText.line(of: event, device: "One") == "One: \(line)")
        event.device = "Two"
        #expect(EventText.line(of: event, device: "One") == "Two: \(line)")
    }
}
