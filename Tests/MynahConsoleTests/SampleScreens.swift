import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahConsole
@testable import MynahRun

/// The models of the screens that files show.
enum SampleScreens {
    static let now = WallTime(microseconds: 1_000_000_000)
    /// Digits that were typed, where a number is asked for.
    static let digits = "0012"

    static let names = [
        "run-waiting", "run-used", "run-fifty-centrals", "run-fifty-devices", "run-question", "run-lost",
        "app-background", "apps-three", "app-central", "app-central-waiting", "scan-nothing", "scan-one",
        "scan-fifty", "connect-services", "connect-help",
    ]

    static func lines(named name: String, width: Int, height: Int) throws -> [String] {
        func lines(_ event: ConnectEvent) -> [String] {
            event.text(width: width).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        return switch name {
        case "connect-services": lines(.services(try SampleServices.all()))
        case "connect-help": lines(.help)
        default:
            try model(named: name).lines(width: width, height: height, now: now, digits: digits)
        }
    }

    private static func model(named name: String) throws -> any LiveModel {
        switch name {
        case "run-waiting": return Run(["Heart rate monitor"]).strap().model
        case "run-used": return Run(["Heart rate monitor"]).strap().used().model
        case "run-fifty-centrals": return Run(["Heart rate monitor"]).strap().crowded().model
        case "run-fifty-devices": return Run((1...50).map { "Strap \($0)" }).straps().model
        case "run-question": return Run(["Lock"]).strap().asked().model
        case "run-lost": return Run(["Heart rate monitor"]).strap().lost().model
        case "app-background": return Run(["Heart rate app"], hasApps: true).hidden().model
        case "apps-three": return Run(["Lock app", "Strap app", "Gym app"], hasApps: true).three().model
        case "app-central": return Run(["Strap reader"], hasApps: true).reading().model
        case "app-central-waiting": return Run(["Strap reader"], hasApps: true).looking().model
        case "scan-nothing": return try scan([])
        case "scan-one": return try scan(["Mynah HRM"])
        default: return try scan((1...50).map { $0 % 7 == 0 ? nil : "Strap \($0)" })
        }
    }

    // MARK: - Scans

    private static func scan(_ names: [String?]) throws -> ScanModel {
        var model = ScanModel(
            place: "on the virtual radio", known: ["180D"], wanted: nil, hearsOwnDevices: true)
        model.waiting = nil
        for (index, name) in names.enumerated() {
            let name = name.map { Array($0.utf8) }
            let data =
                [2, 1, 6, 5, 3, 0x0D, 0x18, 0x0F, 0x18] + (name.map { [UInt8($0.count + 1), 9] + $0 } ?? [])
            let address = try #require(DeviceAddress("C4:7B:00:00:0A:\(hex(index + 1))", kind: .random))
            for event in 0..<6 {
                let report = ScanReport(
                    address: address, kind: .connectable, data: data, rssi: Int8(-40 - index))
                let time = now.microseconds - 600_000 + Int64(event * 105_000) - Int64(index) * 500_000
                _ = model.note(
                    Sighting(
                        report, advertisement: AdvertisementData(data), data: data, scanResponse: [],
                        isConnectable: true), at: WallTime(microseconds: time))
            }
        }
        return model
    }

    static func hex(_ number: Int) -> String { Hex.encode([UInt8(truncatingIfNeeded: number)]) }

    // MARK: - Runs

    /// A run, made of the events that it reports.
    private struct Run {
        var model: ScreenModel
        private let names: [String]

        init(_ names: [String], hasApps: Bool = false) {
            self.names = names
            model = ScreenModel(titles: names, hasApps: hasApps, known: ["180D", "180F"])
        }

        private mutating func take(
            _ name: DeviceEvent.Name, _ fields: [JSON.Member] = [], of device: String? = nil
        ) {
            let device = device.map { [JSON.Member("device", .string($0))] } ?? []
            model.note(DeviceEvent(time: now, name: name, fields: device + fields))
        }

        private static func text(_ fields: KeyValuePairs<String, String>) -> [JSON.Member] {
            fields.map { .init($0.key, .string($0.value)) }
        }

        private static let rate = text(["service": "180D", "characteristic": "2A37"])

        private mutating func start(
            _ data: String, _ response: String = "", address: String, every interval: Double = 100,
            of device: String? = nil
        ) {
            take(.stateChanged, Self.text(["state": "poweredOn"]), of: device)
            take(
                .advertisingStarted,
                Self.text(["data": data, "scanResponse": response]) + [
                    .init("intervalMilliseconds", .number(interval)), .init("address", .string(address)),
                ], of: device)
            take(
                .ready,
                Self.text([
                    "profile": device ?? names[0], "radio": RadioNames.virtual, "address": address,
                ]), of: device)
        }

        func strap() -> Run {
            var run = self
            run.start(
                "02010605030D180F18", "0A094D796E61682048524D05FF59000102", address: "C4:7B:00:00:0A:01")
            return run
        }

        func straps() -> Run {
            var run = self
            for (index, name) in names.enumerated() {
                let bytes = Array(name.utf8)
                run.start(
                    "020106" + Hex.encode([UInt8(bytes.count + 1), 9] + bytes),
                    address: "C4:7B:00:00:0A:\(hex(index + 1))", of: name)
            }
            return run
        }

        func used() -> Run {
            var run = self
            let central = Self.text(["central": "FD:5B:26:31:E1:DB"])
            run.take(.centralConnected, central)
            run.take(.mtuChanged, central + [.init("mtu", .integer(517))])
            run.take(
                .read,
                Self.text(["service": "180D", "characteristic": "2A38"]) + central + [
                    .init("value", .string("01"))
                ])
            run.take(.subscribed, Self.rate + central + Self.text(["delivery": "notification"]))
            for _ in 0..<2 { run.take(.notified, Self.rate + Self.text(["value": "0048"])) }
            return run
        }

        func crowded() -> Run {
            var run = self
            for number in 1...50 {
                let central = Self.text(["central": "FD:5B:00:00:0B:\(hex(number))"])
                run.take(.centralConnected, central)
                run.take(.mtuChanged, central + [.init("mtu", .integer(247))])
                let attribute = Self.text([
                    "service": "A000", "characteristic": "A0\(hex(number))", "value": "00\(hex(number))",
                ])
                run.take(.read, attribute + central)
            }
            return run
        }

        func asked() -> Run {
            var run = self
            let central = Self.text(["central": "FD:5B:26:31:E1:DB"])
            run.take(.centralConnected, central)
            run.take(
                .pairingPasskey, central + Self.text(["step": "enter"]) + [.init("entered", .bool(false))])
            return run
        }

        func lost() -> Run {
            var run = used()
            run.take(.radioLost, Self.text(["message": "bluetoothd is not running"]))
            return run
        }

        func hidden() -> Run {
            var run = self
            run.take(.appLaunched)
            run.take(.appForeground)
            run.take(.appBackground)
            run.start(
                "02011A", "14FF4C0001" + Hex.encode(OverflowArea(["180D"]).mask),
                address: "4A:11:22:33:44:55",
                every: 181.25)
            return run
        }

        func three() -> Run {
            var run = self
            for name in names {
                run.take(.appLaunched, of: name)
                run.take(.appForeground, of: name)
                if name != names.last { run.take(.appBackground, of: name) }
            }
            run.take(.appSuspended, of: names[0])
            run.start(
                "02011A03030D1805094C6F636B", address: "4A:11:22:33:44:55", every: 30,
                of: names.joined(separator: ", "))
            run.take(
                .read, Self.rate + Self.text(["central": "FD:5B:26:31:E1:DB", "value": "0048"]), of: names[1])
            run.model.choose(names[1])
            return run
        }

        func looking() -> Run {
            var run = self
            run.take(.appLaunched)
            run.take(.appForeground)
            run.take(.stateChanged, Self.text(["state": "poweredOn"]))
            run.take(
                .ready,
                Self.text([
                    "profile": names[0], "radio": RadioNames.virtual, "address": "4A:11:22:33:44:55",
                ]))
            run.take(
                .scanStarted,
                [
                    .init("services", .array([.string("180D")])),
                    .init("intervalMilliseconds", .number(40)), .init("windowMilliseconds", .number(30)),
                ])
            return run
        }

        func reading() -> Run {
            var run = looking()
            let strap = Self.text([
                "peripheral": "0063EC46-11F5-41F3-950D-542CBE63A5A9", "address": "C4:7B:00:00:0A:01",
                "as": "Strap",
            ])
            run.take(.peripheralConnecting, strap)
            run.take(.peripheralConnected, strap)
            run.take(.valueUpdated, strap + Self.rate + Self.text(["value": "0048"]))
            run.take(
                .alertShown,
                Self.text(["by": "disconnection", "app": names[0], "name": "Kitchen scale"]))
            return run
        }
    }
}
