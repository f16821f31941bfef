import Foundation
import MynahTestSupport
import Testing

/// The proof of each numbered rule of Core Bluetooth: the watcher of histories, or tests of its own.
@Suite struct RuleTableTests {
    /// Rules that `PhoneWatcher` does not judge, or not whole, with tests that do.
    static let tests: [Int: [String]] = [
        9: ["events of both roles wait in one queue and are handed over in one order"],
        15: ["an overflow UUID is listed for the app that asked for it, a colliding one too"],
        18: ["without UUIDs nothing is on the air in the background"],
        19: ["of five 128-bit UUIDs one is in an incomplete list and four overflow, as captured"],
        20: ["the rate is reduced when every app that advertises is in the background"],
        21: ["two apps of one phone share the mask, the name and the rate"],
        22: ["values with every stop while suspended, and are sent in the time of a wake"],
        23: [
            "the app's user stops and starts its scan on its screen, and nowhere else",
            "the user stops and starts advertising on the app's own screen only",
        ],
        24: ["a strap's value wakes a suspended app for ten seconds"],
        25: [
            "a request answered later is work: throttled after ten seconds, ended after twenty, and answered",
            """
            an app that works longer for an event is throttled after ten seconds, and terminated after \
            twenty
            """,
        ],
        26: ["work that ends after the time for none suspends at once"],
        27: ["a woken app that sends what nobody woke it for does something extraneous, told once"],
        28: [
            "a scan counts its windows, and nothing after its end",
            "a link without data is two empty PDUs in each connection event",
        ],
        33: [
            "two managers of an app with one restore identifier are an error, and of two apps are not",
            "an identifier is used once within an app, and by another app too",
        ],
        36: [
            "scans, requests, connections and subscriptions are restored in another process",
            "an app goes on with the work on a restored link, once",
        ],
        38: ["the controller's filter hides no change, and the scan ends with the last that scans"],
        41: ["only services and characteristics that are named are looked for"],
        42: ["a strap is found, connected, discovered, read, written and subscribed"],
        43: ["a link ends when all is done and nothing notifies"],
        46: ["known devices are retrieved by their identifiers, and no others"],
        47: ["an identifier is the same in the next process, and retrieves its device"],
        48: ["retrieving returns a device that is known, or nothing"],
        49: ["a device whose address changed is found by scanning"],
        50: ["devices that the phone is connected to are retrieved by their services, and connected at once"],
        53: [
            "a characteristic keeps the value that came last",
            "a value that cannot be subscribed to is an error of its own, and the app goes on",
        ],
        54: ["three spellings of one value are equal and hash alike"],
        56: ["an app that is terminated at any instant of its work ends with everything done"],
        61: [
            "there is one connection between two addresses",
            "a link that a central made is a peripheral's too, until the central's half leaves it",
        ],
        63: ["a value is cut to what each link carries, with one warning for each"],
        64: [
            "the user stops and starts advertising on the app's own screen only",
            "each app finds what it stored",
        ],
        68: ["of disabled services nothing is served but static values"],
        70: ["a phone offers the ATT_MTU of its version of iOS"],
        72: ["a phone's services need an encrypted link, but not its model and its manufacturer"],
        73: ["a subscriber gets what is there, and what comes, changes and goes"],
        74: ["every command gets its answer or its error"],
        75: ["a response goes out in parts of what a notification carries"],
        76: ["a subscriber gets what is there, and what comes, changes and goes"],
        77: ["a phone says which commands it takes"],
        78: ["values come at once, and cut ones with a flag"],
        79: ["every error has its code", "a central that is not subscribed has not set it up"],
        80: ["a bonded central hears that a phone has other services than in the run before"],
        94: ["an iPhone accepts the latencies that an app may wish"],
        99: ["without overflow areas a device is found by what it lists, and by its bit later"],
        102: [
            "later phones put the TX power after the Flags, as captured",
            "the TX power comes after the Flags in the background too, as captured",
        ],
        103: [
            "a cause that forbids a relaunch is kept over runs, until the user opens the app",
            "an app that begins as terminated is relaunched unless a restart of the phone forbids it",
        ],
        104: [
            "before iOS 18 the app asks for its permission, and has no picker",
            "an accessory is bonded without a question, and its bond is deleted with it",
        ],
        105: ["an app with accessories sees and connects no other device"],
        106: [
            "each of two accessories is picked by its name",
            "the picker is shown by an app on the screen, with Bluetooth on",
        ],
        107: ["an accessory is bonded without a question, and its bond is deleted with it"],
        108: ["accessories are those of the next run"],
        109: ["an app with accessories is relaunched where iOS excepts it"],
        110: ["in the background Nearby Info is beside the overflow area, as captured"],
        111: ["UUIDs that are changed in the background wait for the foreground"],
    ]

    private static let tree = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    @Test func `the watcher judges each rule of the article, or says why it does not`() throws {
        let article = try String(
            contentsOfFile: Self.tree + "/Sources/Mynah/Mynah.docc/CoreBluetoothRules.md", encoding: .utf8)
        let rules = article.split(separator: "\n").compactMap { $0.wholeMatch(of: /\| R(\d+) \|.*/)?.1 }
            .compactMap { Int($0) }
        let reasons = PhoneWatcher.unjudged
        #expect(rules.sorted() == (Array(PhoneWatcher.rules) + reasons.keys).sorted())
        #expect(reasons.values.allSatisfy { !$0.isEmpty && !$0.contains("\n") })
    }

    @Test func `each rule that the watcher does not judge has a test, and each that is named exists`() throws
    {
        #expect(Set(Self.tests.keys) == Set(PhoneWatcher.unjudged.keys))
        let folder = Self.tree + "/Tests"
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        var sources = ""
        for case let file as String in files where file.hasSuffix("Tests.swift") {
            sources += try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
        }
        for (rule, names) in Self.tests.sorted(by: { $0.key < $1.key }) {
            #expect(!names.isEmpty, "R\(rule)")
            for name in names { #expect(sources.contains("`\(name)`("), "R\(rule): \(name)") }
        }
    }
}
