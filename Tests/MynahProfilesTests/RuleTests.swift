import MynahCore
import MynahProfiles
import Testing

/// One rule of the format broken, and what is said: the place and the message.
private struct Broken: CustomTestStringConvertible {
    var text: String
    var said: [String]
    var testDescription: String { said.first ?? "" }

    init(_ text: String, _ said: String...) {
        self.text = text
        self.said = said
    }
}

@Suite struct RuleTests {
    private static let root = [
        Broken(
            "name: Test\n", "1:1: error: mynah: 1 is missing; it is the version of the format"),
        Broken(
            "mynah: 2\nname: Test\n",
            "1:8: error: format version \"2\" is not supported; this program reads mynah: 1"),
        Broken("mynah: 1\n", "1:1: error: name is missing; add one, as in name: Heart rate monitor"),
        Broken("mynah: 1\nname: [a]\n", "2:7: error: name must be one value, not a list"),
        Broken("mynah: 1\nname:\n", "2:6: error: name is empty"),
        Broken(
            head("devce: {}\n"), "3:1: error: unknown key \"devce\" in a profile; did you mean \"device\"?"),
        Broken(head("[a]: b\n"), "3:1: error: a key of a profile must be a word, not a list"),
        Broken(
            head("<<: {a: b}\n"),
            """
            3:1: error: merge keys (<<) are not supported; write the keys of a profile here (*name can \
            replace a whole value)
            """
        ),
        Broken(
            head("device: x\n"),
            "3:9: error: device must be a mapping of name, appearance and serviceChanged, not \"x\""),
        Broken(head("device: {name: \"\"}\n"), "3:16: error: the device's name is empty; phones show it"),
        Broken(
            head("device:\n  name: \(String(repeating: "ü", count: 125))\n"),
            "4:9: error: the device's name has 250 bytes in UTF-8; it can have 248"),
        Broken(
            head("device: {name: \"a\\tb\"}\n"),
            "3:16: error: the device's name has a control character in it"),
        Broken(
            head("device: {name: \"a\\x9Bb\"}\n"),
            "3:16: error: the device's name has a control character in it"),
        Broken(
            "mynah: 1\nname: \"a\\Nb\"\ndevice: {name: Test}\n",
            "2:7: error: the name has a control character in it"),
        Broken("mynah: 1\nname: \" \"\n", "2:7: error: the device's name has no visible character"),
        Broken(
            "mynah: 1\nname: \"\\u00A0\\u200B\"\ndevice: {name: Test}\n",
            "2:7: error: the name has no visible character"),
        Broken(
            "mynah: 1\nname: \"\"\ndevice: {name: Test}\n", "2:7: error: the name has no visible character"),
        Broken(
            head("advertising: {localName: \"\\u200B\"}\n"),
            "3:26: error: localName has no visible character"),
        Broken(
            head("app: {}\nphone: {services: [ancs], notifications: [{app: a, appName: \" \"}]}\n"),
            "4:61: error: appName has no visible character"),
        Broken(
            head("app: {}\nphone: {services: [ancs], notifications: [{app: \" \"}]}\n"),
            "4:49: error: app has no visible character"),
        Broken(
            head("app: {}\nphone: {services: [ams], media: {name: \"\\u2800\"}}\n"),
            "4:40: error: name has no visible character"),
        Broken(
            head("device: {name: \"\\u3164\"}\n"), "3:16: error: the device's name has no visible character"),
        Broken(
            head("device: {name: \"\\u0301\"}\n"), "3:16: error: the device's name has no visible character"),
        Broken(
            head("device: {name: \"\\U0001D159\"}\n"),
            "3:16: error: the device's name has no visible character"),
        Broken(
            head("advertising: {localName: \"\\uE000\"}\n"),
            "3:26: error: localName has no visible character"),
        Broken(
            head("scenarios: [{name: \"  \", steps: [{after: 1 s}]}]\n"),
            "3:20: error: the name of the scenario has no visible character"),
        Broken(
            head("app: {restoreIdentifier: \" \", backgroundModes: [bluetooth-peripheral]}\n"),
            "3:26: error: restoreIdentifier has no visible character"),
        Broken(
            head("advertising: {localName: \"\\x80\"}\n"),
            "3:26: error: localName has a control character in it"),
        Broken(
            head("app: {restoreIdentifier: \"\\x85\", backgroundModes: [bluetooth-peripheral]}\n"),
            "3:26: error: restoreIdentifier has a control character in it"),
        Broken(
            head("advertising:\n  localName: \"a\\0b\"\n"),
            "4:14: error: localName has a control character in it"),
        Broken(
            head("device: {appearance: 0x10000}\n"),
            "3:22: error: appearance must be between 0x0 and 0xFFFF, not 0x10000"),
        Broken(
            head("device: {appearance: 0341}\n"),
            "3:22: error: appearance 0341 is ambiguous; write 0x0341 or 341"),
        Broken(
            head("device: {appearance: heart-rate-bet}\n"),
            "3:22: error: unknown appearance \"heart-rate-bet\"; did you mean \"heart-rate-belt\"?"),
        Broken(
            head("security: {io: displayYesno}\n"),
            "3:16: error: unknown io \"displayYesno\"; did you mean \"displayYesNo\"?"),
        Broken(
            head("security: {passkey: 123456}\n"),
            """
            3:21: error: passkey is entered on the device, and io: noInputNoOutput has no \
            keyboard
            """),
        Broken(
            head("security: {io: keyboardOnly, passkey: 1234567}\n"),
            "3:39: error: passkey must be up to six digits, not \"1234567\""),
    ]

    private static let advertising = [
        Broken(
            head("advertising: {localName: {}}\n"),
            "3:26: error: localName must be one value, not a mapping"),
        Broken(
            head("advertising: {serviceUUIDs: 180D}\n"),
            "3:29: error: serviceUUIDs must be a list, as in [a, b], not \"180D\""),
        Broken(
            head("advertising: {serviceUUIDs: [180D, heart-rate]}\n"),
            "3:36: error: 180D is in serviceUUIDs twice"),
        Broken(
            head("advertising: {interval: 10 ms}\n"),
            "3:25: error: interval must be at least 20 ms, not 10 ms"),
        Broken(
            head("advertising: {interval: 11 s}\n"),
            "3:25: error: interval must be at most 10240 ms, not 11 s"),
        Broken(
            head("advertising: {interval: 100}\n"),
            "3:25: error: interval has no unit; write 100 us, 100 ms, 100 s, 100 min or 100 h"),
        Broken(
            head("advertising: {interval: 100 sec}\n"),
            "3:25: error: interval has the unknown unit \"sec\"; units are us, ms, s, min and h"),
        Broken(
            head("advertising: {interval: fast}\n"),
            "3:25: error: interval must be a duration such as 100 ms, not \"fast\""),
        Broken(
            head("advertising: {manufacturerData: {0059: 01}}\n"),
            "3:34: error: a company identifier 0059 is ambiguous; write 0x0059 or 59"),
        Broken(
            head("advertising: {manufacturerData: {0x1FFFF: 01}}\n"),
            "3:34: error: a company identifier must be between 0x0 and 0xFFFF, not 0x1FFFF"),
        Broken(
            head("advertising: {manufacturerData: {Nordic: 01}}\n"),
            "3:34: error: a company identifier must be a whole number, as 18 or 0x12, not \"Nordic\""),
        Broken(
            head("advertising: {manufacturerData: {0x59: 01, 89: 02}}\n"),
            "3:44: error: manufacturerData has the company \"89\" twice"),
        Broken(
            head("advertising: {manufacturerData: {0x59: 012}}\n"),
            "3:40: error: manufacturerData must be pairs of hexadecimal digits, as in 01 FF, not \"012\""),
        Broken(
            head("advertising: {serviceData: {180F: 01, battery: 02}}\n"),
            "3:39: error: serviceData has 180F twice"),
        Broken(
            head("advertising: {txPower: 40}\n"),
            "3:24: error: txPower must be true, false or a level from -127 to 20 dBm, not \"40\""),
        Broken(
            head("advertising: {appearance: true}\n"),
            "3:27: error: advertising.appearance is true, but device.appearance is missing"),
        Broken(
            head("advertising: {raw: {0x24: 01, 36: 02}}\n"),
            "3:31: error: raw has the AD type 0x24 twice; write a list: [{0x24: …}, …]"),
        Broken(
            head("advertising: {localName: n, raw: {0x09: 01}}\n"),
            "3:34: error: raw has the AD type 0x09, which localName makes too; leave one of them out"),
        Broken(
            head("advertising: {flags: 6, raw: {0x01: 06}}\n"),
            "3:22: error: raw has the AD type 0x01, which flags makes too; leave one of them out"),
        Broken(
            head("advertising: {raw: {0x100: 06}}\n"),
            "3:21: error: an AD type must be between 0x1 and 0xFF, not 0x100"),
    ]

    private static let budget = [
        Broken(
            head("advertising:\n  localName: \(String(repeating: "n", count: 30))\n"),
            """
            4:3: error: localName takes 32 bytes and 31 of 31 are left in the scan response; shorten \
            it, or write localName: ""; or write extended: true, which has room for more
            """
        ),
        Broken(
            head("device: {name: \(String(repeating: "n", count: 30))}\nadvertising: {}\n"),
            """
            4:14: error: localName takes 32 bytes and 31 of 31 are left in the scan response; shorten \
            it, or write localName: ""; or write extended: true, which has room for more
            """
        ),
        Broken(
            head(
                """
                advertising:\n  interval: 100 ms\n  manufacturerData:\n    0x0059: \
                \(String(repeating: "00 ", count: 25))\n
                """
            ),
            """
            5:3: error: manufacturerData takes 29 bytes and 28 of 31 are left in the advertising data; \
            shorten it, or leave something else out; or move it to scanResponse, where 31 bytes are free
            """
        ),
        Broken(
            head(
                """
                advertising:\n  serviceUUIDs: [6E400001-B5A3-F393-E0A9-E50E24DCCA9E, \
                6E400002-B5A3-F393-E0A9-E50E24DCCA9E]\n
                """
            ),
            """
            4:3: error: serviceUUIDs takes 34 bytes and 28 of 31 are left in the advertising data; name \
            fewer services, or 16-bit ones; or write extended: true, which has room for more
            """
        ),
        // Errors elsewhere do not hide it.
        Broken(
            head("devic: {}\nadvertising:\n  localName: \(String(repeating: "n", count: 30))\n"),
            "3:1: error: unknown key \"devic\" in a profile; did you mean \"device\"?",
            """
            5:3: error: localName takes 32 bytes and 31 of 31 are left in the scan response; shorten \
            it, or write localName: ""; or write extended: true, which has room for more
            """
        ),
    ]

    private static let app = [
        Broken(
            head("app: {}\nadvertising: {interval: 100 ms, txPower: true}\n"),
            """
            4:15: error: an app cannot set interval; with app: only localName and serviceUUIDs are \
            advertised
            """,
            "4:33: error: an app cannot set txPower; with app: only localName and serviceUUIDs are advertised"
        ),
        Broken(
            head("app: {backgroundModes: [bluetooth-periferal]}\n"),
            """
            3:25: error: unknown background mode "bluetooth-periferal"; did you mean \
            "bluetooth-peripheral"?
            """
        ),
        Broken(
            head("app: {backgroundModes: [bluetooth-peripheral, bluetooth-peripheral]}\n"),
            "3:47: error: the background mode bluetooth-peripheral is repeated"),
        Broken(
            head("app: {backgroundModes: [bluetooth-peripheral, bluetooth-central]}\n"),
            "3:47: warning: the background mode bluetooth-central has no effect without a central: section"
        ),
        Broken(
            head("app: {restoreIdentifier: \"\", backgroundModes: [bluetooth-peripheral]}\n"),
            "3:26: error: restoreIdentifier must have 1 to 128 bytes"),
        Broken(
            head("app: {state: asleep}\n"),
            "3:14: error: unknown app state \"asleep\"; known are foreground, background and suspended"),
        Broken(
            head("app: {suspendAfter: 5}\n"),
            "3:21: error: suspendAfter has no unit; write 5 us, 5 ms, 5 s, 5 min or 5 h"),
        Broken(
            head("app: {taskTime: 1 s}\n"),
            "3:17: warning: taskTime has no effect without a background mode: no event wakes the app"),
        Broken(
            head("app: {backgroundModes: [bluetooth-peripheral], taskTime: 11 s}\n"),
            """
            3:58: note: the app is throttled 10 s after an event and terminated after 20 s, unless another \
            event comes within 10 s
            """
        ),
        Broken(head("app: {iOS: 3}\n"), "3:12: error: iOS must be between 7 and 99, not 3"),
        Broken(
            head("phone: {name: Anna}\n"),
            "3:8: error: phone says which phone an app is on, so it needs app:"),
        Broken(
            head("app: {}\nphone: {}\n"), "4:8: error: phone needs a name, as in phone: {name: Anna}"),
        Broken(
            head("app: {}\nphone: {name: \"\"}\n"),
            "4:15: error: phone.name must have 1 to 64 bytes in UTF-8, and has 0"),
        Broken(
            head("app: {}\nphone: {name: \(String(repeating: "é", count: 33))}\n"),
            "4:15: error: phone.name must have 1 to 64 bytes in UTF-8, and has 66"),
        Broken(
            head("app: {}\nphone: {name: \"A\\e[1m\"}\n"),
            "4:15: error: phone.name has a control character in it"),
        Broken(
            head("app: {}\nphone: {name: \"\\u202e\"}\n"),
            "4:15: error: phone.name has no visible character"),
        Broken(
            head("app: {}\nphone: {nam: Anna}\n"),
            "4:8: error: phone needs a name, as in phone: {name: Anna}",
            "4:9: error: unknown key \"nam\" in phone; did you mean \"name\"?"),
        Broken(
            head("app: {foregroundInterval: 1 ms}\n"),
            "3:27: error: foregroundInterval must be at least 20 ms, not 1 ms"),
        Broken(
            head("app: {backgroundinterval: 100 ms}\n"),
            "3:7: error: unknown key \"backgroundinterval\" in app; did you mean \"backgroundInterval\"?"),
    ]

    @Test(
        "each broken rule of the sections at the top is said, where it is broken",
        arguments: root + advertising)
    fileprivate func top(_ broken: Broken) {
        #expect(problems(broken.text) == broken.said)
    }

    @Test("an advert over its budget names the field that does not fit", arguments: budget)
    fileprivate func overBudget(_ broken: Broken) {
        #expect(problems(broken.text) == broken.said)
    }

    @Test("each broken rule of an app is said, where it is broken", arguments: app)
    fileprivate func apps(_ broken: Broken) {
        #expect(problems(broken.text) == broken.said)
    }

    @Test("an app's advert has no budget: the phone leaves out what does not fit")
    func noBudgetForApps() throws {
        let name = String(repeating: "n", count: 60)
        #expect(try profile(head("app: {}\nadvertising: {localName: \(name)}\n")).warnings.isEmpty)
    }

    @Test("a UUID that makes iPhones close by offer to set up a watch is a warning")
    func watchSetup() {
        let service = "9AA4730F-B25C-4CC3-B821-C931559FC196"
        let words = "of the overflow area, and nearby iPhones then offer to set up an Apple Watch"
        #expect(
            problems(head("app: {}\nadvertising:\n  serviceUUIDs: [180D, \(service)]\n")) == [
                "5:24: warning: \(service) sets bit 66 \(words); use another UUID"
            ])
        // In clear it is a UUID as any other.
        #expect(problems(head("advertising:\n  localName: n\n  serviceUUIDs: [\(service)]\n")) == [])
        let mask = "0000000000000000 FF 00000000000000"
        #expect(
            problems(head("advertising:\n  manufacturerData: {0x004C: 01 \(mask)}\n  localName: \"\"\n")) == [
                """
                4:21: warning: this is an iPhone's overflow area with bit 66 set; nearby iPhones then offer \
                to set up an Apple Watch
                """
            ])
        #expect(problems(head("advertising:\n  manufacturerData: {0x004D: 01 \(mask)}\n")) == [])
    }

    @Test("characters that the terminal would act on are not printed")
    func controlCharacters() {
        #expect(
            problems(head("services:\n  - uuid: \"a\\e[2J\"\n")) == ["4:11: error: unknown service \"a?[2J\""]
        )
    }
}
