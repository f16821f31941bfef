import MynahCore
import MynahEmulator
import MynahLifecycle
import Testing

@testable import MynahRun

@Suite(.timeLimit(.minutes(5))) struct PlannedActionTests {
    static let names = DeviceNames([
        .init(label: "Lock", file: "apps/lock-app.yaml", isApp: true),
        .init(label: "a:b", file: "other/two.yaml", isApp: true),
        .init(label: "Strap", file: "strap.yaml", isApp: false),
        .init(label: "Two", file: "more/two.json", isApp: true, peripherals: ["Door", "Gate", "Strap"]),
        .init(label: "Third", file: "third.json", isApp: true, peripherals: ["Gate"]),
    ])

    private static func device(_ label: String, on phone: String?) -> DeviceNames.Device {
        var device = DeviceNames.Device(label: label, file: "\(label).yaml", isApp: true)
        device.phone = phone
        return device
    }

    /// Two phones with names, one without, and an accessory that is called as one of them.
    static let phones = DeviceNames([
        device("One", on: "Anna"), device("Two", on: "Bob"), device("Three", on: "Anna"),
        device("Four", on: nil), device("Dora", on: "Dora"),
        .init(label: "Bob", file: "accessory.yaml", isApp: false),
    ])

    @Test func `the text of an alert has the limits of a notification in a profile`() throws {
        _ = try PlannedAction(parsing: "1s=alert " + String(repeating: "a", count: 4096))
        let texts = [
            (String(repeating: "a", count: 4097), "message must have 0 to 4096 bytes in UTF-8, and has 4097"),
            ("a\u{1B}", "message has a control character in it"),
        ]
        for (text, message) in texts {
            #expect(throws: PlannedAction.Problem(message: "--at: the text of alert: \(message)")) {
                try PlannedAction(parsing: "1s=alert " + text)
            }
        }
    }

    @Test(
        arguments: [
            ("1s=Anna:poweredOff", .phone(of: "One")), ("1s=Three:poweredOff", .phone(of: "Three")),
            ("1s=Four:openAlert", .phone(of: "Four")), ("1s=Anna:background", .phone(of: "One")),
            ("1s=Anna:outOfRange", .phone(of: "One")), ("1s=Three:outOfRange", .named("Three")),
            ("1s=Three:background", .named("Three")), ("1s=background", .every),
            ("1s=outOfRange", .every), ("1s=Dora:quit", .named("Dora")),
        ] as [(String, AppTarget)])
    func `a phone is named by its name, or by an app on it`(text: String, target: AppTarget) throws {
        #expect(try PlannedAction(parsing: text).target(among: Self.phones) == target)
    }

    @Test(arguments: [
        (
            "3s=poweredOff",
            "--at 3s=poweredOff: the run has 4 phones, \"Anna\" and \"Bob\" and the phone of \"Four\" and "
                + "\"Dora\": name one, as in 3s=Anna:poweredOff"
        ),
        ("3s=openAlert", "the run has 4 phones"), ("3s=dismissAlert", "the run has 4 phones"),
        ("3s=poweredOn", "the run has 4 phones"),
        ("3s=Bob:poweredOff", "\"Bob\" fits \"Bob\" (accessory.yaml) and the phone \"Bob\""),
        ("3s=Ana:poweredOff", "there is no device \"Ana\"; did you mean \"Anna\"?"),
        (
            "3s=Zacharias:poweredOff",
            "the devices are \"One\", \"Two\", \"Three\", \"Four\", \"Dora\", \"Bob\", "
                + "and the phones \"Anna\", \"Bob\", \"Dora\""
        ),
        ("3s=accessory:openAlert", "\"Bob\" is an accessory, and this state is for apps"),
    ])
    func `with several phones what is for one needs a name`(text: String, message: String) {
        do throws(PlannedAction.Problem) {
            _ = try PlannedAction(parsing: text).target(among: Self.phones)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
        }
    }

    @Test(
        arguments: [
            ("10s=background", 10_000, .transition(.enterBackground), .every),
            ("1 ms=Lock:quit", 1, .transition(.quit), .named("Lock")),
            ("1 ms=lock-app: foreground ", 1, .transition(.enterForeground), .named("Lock")),
            ("1min=a:b:crash", 60_000, .transition(.crash), .named("a:b")),
            ("0 s=stopAdvertising", 0, .stopAdvertising, .every),
            ("0 s=stopScan", 0, .stopScan, .every), ("0 s=openAlert", 0, .openAlert, .every),
            ("1 s=poweredOff", 1000, .setPower(false), .every),
            ("1 s=Strap:poweredOn", 1000, .setPower(true), .named("Strap")),
            ("1 s=settingsOff", 1000, .phone(.settingsOff), .every),
            ("1 s=Lock:restart", 1000, .phone(.restart), .phone(of: "Lock")),
            ("1 s=Two:screenOff", 1000, .phone(.screenOff), .phone(of: "Two")),
            ("2 s=allowed", 2000, .setAuthorization(.allowedAlways), .every),
            ("2 s=Lock:denied", 2000, .setAuthorization(.denied), .named("Lock")),
            ("1 s=Strap:forget", 1000, .forget, .peripheral("Strap", of: "Two")),
            ("1 s=Strap:accessory", 1000, .setAccessory(true), .peripheral("Strap", of: "Two")),
            ("1 s=Two:removeAccessory", 1000, .setAccessory(false), .named("Two")),
            ("1 s=strap:forget", 1000, .forget, .named("Strap")),
            ("1 s=Lock:forget", 1000, .forget, .phone(of: "Lock")), ("1 s=forget", 1000, .forget, .every),
            ("0 s=Two:startAdvertising", 0, .startAdvertising, .named("Two")),
        ] as [(String, Int, UserAction, AppTarget)])
    func `a time, an app and what happens to it are read`(
        text: String, milliseconds: Int, action: UserAction, target: AppTarget
    ) throws {
        let planned = try PlannedAction(parsing: text)
        #expect(planned.delay == .milliseconds(milliseconds))
        #expect(planned.effect == .action(action))
        #expect(try planned.target(among: Self.names) == target)
    }

    @Test(
        arguments: [
            ("1s=poweredOff", true, true, true), ("1s=poweredOff", false, true, false),
            ("1s=poweredOff", false, false, true), ("1s=Strap:poweredOff", false, true, true),
            ("1s=Strap:poweredOff", true, true, true), ("1s=background", true, true, true),
            ("1s=background", false, true, false), ("1s=outOfRange", false, false, false),
        ])
    func `without a name power is the phone's, or every radio's if there is no phone`(
        text: String, isPhone: Bool, hasPhone: Bool, isFor: Bool
    ) throws {
        let planned = try PlannedAction(parsing: text)
        #expect(planned.isFor(phone: isPhone, ofRunWithPhone: hasPhone) == isFor)
    }

    @Test(
        arguments: [
            ("1s=outOfRange", .outOfRange, .every), ("1s=Strap:inRange", .inRange, .named("Strap")),
            ("1s=Lock:distance 2.5 m", .distance(metres: 2.5), .named("Lock")),
            ("1s=distance 5m", .distance(metres: 5), .every),
            ("1s=Door:outOfRange", .outOfRange, .peripheral("Door", of: "Two")),
        ] as [(String, RangeChange, AppTarget)])
    func `a change of range is read, for an accessory and for an app`(
        text: String, change: RangeChange, target: AppTarget
    ) throws {
        let planned = try PlannedAction(parsing: text)
        #expect(planned.effect == .range(change))
        #expect(try planned.target(among: Self.names) == target)
        let apps = DeviceNames(Self.names.devices.filter(\.isApp))
        #expect(throws: PlannedAction.Problem.self) {
            try PlannedAction(parsing: "1s=outOfRange").target(among: apps)
        }
    }

    @Test(arguments: [
        ("1s=distance", "as in distance 5 m"), ("1s=distance 5", "as in distance 5 m"),
        ("1s=Strap:distance -1 m", "as in distance 5 m"), ("1s=outOfRage", "did you mean outOfRange?"),
        ("1s=distance nan m", "as in distance 5 m"), ("1s=distance 2000000 m", "as in distance 5 m"),
        ("10s", "a time and a state"),
        ("10=quit", "the time has no unit"),
        ("-1s=quit", "is before the start of the run"),
        ("1s=", "the states are foreground, background, "),
        ("1s=Lock:", "the states are"), ("1s=:quit", "no name before the colon"),
        ("1s=Lock:quti", "there is no state \"quti\"; did you mean quit?"),
        ("1s=stopAdvertisng", "did you mean stopAdvertising?"),
        ("1s=powerdOff", "did you mean poweredOff?"),
        ("1s=Lokc:quit", "there is no device \"Lokc\"; did you mean \"Lock\"?"),
        ("1s=two:quit", "\"two\" fits \"a:b\" (other/two.yaml) and \"Two\" (more/two.json)"),
        ("1s=Dor:inRange", "there is no device \"Dor\"; did you mean \"Door\"?"),
        (
            "1s=Gate:inRange",
            "\"Gate\" fits a peripheral of \"Two\" (more/two.json) and a peripheral of \"Third\" (third.json)"
        ),
        (
            "1s=Door:quit",
            "\"Door\" is a peripheral of \"Two\"; only forget, accessory, removeAccessory, outOfRange"
        ),
        ("1s=Strap:quit", "\"Strap\" is an accessory, and this state is for apps"),
        ("1s=Strap:unlock", "\"Strap\" is an accessory, and this state is for apps"),
        ("1s=setingsOff", "did you mean settingsOff?"),
    ])
    func `an impossible plan is reported with the nearest one`(text: String, message: String) {
        do throws(PlannedAction.Problem) {
            _ = try PlannedAction(parsing: text).target(among: Self.names)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
        }
    }
}
