import MynahCore
import MynahFaults
import MynahSupport
import Testing

@testable import MynahProfiles

/// The keys of a profile about links: their number, the length of values, and the centrals that get them.
@Suite struct LinkKeyTests {
    private static func text(_ keys: String, _ characteristic: String = "") -> String {
        head(
            """
            \(keys)
            variables: {n: 0}
            services:
              - uuid: FFF0
                characteristics: [{uuid: FFF1, properties: [write, notify]\(characteristic)}]

            """)
    }

    private static func message(_ keys: String, _ characteristic: String = "") -> String {
        problems(text(keys, characteristic)).filter { $0.contains("error: ") }.joined(separator: "; ")
    }

    @Test func `the keys of links are read`() throws {
        let profile = try profile(
            Self.text(
                """
                centrals: 2
                mtu: 185
                security: {keySize: 7}
                on:
                  connect: [{when: n == 1, disconnect: true}, {set: {n: 1}}]
                  disconnect: [{set: {n: 0}, advertise: on}]
                  pair: [{answer: {to: FFF1, value: {hex: 01}}}]
                advertising: {}
                """, ", subscription: always, pieces: mtu"))
        #expect(profile.device.largestCentralCount == 2)
        #expect(profile.device.largestMTU == 185)
        #expect(profile.device.largestKeySize == 7)
        let updates = profile.services[0].characteristics[0].updates
        #expect(updates.subscription == .always && updates.isInPieces)
        #expect(profile.linkRules.connect.first(Variables(["n": .number(1)]))?.disconnects == true)
        #expect(profile.linkRules.connect.first(Variables(["n": .number(0)]))?.disconnects == false)
        #expect(profile.linkRules.disconnect.map(\.advertises?.isOn) == [true])
        #expect(profile.linkRules.pair.first?.answers.count == 1)
    }

    @Test(arguments: [
        ("centrals: 0", "", "3:11: error: centrals must be between 1 and 255, not 0"),
        ("mtu: 22", "", "3:6: error: mtu must be between 23 and 517, not 22"),
        ("security: {keySize: 6}", "", "3:21: error: keySize must be between 7 and 16, not 6"),
        ("app: {}\ncentrals: 1", "", "4:11: error: centrals is for accessories"),
        ("app: {}\nmtu: 23", "", "4:6: error: mtu is for accessories"),
        ("app: {}\non: {connect: [{set: {n: 1}}]}", "", "4:5: error: on is for accessories"),
        ("app: {}", ", subscription: none", "error: subscription is for accessories"),
        ("app: {}", ", pieces: mtu", "error: pieces is for accessories"),
        ("on: {conect: []}", "", "3:6: error: unknown key \"conect\" in on; did you mean \"connect\"?"),
        ("on: {write: []}", "", "3:6: error: write is a key of on: of a characteristic"),
        ("on: {connect: [{error: 0x80}]}", "", "error: a link has no value, and it cannot be refused here"),
        ("on: {connect: [{when: m == 1, set: {n: 1}}]}", "", "error: unknown variable \"m\""),
        ("on: {connect: [{answer: {hex: 01}}]}", "", "error: a rule of the device names the characteristic"),
        ("on: {connect: [{notify: now}]}", "", "error: "),
        ("on: {disconnect: [{disconnect: true}]}", "", "error: a rule of on.disconnect has neither"),
        (
            "", ", subscription: always, permissions: {notify: encrypted}",
            "error: subscription sends to every central, and permissions.notify requires security"
        ),
        ("", ", subscription: sometimes", "error: unknown subscription \"sometimes\""),
        ("", ", pieces: 20", "error: unknown pieces \"20\""),
        (
            "faults: [{name: f, on: read, error: 0x80, until: disconnected}]", "",
            "error: until has no effect without do: changeServices or advertise"
        ),
    ])
    func `each mistake is said where it is`(keys: String, characteristic: String, message: String) {
        let found = Self.message(keys, characteristic)
        #expect(found.contains(message), "\(found)")
    }

    @Test func `a characteristic that sends nothing has neither subscription nor pieces`() {
        let errors = problems(
            characteristic("properties: [read]\n        subscription: none\n        pieces: mtu")
        ).filter { $0.contains("error: ") }
        #expect(errors.count == 2 && errors.allSatisfy { $0.contains("has no effect") }, "\(errors)")
    }

    @Test(arguments: [
        ("centrals: 1", "", "centrals"), ("mtu: 185", "", "mtu"),
        ("security: {keySize: 7}", "", "security.keySize"),
        ("", ", subscription: none", "the characteristic FFF1"),
        ("", ", subscription: always", "the characteristic FFF1"),
    ])
    func `BlueZ cannot play those of a link, and names the radios that can`(
        keys: String, characteristic: String, subject: String
    ) throws {
        let profile = try profile(Self.text(keys, characteristic))
        var capabilities = RadioCapabilities(name: "BlueZ")
        capabilities.limitsLinks = false
        let issues = profile.issues(with: capabilities, isChosen: true)
        #expect(issues.map(\.severity) == [.error])
        let message = try #require(issues.first?.message)
        #expect(message.contains("\(subject) needs Mynah's own host: choose --radio virtual"), "\(message)")
        #expect(profile.issues(with: RadioCapabilities(name: "own host"), isChosen: true).isEmpty)
    }

    @Test func `the end of a fault is in its JSON`() throws {
        let profile = try profile(
            Self.text(
                "advertising: {}\n"
                    + "faults: [{name: f, on: connect, do: advertise, "
                    + "with: {connectable: false}, until: disconnected}]"
            ))
        #expect(profile.faults.first?.fault.endsWithLink == true)
        #expect(
            profile.faults.first?.json(in: profile.attributeTree).text.contains("\"until\":\"disconnected\"")
                == true)
    }
}
