import MynahCore
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahImport

/// The behavior of a device in a capture becomes rules, values and comments: exceptions do not undo the rest.
@Suite struct ImportedBehaviorTests {
    /// A connected client that has discovered 2A37 at 18 and 2A39 at 21, and subscribed to 2A37.
    private static func subscribed() -> HCIScript {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        return script
    }

    private static func profile(
        _ script: HCIScript, device: String? = nil, recordingFile: String? = nil
    ) throws -> String {
        let text = try script.profile(device: device, recordingFile: recordingFile).profile
        if recordingFile == nil {
            #expect(try ProfileLoader.load(text: text, file: "test.yaml").warnings.map(\.message) == [])
        }
        return text
    }

    @Test func `one status among many answers is a comment`() throws {
        var script = Self.subscribed()
        for number in 0..<20 {
            script.wait(1500)
            script.exchange("12 1500 " + Hex.encode([0x10 + UInt8(number)]), "13")
            script.wait(20)
            script.answer("1B 1200 00 " + Hex.encode([0x80 + UInt8(number)]))
            if number == 3 {
                script.wait(1200)
                script.answer("1B 1200 EE")
            }
        }
        let text = try Self.profile(script)
        #expect(text.ranges(of: "- match: {hex: ").count == 20)
        #expect(text.contains("# One value that no request caused is left out: EE, "))
        #expect(!text.contains("every"), "\(text)")
    }

    @Test func `a result that is late each time belongs to its write`() throws {
        var script = Self.subscribed()
        for _ in 0..<5 {
            script.wait(4000)
            script.exchange("12 1500 10", "13")
            script.wait(20)
            script.answer("1B 1200 80")
            script.wait(1390)
            script.answer("1B 1200 81")
        }
        let text = try Self.profile(script)
        #expect(
            text.contains(
                """
                            - match: {hex: 10}
                              answer:
                                - {to: 2A37, value: {hex: 80}, after: 30 ms}
                                - {to: 2A37, value: {hex: 81}, after: 1430 ms}

                """), "\(text)")
    }

    @Test func `a write in a stream has its answer, and the stream its values`() throws {
        var script = Self.subscribed()
        for number in 0..<12 {
            script.wait(990)
            script.answer("1B 1200 00 4\(number % 10)")
            guard number == 5 else { continue }
            script.wait(300)
            script.exchange("12 1500 01", "13")
            script.answer("1B 1200 99 01")
            script.time -= 330_000
        }
        let text = try Self.profile(script, recordingFile: "x.jsonl")
        #expect(text.contains("# 12 values were sent\n"), "\(text)")
        #expect(text.contains("- {to: 2A37, value: {hex: 99 01}, after: 10 ms}"), "\(text)")
    }

    @Test func `answers that are never the same come in turn`() throws {
        var script = Self.subscribed()
        for number in 0..<3 {
            script.wait(1000)
            script.exchange("12 1500 03", "13")
            script.answer("1B 1200 83 0\(number)")
        }
        let text = try Self.profile(script)
        #expect(text.contains("# Answers that were never the same are given in turn, as in the capture."))
        #expect(
            text.contains(
                """
                variables:
                  answer1turn1: "8300"
                  answer1turn2: "8301"
                  answer1turn3: "8302"
                """), "\(text)")
        let set = "answer1turn1: answer1turn2, answer1turn2: answer1turn3, answer1turn3: answer1turn1"
        #expect(text.contains("set: {\(set)}\n"), "\(text)")
    }

    @Test func `polled values that never change bring no comment`() throws {
        var script = Self.subscribed()
        for _ in 0..<5 {
            script.wait(1000)
            script.exchange("12 1500 03", "13")
            script.answer("1B 1200 83 01")
            script.exchange("0A 1200", "0B 83 01")
        }
        let text = try Self.profile(script)
        #expect(!text.contains("other") && !text.contains("later"), "\(text)")
    }

    @Test func `another answer once is a comment with its bytes`() throws {
        var script = Self.subscribed()
        for number in 0..<6 {
            script.wait(2000)
            script.exchange("12 1500 03", "13")
            script.answer(number == 2 ? "1B 1200 FF" : "1B 1200 83")
        }
        let text = try Self.profile(script)
        let note = "# 1 of 6 writes of 03 had another answer, such as FF, or none; the usual one is kept.\n"
        #expect(text.contains(note), "\(text)")
        #expect(text.contains("value: {hex: 83}, after: 10 ms}"))
    }

    @Test func `writes that differ after their first bytes have one rule`() throws {
        var script = Self.subscribed()
        for number in 0..<8 {
            script.wait(2000)
            script.exchange("12 1500 56 0\(number) AA", "13")
            script.answer("1B 1200 4F 4B")
        }
        let text = try Self.profile(script)
        #expect(text.ranges(of: "match").count == 1 && text.contains("- match: {hex: 56 ..}\n"), "\(text)")
    }

    @Test func `a value after the subscription follows from it`() throws {
        var script = Self.subscribed()
        script.wait(50)
        script.answer("1B 1200 01 02")
        let text = try Self.profile(script)
        #expect(
            text.contains(
                """
                        on:
                          subscribe:
                            - answer:
                                - {to: 2A37, value: {hex: 01 02}, after: 60 ms}
                """), "\(text)")
    }

    @Test func `frames of several values keep their rate`() throws {
        var script = Self.subscribed()
        for number in 0..<10 {
            script.wait(1980)
            script.answer("1B 1200 AA 0\(number)")
            script.answer("1B 1200 BB 0\(number)")
        }
        let text = try Self.profile(script)
        #expect(text.contains("# They came in frames of 2, one every 2 s.\n"), "\(text)")
        #expect(text.contains(#"generate: list, values: ["AA00", "BB00"]}"#) && text.contains("every: 1 s\n"))
    }

    @Test(arguments: [([0, 1000, 2000, 3000], 1000, 0), ([0, 100, 200, 3000, 3100, 6000], 1200, 0)])
    func `a rate is values over time`(times: [Int64], interval: Int64, frame: Int) {
        let values = times.map { ImportedProfile.RecordedValue(time: $0 * 1000, value: [1]) }
        let rate = SendingRate(values)
        #expect(rate.interval == interval * 1000 && rate.frame.count == frame)
    }

    @Test(arguments: [1, 2, 3]) func `frames are found, also if the last is cut off`(length: Int) {
        var values: [ImportedProfile.RecordedValue] = []
        for frame in 0..<5 {
            for place in 0..<length {
                values.append(
                    .init(time: Int64(frame) * 2_000_000 + Int64(place) * 500, value: [UInt8(place)]))
            }
        }
        if length == 3 { values.removeLast() }
        let rate = SendingRate(values)
        #expect(rate.frame.map { Array($0) } == (length == 1 ? [] : (0..<length).map { [UInt8($0)] }))
        #expect(rate.interval == 2_000_000 / Int64(length))
    }

    /// A value after a write, without a subscription in the capture.
    private static func unsubscribed(encrypted: Bool = false, connected: Bool = true) throws -> String {
        var script = HCIScript()
        if connected { script.connect() }
        script.discover()
        if encrypted { script.encrypt() }
        script.exchange("12 1500 01", "13")
        script.answer("1B 1200 81")
        return try profile(script)
    }

    @Test func `a device that sends without a subscription does so in the profile`() throws {
        let text = try Self.unsubscribed()
        #expect(text.contains("subscription: always\n"), "\(text)")
        #expect(text.contains("# It sent values to a central that had not subscribed.\n"))
    }

    @Test func `a bond, or what came before the capture, may have kept a subscription`() throws {
        for text in [try Self.unsubscribed(encrypted: true), try Self.unsubscribed(connected: false)] {
            #expect(!text.contains("subscription:"), "\(text)")
            #expect(text.contains("# It sent values to a central that did not subscribe in the capture, "))
        }
    }

    @Test(arguments: [true, false]) func `a characteristic without 2902 that sends has none`(
        sends: Bool
    ) throws {
        var script = HCIScript()
        script.connect()
        // 2A37 at 18, and the next declaration right after it.
        script.exchange("10 0100 FFFF 0028", "11 06 1000 FFFF 0D18")
        script.exchange("08 1000 FFFF 0328", "09 07 1100 12 1200 372A 1300 08 1400 392A")
        script.exchange("12 1400 01", "13")
        if sends { script.answer("1B 1200 81") }
        let text = try Self.profile(script)
        #expect(text.contains("subscription: none\n") == sends, "\(text)")
        #expect(text.contains("# It has no 2902, and Mynah's has one.\n") == !sends)
    }

    @Test func `an answer of hundreds of values is kept whole`() throws {
        var script = Self.subscribed()
        script.exchange("12 1500 02", "13")
        for number in 0..<300 {
            script.answer("1B 1200 82 " + Hex.encode([UInt8(number >> 8), UInt8(number & 255)]))
        }
        script.wait(3000)
        script.exchange("12 1500 03", "13")
        script.answer("1B 1200 83")
        let text = try Self.profile(script)
        #expect(text.ranges(of: "- {to: 2A37").count == 301 && !text.contains("every"))
        #expect(text.contains("value: {hex: 82 01 2B}, after: 3 s}"), "\(text)")
    }

    @Test func `a stream through a single write is a stream`() throws {
        var script = Self.subscribed()
        for number in 0..<80 {
            script.wait(90)
            if number == 40 { script.ask("52 1500 01") }
            script.answer("1B 1200 04 " + Hex.encode([UInt8(number)]))
        }
        let text = try Self.profile(script)
        #expect(!text.contains("match") && text.contains("80 values were sent"), "\(text)")
    }

    @Test func `a subscription that is repeated begins no other recording`() throws {
        var script = Self.subscribed()
        for number in 0..<12 {
            script.wait(1000)
            if number == 4 { script.exchange("12 1300 0100", "13") }
            script.answer("1B 1200 04 " + Hex.encode([UInt8(number)]))
        }
        let text = try Self.profile(script, recordingFile: "test.jsonl")
        #expect(text.contains("12 values were sent") && !text.contains("subscriptions"), "\(text)")
    }

    @Test(arguments: [
        (
            "020106 1EFF3412" + String(repeating: "AB", count: 27),
            "had 34 bytes, and such a packet has at most 31"
        ),
        ("020106 0409414243 0000", "ended in 2 zero bytes, which mean nothing and are left out"),
    ])
    func `bytes that no advertisement has are comments`(data: String, words: String) throws {
        var script = HCIScript()
        for _ in 0..<6 {
            script.advert(data)
            script.wait(90)
        }
        let text = try Self.profile(script, device: "C0:DE:00:00:00:01")
        #expect(text.contains("# The advertising data " + words), "\(text)")
    }

    @Test func `values of a descriptor are comments`() throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("04 1600 1600", "05 01 1600 E1FF")
        script.exchange("12 1500 01", "13")
        script.answer("1B 1200 81")
        script.answer("1B 1600 82")
        script.exchange("12 4000 01", "13")
        let text = try Self.profile(script)
        #expect(text.contains("# 1 value came from the handle 0x0016, a descriptor FFE1 after 2A39, which "))
        #expect(text.contains(", and is left out: 82.\n"), "\(text)")
        #expect(
            text.contains(
                "# 1 write went to attributes that were never discovered, such as the handle 0x0040"))
    }

    @Test func `a device without an advertisement gets one, and a connection's number is no name`() throws {
        var script = HCIScript()
        script.discover()
        let text = try Self.profile(script)
        #expect(
            text.contains(
                """
                name: "Imported device"

                # No advertisement of the device was seen; these are the services that fit.
                advertising:
                  localName: ""
                  serviceUUIDs: [180D]  # heart-rate
                """), "\(text)")
    }

    @Test func `connection parameters, an MTU and errors are kept or are comments`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("02 0502", "03 B900")
        script.discover()
        script.wait(1000)
        script.send([0x12, 1, 8, 0, 0x18, 0, 0x30, 0, 4, 0, 0x90, 1], on: 5, isFromHost: false)
        script.send([0x12, 2, 8, 0, 0x18, 0, 0x18, 0, 0, 0, 0x90, 1], on: 5, isFromHost: false)
        script.exchange("12 1500 01", "01 12 1500 0E")
        script.exchange("0A 1200", "01 0A 1200 11")
        let text = try Self.profile(script)
        #expect(
            text.contains(
                "connection: {interval: {min: 30 ms, max: 60 ms}, latency: 4, timeout: 4 s, after: 1100 ms}\n"
            ),
            "\(text)")
        for note in [
            "It requested other connection parameters later; these are the first.",
            "The device offered an ATT_MTU of 185.", "A write got the error 0x0E, which is left out.",
            "A read got the error 0x11, which is left out.",
        ] {
            #expect(text.contains("# \(note)\n"), "\(text)")
        }
    }

    @Test func `a second structure of one company goes where it was`() throws {
        var script = HCIScript()
        script.advert("020106 04FF341201")
        script.advert("05FF34120203", isScanResponse: true)
        script.connect()
        script.discover()
        let text = try Self.profile(script)
        #expect(
            text.contains(
                "  manufacturerData:\n    0x1234: 01\n"
                    + "  scanResponse:\n    manufacturerData:\n      0x1234: 02 03\n"
            )
        )
    }
}
