import MynahCore
import MynahSupport
import Testing

@testable import MynahProfiles

/// The keys of `advertising` beyond a name and services: what is on the air for them.
@Suite struct AdvertisingKeyTests {
    /// The bytes of the first set, as `data | scan response`.
    private static func air(_ advertising: String) throws -> String {
        let advertisement = try #require(
            try profile(head("advertising: \(advertising)\n")).advertising?.advertisement)
        return try bytes(of: advertisement)
    }

    private static func bytes(of set: Advertisement) throws -> String {
        let exact = try AccessoryAdvertising.compose(set)
        return Hex.encode(exact.data.bytes) + " | " + Hex.encode(exact.scanResponse.bytes)
    }

    @Test(arguments: [
        // The device's name is Test, which the advertising data has unless something else is said.
        ("{}", "020106050954657374 | "),
        ("{flags: 0x1A}", "02011A050954657374 | "), ("{flags: none}", "050954657374 | "),
        ("{flags: [limited, noBREDR]}", "020105050954657374 | "),
        ("{localName: \"\", txPower: 12 dBm}", "020106020A0C | "),
        ("{localName: \"\", txPower: -4}", "020106020AFC | "),
        ("{localName: \"\", appearance: 0x0341}", "020106031941 03".replacing(" ", with: "") + " | "),
        (
            "{localName: \"\", serviceUUIDs: {complete: [180D], incomplete: [180F]}}",
            "02010603030D1803020F18 | "
        ),
        (
            "{localName: \"\", "
                + "manufacturerData: [{company: 0xFFFF, value: 01}, {company: 0xFFFF, value: {text: A}}]}",
            "02010604FFFFFF0104FFFFFF41 | "
        ),
        (
            "{localName: \"\", serviceData: {FCD2: {hex: 40 02 C4 09}}}",
            "0201060716D2FC4002C409 | "
        ),
        // A key of the scan response goes there, the name last.
        (
            "{scanResponse: {localName: Strip 12, manufacturerData: {0x5AF0: 01 02}, "
                + "raw: {0x12: 06 00 0C 00}}}",
            "020106 | 05FFF05A0102051206000C000909537472697020 3132".replacing(" ", with: "")
                .replacing("|", with: " | ")
        ),
        // Raw structures replace those of their types, in their order.
        (
            "{raw: [{0x0A: 0C}, {0xFF: 12 34 01}, {0xFF: 12 34 02}, {0x01: 1A}, {0x09: 41}]}",
            "020A0C04FF12340104FF12340202011A020941 | "
        ),
    ])
    func `each key has its bytes on the air`(advertising: String, expected: String) throws {
        #expect(try Self.air(advertising) == expected)
    }

    @Test
    func
        `extended advertising has room for more, and its data moves to the scan response if it is scannable`()
        throws
    {
        let long = String(repeating: "AB ", count: 200)
        let plain = try #require(
            try profile(
                head("advertising: {connectable: false, extended: true, manufacturerData: {1: \(long)}}\n")
            ).advertising?.advertisement)
        #expect(!plain.isScannable && plain.dataCapacity == 1650)
        #expect(try AccessoryAdvertising.compose(plain).data.byteCount == 3 + 204 + 6)
        let asked = try #require(
            try profile(
                head(
                    """
                    advertising:
                      connectable: false
                      scannable: true
                      extended: {data: 2M, primary: coded}
                      localName: ""
                      scanResponse: {manufacturerData: {1: \(long)}}
                    """)
            ).advertising?.advertisement)
        #expect(asked.extended?.secondaryPHY == .le2M && asked.extended?.isPrimaryCoded == true)
        let exact = try AccessoryAdvertising.compose(asked)
        #expect(exact.data.isEmpty && exact.scanResponse.byteCount == 204)
    }

    @Test func `several sets have names, and values of their own`() throws {
        let advertising = try #require(
            try profile(
                head(
                    """
                    advertising:
                      - {name: main, serviceUUIDs: [180D]}
                      - connectable: false
                        localName: ""
                        interval: {min: 1 s, max: 2 s}
                        address: random
                        every: 2 s
                        manufacturerData:
                          0x0499: {layout: [{packets: uint8}], fields: {packets: {generate: counter}}}
                    """)
            ).advertising)
        let sets = advertising.advertisement.sets
        #expect(sets.map(\.name) == ["main", "2"])
        #expect(try sets.map(Self.bytes) == ["02010603030D18050954657374 | ", "02010604FF990400 | "])
        #expect(sets[1].intervals == .seconds(1)...(.seconds(2)))
        #expect(sets[1].address == .random && sets[0].address == nil)
        let value = try #require(advertising.values.first)
        #expect(value.set == "2" && value.every == .seconds(2))
        var later = advertising.advertisement
        value.put([7], in: &later)
        #expect(later.otherSets[0].manufacturerData == [.init(company: 0x0499, data: [7])])
        #expect(advertising.marks["2.interval"]?.line == 7)
    }

    @Test(arguments: [
        (
            "{connectable: true, scannable: false}",
            """
            3:45: error: legacy advertising that centrals can connect to is scannable; \
            write connectable: false too, or extended: true
            """
        ),
        (
            "{extended: true, scannable: true}",
            """
            3:42: error: extended advertising is connectable or scannable, not both; \
            write connectable: false, or leave scannable out
            """
        ),
        (
            "{connectable: false, scannable: false, scanResponse: {localName: x}}",
            "3:67: error: scanResponse has no effect: no scanner can ask for it, because scannable is false"
        ),
        (
            "{address: random}",
            """
            3:24: error: a set with an address of its own cannot be connected to: \
            the device's bonds are with its own address; write connectable: false
            """
        ),
        (
            "{every: 1 s}", "3:22: error: every has no effect: no value of the advertisement changes"
        ),
        (
            "{connectable: false, periodic: true}",
            "3:45: error: periodic advertising needs an extended set; write extended: true too"
        ),
        (
            "{extended: true, periodic: {interval: 100 ms}}",
            """
            3:41: error: a set with periodic advertising is neither connectable nor scannable; \
            write connectable: false, or give it a set of its own
            """
        ),
        (
            "{connectable: false, extended: true, periodic: {interval: 7 ms}}",
            "3:72: error: periodic.interval must be at least 7.5 ms, not 7 ms"
        ),
        (
            "{connectable: false, extended: true, periodic: {interval: {min: 2 s, max: 1 s}}}",
            "3:88: error: max must not be below min"
        ),
        (
            "{connectable: false, extended: true, "
                + "periodic: {value: {raw: {0xFF: \(String(repeating: "AB", count: 255))}}}}",
            """
            3:75: error: periodic.raw has an AD structure of 257 bytes, and one has at most 256; \
            divide it into several, or shorten it
            """
        ),
        ("{flags: [limited, limited]}", "3:32: error: the flag limited is repeated"),
        ("{interval: {min: 2 s, max: 1 s}}", "3:41: error: max must not be below min"),
        (
            "{manufacturerData: [{company: 1}]}",
            "3:34: error: an entry of manufacturerData needs company and value"
        ),
        (
            "[{name: a}, {name: a}]",
            #"3:33: error: two sets have the name "a"; give this one another, as in name: set2"#
        ),
        (
            "[{name: 2}, {connectable: false}]",
            #"3:26: error: two sets have the name "2"; give this one another, as in name: set2"#
        ),
        (
            "{extended: 2M}",
            #"3:25: error: extended must be true, false or its PHYs, as in {data: 2M}, not "2M""#
        ),
        // The length of an AD structure has one byte.
        (
            "{connectable: false, extended: true, raw: {0xFF: \(String(repeating: "AB", count: 255))}}",
            """
            3:51: error: raw has an AD structure of 257 bytes, and one has at most 256; \
            divide it into several, or shorten it
            """
        ),
        (
            "{extended: true, flags: none, localName: '', "
                + "raw: {0xFF: \(String(repeating: "AB", count: 244))}}",
            """
            3:59: error: raw takes 246 bytes and 245 of 245 are left in the advertising data; shorten it, \
            or leave something else out; or write connectable: false, with room for 1650 bytes
            """
        ),
        ("[]", "3:14: error: advertising has 1 to 64 sets, not 0"),
        (
            "{manufacturerData: {1: {fields: {a: 1}}}}",
            """
            3:38: error: the fields of the company "1" are not known: \
            describe them, as in layout: [{level: uint8}]
            """
        ),
        // The longest bytes of a value that changes must fit.
        (
            """
            {localName: "", manufacturerData: {1: {layout: [{t: utf8}], \
            fields: {t: {generate: list, values: [a, "\(String(repeating: "b", count: 30))"]}}}}}
            """,
            """
            3:30: error: manufacturerData takes 34 bytes and 28 of 31 are left in the advertising data; \
            shorten it, or leave something else out; or write extended: true, which has room for more
            """
        ),
    ])
    func `an advertisement that cannot be sent is an error at its place`(
        advertising: String, problem: String
    ) {
        #expect(problems(head("advertising: \(advertising)\n")) == [problem])
    }

    @Test(arguments: [
        ("{0x0A: 01 02}", "3:27: warning: the AD type 0x0A has 1 byte, not 2; scanners may skip it"),
        ("{0x16: 01}", "3:27: warning: the AD type 0x16 has at least 2 bytes, not 1; scanners may skip it"),
        ("{0x02: 01}", "3:27: warning: the AD type 0x02 has entries of 2 bytes, not 1; scanners may skip it"),
    ])
    func `raw data whose length its type does not have is a warning`(raw: String, problem: String) {
        #expect(problems(head("advertising: {raw: \(raw)}\n")) == [problem])
    }

    private static func changed(_ change: String) -> String {
        head(
            """
            advertising:
              - localName: Main
                manufacturerData:
                  1: {layout: [{t: utf8}], fields: {t: {generate: list, values: [a, bcdef]}}}
              - {name: long, connectable: false, localName: "", extended: true, raw: {0xFF: \(long)}}
            scenarios: [{name: s, steps: [{advertise: \(change)}]}]
            """)
    }
    private static let long = String(repeating: "AB", count: 40)

    @Test(arguments: [
        (
            "{scannable: false}",
            """
            8:55: error: legacy advertising that centrals can connect to is scannable; write connectable: \
            false too, or extended: true
            """
        ),
        ("{set: lnog, flags: none}", #"8:49: error: unknown set "lnog"; did you mean "long"?"#),
        (
            "{set: long, extended: false, scannable: false}",
            """
            8:43: error: raw takes 42 bytes and 28 of 31 are left in the advertising data; shorten it, or \
            leave something else out; or write extended: true, which has room for more
            """
        ),
        ("5", #"8:43: error: advertise must be on, off or what changes, as in {localName: Found}, not "5""#),
    ])
    func `a change that cannot be advertised is an error at its place`(change: String, problem: String) {
        #expect(problems(Self.changed(change)) == [problem])
    }

    @Test func `a device with legacy advertising cannot change to extended`() {
        let found = problems(
            head(
                """
                advertising: {connectable: false}
                faults: [{name: f, after: 1 s, do: advertise, with: {extended: true}}]

                """))
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("cannot change from legacy to extended") == true, "\(found)")
    }

    @Test func `rules and steps change the keys of a set, and switch it on and off`() throws {
        let changed = try profile(Self.changed("{set: long, on: false, extended: {data: 2M}, interval: 1 s}"))
        guard case .advertise(let request)? = changed.scenarios.first?.steps.first?.action else {
            Issue.record("\(changed.scenarios)")
            return
        }
        #expect(request.isOn == false && request.change.set == "long")
        #expect(request.change.extended??.secondaryPHY == .le2M)
        #expect(request.change.interval == .seconds(1)...(.seconds(1)))
        let off = try profile(Self.changed("off")).scenarios.first?.steps.first?.action
        #expect(off == .advertise(AdvertisingRequest(isOn: false)))
    }

    @Test func `fifty sets with ten values each are read`() throws {
        let entries = (0..<10).map { "{company: \($0), value: 0\($0)}" }.joined(separator: ", ")
        let sets = (0..<50).map { _ in "  - {extended: true, manufacturerData: [\(entries)]}" }
        let text = head("advertising:\n" + sets.joined(separator: "\n") + "\n")
        #expect(try profile(text).advertising?.advertisement.sets.count == 50)
    }

    @Test func `scannable extended advertising needs data`() {
        #expect(
            problems(
                head("advertising: {extended: true, connectable: false, scannable: true, localName: \"\"}\n")
            ) == [
                """
                3:62: error: extended advertising that is scannable needs data for its scan response; write \
                localName or scanResponse, or scannable: false
                """
            ])
        #expect(
            problems(head("advertising: {extended: true, connectable: false, scannable: true}\n")) == [])
    }

    @Test func `a generator of a text is not advised to be a text with numbers`() throws {
        let value = "{layout: [{t: utf8}], fields: {t: {generate: counter}}}"
        let advertised = try #require(
            problems(head("advertising: {manufacturerData: {1: \(value)}}\n")).first)
        #expect(advertised.contains("which counter does not make") && !advertised.contains("{text:"))
        let sent = head(
            "services: [{uuid: FFE0, characteristics: [{uuid: FFE1, properties: [read], value: \(value)}]}]\n"
        )
        #expect(problems(sent).first?.contains("{text:") == true)
    }
}
