import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahConsole

@Suite struct ScreenModelTests {
    private static let sizes = [120, 80, 40, 20, 7].flatMap { width in
        [50, 24, 10, 5, 2, 1].map { (width, $0) }
    }

    /// A run of several devices that advertise, each with a central that has read a value.
    private func model(
        _ names: [String], hasApps: Bool = false, isUsed: Bool = true
    ) -> ScreenModel {
        var model = ScreenModel(titles: names, hasApps: hasApps)
        for name in names {
            let device = names.count > 1 ? [JSON.Member("device", .string(name))] : []
            func take(_ event: DeviceEvent.Name, _ fields: [JSON.Member]) {
                model.note(DeviceEvent(time: WallTime(microseconds: 0), name: event, fields: device + fields))
            }
            take(
                .advertisingStarted,
                [
                    .init("data", .string("02010605030D180F18")),
                    .init("scanResponse", .string("0A094D796E61682048524D")),
                    .init("intervalMilliseconds", .number(100)),
                ])
            take(.ready, [.init("profile", .string(name)), .init("radio", .string("virtual radio"))])
            guard isUsed else { continue }
            take(.centralConnected, [.init("central", .string("C0:00:00:00:00:01"))])
            take(.read, [.init("service", .string("180D")), .init("characteristic", .string("2A38"))])
        }
        return model
    }

    @Test func `a run that begins anew shows nothing of what was before`() {
        var used = model(["Strap", "Lock"], hasApps: true)
        used.setTime(WallTime(microseconds: 5_000_000), of: "manual")
        #expect(lines(used, 80, 24).contains { $0.contains("C0:00:00:00:00:01") })
        used.beginAnew()
        #expect(lines(used, 80, 24) == lines(ScreenModel(titles: ["Strap", "Lock"], hasApps: true), 80, 24))
    }

    private func lines(_ model: ScreenModel, _ width: Int, _ height: Int) -> [String] {
        model.lines(width: width, height: height, now: WallTime(microseconds: 0), digits: "").map { line in
            // Without the sequences for bold and inverse text.
            line.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[7m", with: "")
                .replacing("\u{1B}[0m", with: "")
        }
    }

    @Test func `a phone with a name is called by it and by its apps`() {
        var model = model(["Lock app", "Strap"])
        model.note(
            DeviceEvent(
                time: WallTime(microseconds: 0), name: .ready,
                fields: [
                    .init("device", .string("Lock app")), .init("phone", .string("Anna")),
                    .init("radio", .string("virtual radio")),
                ]))
        #expect(lines(model, 80, 50).contains("Anna: Lock app  running  virtual radio"))
    }

    private static let straps = (1...30).map { "Strap \($0)" }

    @Test func `the page for browsers is named beside the keys, and a Unix socket has none`() {
        for (control, line) in [
            ("http://127.0.0.1:8080", "  page http://127.0.0.1:8080/  Ctrl-C ends the run"),
            ("unix:/tmp/s", "  Ctrl-C ends the run"),
        ] {
            var model = model(["Mynah HRM"])
            model.note(
                DeviceEvent(
                    time: WallTime(microseconds: 0), name: .ready,
                    fields: [.init("control", .string(control))]))
            #expect(lines(model, 80, 24).last == line)
        }
    }

    @Test func `a clock that stops between requests is shown, and rates are of its time`() {
        var model = model(["Mynah HRM"])
        let now = WallTime(microseconds: RunClock.virtualStart * 1_000_000)
        model.setTime(now, of: "manual")
        let clock = "  clock manual 2026-01-01T00:00:00.000000Z"
        #expect(lines(model, 80, 24).last == "\(clock)  Ctrl-C ends the run")
        model.note(
            DeviceEvent(
                time: now, name: .notified,
                fields: [.init("service", .string("180D")), .init("characteristic", .string("2A37"))]))
        let isMoving = model.isMoving(now: .now())
        #expect(!isMoving)
        #expect(lines(model, 80, 24).contains { $0.contains(" 1/s") })
    }

    @Test func `one device has everything on a terminal with room for it`() {
        let lines = lines(model(["Mynah HRM"]), 80, 24)
        #expect(lines.first == "Mynah HRM  running  virtual radio")
        #expect(
            lines.contains("  advertising    heart-rate, battery · flags 06: general discoverable, no BR/EDR")
        )
        #expect(lines.contains("                 02010605030D180F18"))
        #expect(lines.contains("  scan response  Mynah HRM"))
        #expect(lines.contains("                 0A094D796E61682048524D"))
        #expect(lines.contains { $0.hasSuffix("reads writes   sent   rate  last value") })
        #expect(lines.contains { $0.hasPrefix("    body-sensor-location ") && $0.contains("      1      0") })
        #expect(lines.contains { $0.contains("advertising.started") })
        #expect(lines.last == "  Ctrl-C ends the run")
        #expect(lines.count <= 24)
    }

    @Test func `of several apps the one in front is marked, and the one that keys act on`() {
        var model = ScreenModel(titles: ["One", "Two"], hasApps: true)
        func take(_ name: DeviceEvent.Name, _ device: String) {
            model.note(
                DeviceEvent(
                    time: WallTime(microseconds: 0), name: name, fields: [.init("device", .string(device))]))
        }
        for (name, device) in [
            (.appLaunched, "One"), (.appForeground, "One"), (.appBackground, "One"), (.appLaunched, "Two"),
            (.appForeground, "Two"),
        ] as [(DeviceEvent.Name, String)] {
            take(name, device)
        }
        #expect(lines(model, 80, 24).contains("  app 1  background  One"))
        #expect(lines(model, 80, 24).contains("● app 2  foreground  Two"))
        #expect(lines(model, 80, 24).contains { $0.contains("1-2 choose the app") })
        model.choose("One")
        take(.appBackground, "Two")
        take(.appForeground, "One")
        #expect(lines(model, 80, 24).contains("● app 1  foreground  One  (keys)"))
        #expect(lines(model, 80, 24).contains("  app 2  background  Two"))
    }

    /// An app that scans, is connected to a strap and got an alert.
    private func central(_ app: String?) -> ScreenModel {
        var model = ScreenModel(titles: ["App"], hasApps: true)
        let device = app.map { [JSON.Member("device", .string($0))] } ?? []
        func take(_ name: DeviceEvent.Name, _ fields: [JSON.Member]) {
            model.note(DeviceEvent(time: WallTime(microseconds: 0), name: name, fields: device + fields))
        }
        take(.appLaunched, [])
        take(.appForeground, [])
        take(
            .scanStarted,
            [
                .init("services", .array([.string("180D")])), .init("intervalMilliseconds", .number(40)),
                .init("windowMilliseconds", .number(30)),
            ])
        let strap = [
            JSON.Member("peripheral", .string("0063EC46-11F5-41F3-950D-542CBE63A5A9")),
            .init("address", .string("C0:00:00:00:00:01")),
            .init("as", .string("Strap")),
        ]
        take(.peripheralConnecting, strap)
        take(.peripheralConnected, strap)
        take(
            .valueUpdated,
            strap + [.init("characteristic", .string("2A37")), .init("value", .string("0048"))])
        take(
            .alertShown,
            [
                .init("by", .string("disconnection")), .init("app", .string("App")),
                .init("name", .string("HRM\u{1B}")),
            ])
        return model
    }

    @Test func `a phone's screen shows the apps, what they scan for, their devices and alerts`() {
        var model = central(nil)
        let shown = lines(model, 80, 24)
        #expect(shown.contains("  app  foreground"))
        #expect(shown.contains("  alert  disconnection of HRM\u{FFFD}, for App"))
        #expect(shown.contains("  scanning for heart-rate · 30 of 40 ms"))
        #expect(shown.contains("    Strap  connected  0048  72 bpm  heart-rate-measurement"))
        #expect(shown.contains { $0.contains("o open the alert") })
        #expect(!shown.contains { $0.contains("no central connected") })
        // A value each second would leave no room for what happened.
        #expect(!shown.contains { $0.contains("value.updated") })
        func take(_ name: DeviceEvent.Name, _ fields: [JSON.Member]) {
            model.note(DeviceEvent(time: WallTime(microseconds: 0), name: name, fields: fields))
        }
        take(
            .alertOpened,
            [
                .init("by", .string("disconnection")), .init("app", .string("App")),
                .init("name", .string("HRM\u{1B}")),
            ])
        take(.scanStopped, [.init("services", .array([.string("180D")]))])
        take(.peripheralDisconnected, [.init("peripheral", .string("0063EC46-11F5-41F3-950D-542CBE63A5A9"))])
        let after = lines(model, 80, 24)
        #expect(after.contains("  no device connected"))
        #expect(!after.contains { $0.hasPrefix("  alert ") || $0.hasPrefix("  scanning ") })
    }

    @Test(arguments: sizes)
    func `the devices of apps fit any terminal`(width: Int, height: Int) {
        for app in [nil, "App"] {
            let lines = lines(central(app), width, height)
            #expect(lines.count <= height && lines.allSatisfy { DisplayWidth.of($0) <= width })
        }
    }

    @Test func `more devices than rows are counted as hidden`() {
        let lines = lines(model(Self.straps, isUsed: false), 80, 24)
        #expect(lines.count == 24)
        #expect(
            lines[0] == "Strap 1   advertising every 100 ms · Mynah HRM · heart-rate, battery · flags 06…")
        #expect(
            lines[20] == "Strap 21  advertising every 100 ms · Mynah HRM · heart-rate, battery · flags 06…")
        #expect(
            Array(lines[21...]) == [
                "and 9 more devices", "  no central connected", "  Ctrl-C ends the run",
            ])
    }

    @Test(arguments: [(80, 24), (20, 5), (80, 50)])
    func `a crowd lays out no more devices than there are rows, and counts the others`(
        width: Int, height: Int
    ) {
        let crowd = model((1...10_000).map { "Tag \($0)" }, isUsed: false)
        let shown = lines(crowd, width, height)
        #expect(shown.count <= height)
        #expect(shown.first?.hasPrefix("Tag 1 ") == true)
        // One line for each device before it.
        let rows = shown.prefix { !$0.hasPrefix("and ") }.count
        #expect(rows < height && shown[rows].hasPrefix("and \(10_000 - rows) more"))
        #expect(crowd.summary(width: width).allSatisfy { DisplayWidth.of($0) <= width })
        #expect(crowd.summary(width: width)[0].contains(" more"))
    }

    @Test func `devices, centrals and values share the rows, and each says how many are hidden`() {
        let lines = lines(model(Self.straps), 80, 24)
        #expect(lines.count == 24)
        let hidden = lines.filter { $0.hasPrefix("and ") }
        #expect(hidden == ["and 23 more devices", "and 24 more centrals", "and 27 more values"])
    }

    @Test func `room that is left shows what happened last`() {
        let lines = lines(model(Self.straps, isUsed: false), 80, 40)
        #expect(lines.count == 40)
        #expect(lines.filter { $0.hasPrefix("Strap ") }.count == 30)
        #expect(lines[38].contains("Strap 30 plays on virtual radio"))
        #expect(lines[39] == "  Ctrl-C ends the run")
    }

    @Test(arguments: sizes)
    func `no line is wider than the terminal, and what pairing asks is always there`(
        width: Int, height: Int
    ) {
        for names in [["心拍計 ❤️ モニター 👨‍👩‍👧"], Self.straps, ["心拍計 ❤️ モニター 👨‍👩‍👧", "e\u{301}\u{1B}[2J"]] {
            var model = model(names, hasApps: true)
            model.note(
                DeviceEvent(
                    time: WallTime(microseconds: 0), name: .pairingPasskey,
                    fields: [.init("step", .string("display")), .init("passkey", .string("123456"))]))
            let lines = lines(model, width, height)
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
            #expect(lines.count <= height)
            // A low terminal cuts it, and a narrow one shows it on several lines.
            let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
            #expect(text.contains("type 123456 on the phone") || lines.contains { $0.contains("type") })
            #expect(!lines.contains { $0.contains("\u{1B}") })
        }
    }

    @Test func `the keys of an app are on several lines if the terminal is narrow`() {
        let lines = lines(model(["App"], hasApps: true, isUsed: false), 40, 24)
        #expect(
            lines.suffix(3) == [
                "  f foreground  b background  s suspend", "  t terminate  q quit the app",
                "  Ctrl-C ends the run",
            ])
    }

    @Test func `a narrow terminal shows names, rates and values, and a wide one all counters`() {
        var model = model(["Mynah HRM"])
        let now = WallTime(microseconds: 5_000_000)
        model.note(
            DeviceEvent(
                time: now, name: .notified,
                fields: [
                    .init("service", .string("180D")), .init("characteristic", .string("2A37")),
                    .init("value", .string("0048")),
                ]))
        let narrow = model.lines(width: 40, height: 24, now: now, digits: "")
        #expect(narrow.contains("    heart-rate-meas… 1/s 72 bpm"))
        let wide = model.lines(width: 80, height: 24, now: now, digits: "")
        #expect(
            wide.contains {
                $0.hasPrefix("    heart-rate-measurement ")
                    && $0.hasSuffix("      0      0      1    1/s  0048  72 bpm")
            })
    }

    @Test func `the summary names as many devices as fit, and breaks no name`() {
        let model = model(Self.straps)
        #expect(self.model(["HRM"]).summary(width: 80) == ["HRM: 1 read, 0 writes, 0 notifications"])
        #expect(
            model.summary(width: 40) == [
                "Strap 1, Strap 2, Strap 3 and 27 more:", "  30 reads, 0 writes, 0 notifications",
            ])
        #expect(
            model.summary(width: 20) == [
                "Strap 1 and 29 more:", "  30 reads,", "  0 writes,", "  0 notifications",
            ])
        #expect(model.summary(width: 15).first == "30 devices:")
        #expect(
            self.model(["心拍計 ❤️ モニター", "BB"]).summary(width: 22).first == "心拍計 ❤️… and 1 more:")
        let long = self.model(["心拍計モニター"]).summary(width: 12)
        #expect(long.first == "心拍計モニ…:")
        #expect(long.allSatisfy { DisplayWidth.of($0) <= 17 })
    }
}
