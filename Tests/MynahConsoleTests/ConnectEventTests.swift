import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahConsole
@testable import MynahRun

@Suite struct ConnectEventTests {
    private static let time = WallTime(microseconds: 1_000_000)
    private static let strap = DeviceAddress(littleEndian: [1, 0, 0, 0, 0, 0xC0], kind: .random)

    /// The object without its time.
    private static func object(_ event: ConnectEvent) -> String {
        guard case .object(let members) = event.json else { return "no object" }
        return JSON.object(members.filter { $0.key != "time" }).text
    }

    @Test func `an event of the link is an object and a line`() throws {
        let address = try #require(Self.strap)
        for (event, object, line) in [
            (
                .connected(address, name: "e\u{1B}vil"),
                #"{"event":"connected","peripheral":"C0:00:00:00:00:01","addressType":"random","#
                    + #""name":"e\u001Bvil"}"#,
                "connected to C0:00:00:00:00:01 (e\u{FFFD}vil)"
            ),
            (
                .connected(address, name: nil),
                #"{"event":"connected","peripheral":"C0:00:00:00:00:01","addressType":"random"}"#,
                "connected to C0:00:00:00:00:01"
            ),
            (.disconnected(nil), #"{"event":"disconnected"}"#, "disconnected"),
            (
                .mtu(247), #"{"event":"mtu","mtu":247}"#, "MTU 247: 244 bytes of a value in one packet"
            ),
            (.rssi(-40), #"{"event":"rssi","rssi":-40}"#, "-40 dBm"),
            (
                .failed(.refused(.readNotPermitted)),
                #"{"event":"error","message":"the device answered 0x02 (read not permitted)","code":2}"#,
                "error: the device answered 0x02 (read not permitted)"
            ),
            (
                .servicesChanged(1...9), #"{"event":"services.changed","start":1,"end":9}"#,
                "the device's services changed; \"services\" discovers them again"
            ),
            (
                .passkey(.display(12)), #"{"event":"pairing.passkey","step":"display","passkey":"000012"}"#,
                "type 000012 on the device"
            ),
            (
                .passkey(.compare(123_456)),
                #"{"event":"pairing.passkey","step":"compare","passkey":"123456"}"#,
                "does the device show 123456?"
            ),
        ] as [(ConnectEvent, String, String)] {
            #expect(Self.object(event) == object)
            #expect(event.text() == line)
        }
    }

    @Test func `a value names its attribute, in an object and for people`() throws {
        let services = try SampleServices.all()
        func target(_ path: String) throws -> AttributePath.Target {
            try AttributePath(parsing: path).target(in: services)
        }
        let attribute = #""service":"180D","characteristic":"2A37""#
        let read = ConnectEvent.value(.read, try target("2A37"), [0x41, 0x42])
        #expect(Self.object(read) == #"{"event":"read",\#(attribute),"value":"4142"}"#)
        #expect(read.text() == "heart-rate-measurement  4142 \"AB\"")
        let notified = ConnectEvent.value(.notified, try target("2A37"), [], time: Self.time)
        #expect(notified.text() == "\(Self.time.localClock)  heart-rate-measurement  (empty)")
        #expect(notified.json.text.hasPrefix(#"{"time":"1970-01-01T00:00:01.000000Z","event":"notified""#))
        let rate = ConnectEvent.value(.read, try target("2A37"), [6, 0x48])
        #expect(
            Self.object(rate)
                == #"{"event":"read",\#(attribute),"value":"0648","#
                + #""fields":{"heartRate":72,"contact":true}}"#)
        #expect(rate.text() == "heart-rate-measurement  0648  72 bpm, contact")
        let descriptor = ConnectEvent.value(.read, try target("2A37/2902"), [1, 0])
        #expect(
            Self.object(descriptor) == #"{"event":"read",\#(attribute),"descriptor":"2902","value":"0100"}"#)
        #expect(
            Self.object(.value(.indicated, from: 7, [1]))
                == #"{"event":"indicated","handle":7,"value":"01"}"#)
        #expect(
            Self.object(.subscription(true, try target("2A37"))) == #"{"event":"subscribed",\#(attribute)}"#)
        let point = try target("2A39")
        #expect(
            ConnectEvent.written(point, [1], withResponse: true).text()
                == "heart-rate-control-point is written")
        #expect(
            Self.object(.written(point, [1], withResponse: true))
                == #"{"event":"written","service":"180D","characteristic":"2A39","value":"01","#
                + #""fields":{"command":1},"withResponse":true}"#)
        // It has the property write alone.
        #expect(
            ConnectEvent.written(point, [1], withResponse: false).text()
                == "sent to heart-rate-control-point, without response; "
                + "it lacks the property writeWithoutResponse and may ignore the value")
    }

    @Test func `a narrow terminal shows less of a time and a name, and all of a value`() throws {
        let target = try AttributePath(parsing: "2A37").target(in: try SampleServices.all())
        let event = ConnectEvent.value(.notified, target, [0, 0x48], time: Self.time)
        let clock = Self.time.localClock
        #expect(event.text(width: 80) == "\(clock)  heart-rate-measurement  0048  72 bpm")
        #expect(event.text(width: 46) == "\(clock.prefix(8))  heart-rate-measurement  0048  72 bpm")
        #expect(event.text(width: 40) == "heart-rate-measurement  0048  72 bpm")
        #expect(event.text(width: 20) == "heart-rate-measurem…\n  0048  72 bpm")
        #expect(event.text(width: 12) == "heart-rate-…\n  0048\n  72 bpm")
        let long = ConnectEvent.value(.read, target, [UInt8](repeating: 1, count: 20))
        #expect(long.text(width: 20).hasSuffix(String(repeating: "01", count: 20)))
    }

    @Test func `services are a tree of objects with their handles`() throws {
        let text = Self.object(.services(Array(try SampleServices.all().prefix(2))))
        #expect(
            text.hasPrefix(#"{"event":"services","services":[{"uuid":"180D","primary":true,"handle":16,"#))
        #expect(
            text.contains(
                #""uuid":"2A37","handle":18,"properties":["read","notify"],"#
                    + #""descriptors":[{"uuid":"2902","handle":19}]"#
            ))
        #expect(text.contains(#""uuid":"180F","primary":true,"handle":24,"includes":["180A"],"#))
    }
}
