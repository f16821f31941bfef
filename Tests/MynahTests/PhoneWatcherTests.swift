import MynahCore
import MynahLifecycle
import Testing

/// The watcher of histories fails if a rule is broken: each row breaks one.
@Suite struct PhoneWatcherTests {
    enum Step {
        case happens(PhoneWatcher.Input)
        case told(Int, PhoneWatcher.Output)
        case ends
        case air(PhoneWatcher.Air)
    }

    private static let device = DeviceAddress(value: 1, kind: .public)
    private static let launched = PhoneWatcher.Output.launched(
        inBackground: false, central: [], peripheral: [])
    private static let relaunched = PhoneWatcher.Output.launched(
        inBackground: true, central: ["id"], peripheral: [])
    private static let connected = PhoneWatcher.Output.event(.connected(device, isLocal: false))
    private static let discovered = PhoneWatcher.Output.event(.discovered(device, content: 4))
    private static let suspension: [Step] = [
        .happens(.user(0, .suspend)), .told(0, .background), .told(0, .suspended), .ends,
    ]
    private static let link: [Step] = [
        .happens(.connect(0, device)), .ends, .happens(.linked(device)), .told(0, connected), .ends,
    ]

    /// The app 0 has no mode and the app 1 both; each has an identifier, and 0 is on the screen.
    private static func broken(by steps: [Step]) -> [String] {
        func app(_ modes: Set<BluetoothRole>) -> PhoneWatcher.App {
            PhoneWatcher.App(modes: modes, identifiers: [.central: "id"])
        }
        var watcher = PhoneWatcher([app([]), app([.central, .peripheral])])
        var start: [Step] = []
        for index in [1, 0] {
            start.append(.happens(.user(index, .enterForeground)))
            if index == 0 { start.append(.told(1, .background)) }
            start += [.told(index, launched), .told(index, .foreground), .ends]
        }
        start.append(.happens(.power(true)))
        for index in 0..<2 { start += [.told(index, .peripheralState), .told(index, .state(true))] }
        for step in start + [.ends] + steps {
            switch step {
            case .happens(let input): watcher.take(input)
            case .told(let index, let output): watcher.take(output, of: index)
            case .ends: watcher.endStep()
            case .air(let air): watcher.judge(air)
            }
        }
        return watcher.broken.map { String($0.prefix { $0 != "," }) }
    }

    @Test func `a history that keeps the rules has no complaints`() {
        #expect(Self.broken(by: Self.link + Self.suspension) == [])
        let queued: [Step] = [
            .happens(.lost(Self.device)), .ends, .happens(.user(0, .enterForeground)), .told(0, .foreground),
            .told(0, .event(.disconnected(Self.device, wasPending: false))), .ends, .air(.init()),
        ]
        #expect(Self.broken(by: Self.link + Self.suspension + queued) == [])
    }

    static let rows: [(rule: String, steps: [Step])] = [
        ("R1", [.air(.init(scans: true))]),
        ("R1", [.air(.init(advertises: true))]),
        ("R2", suspension + [.happens(.lost(device)), .told(0, .woken(.disconnected))]),
        ("R3", [.happens(.lost(device)), .told(0, .ended)]),
        ("R4", [.happens(.user(1, .enterForeground)), .told(1, .foreground)]),
        ("R5", suspension + [.happens(.lost(device)), .told(0, connected)]),
        ("R7", link + [.happens(.notify(0, device, true)), .happens(.value(1, device)), .ends]),
        (
            "R11",
            [
                .happens(.user(1, .suspend)), .told(1, .suspended), .ends, .happens(.power(false)),
                .told(0, .state(false)), .ends,
            ]
        ),
        (
            "R12",
            [
                .happens(.scan(1, services: ["180D"], allowsDuplicates: true)), .ends,
                .happens(.connect(1, device)), .told(1, discovered),
            ]
        ),
        (
            "R13",
            [
                .happens(.scan(1, services: ["180D"], allowsDuplicates: false)),
                .air(.init(scans: true, scansFast: true)),
            ]
        ),
        (
            "R14",
            [
                .happens(.scan(1, services: [], allowsDuplicates: false)),
                .happens(.heard(device, content: 4)),
                .told(1, discovered),
            ]
        ),
        ("R29", [.happens(.connect(1, device)), .air(.init())]),
        (
            "R30",
            [
                .happens(.connect(1, device)), .ends, .happens(.user(1, .terminate)), .told(1, .ended), .ends,
                .happens(.linked(device)), .ends,
            ]
        ),
        (
            "R31",
            [
                .happens(.connect(1, device)), .ends, .happens(.user(1, .terminate)), .told(1, .ended), .ends,
                .happens(.linked(device)), .told(1, relaunched), .told(1, .restored([], scan: nil)),
            ]
        ),
        (
            "R34",
            [
                .happens(.user(0, .quit)), .told(0, .ended), .ends, .happens(.user(0, .enterForeground)),
                .told(0, .launched(inBackground: false, central: ["id"], peripheral: [])),
            ]
        ),
        (
            "R35",
            [
                .happens(.connect(1, device)), .ends, .happens(.user(1, .terminate)), .told(1, .ended), .ends,
                .happens(.linked(device)), .told(1, relaunched), .told(1, .state(true)),
            ]
        ),
        ("R37", [.happens(.lost(device)), .told(0, .restored([], scan: nil))]),
        (
            "R55",
            [
                .happens(.user(0, .quit)), .told(0, .ended), .ends, .happens(.answers),
                .told(0, .answered(launch: 1)),
            ]
        ),
        (
            "R57",
            [
                .happens(.user(1, .terminate)), .told(1, .ended), .ends,
                .happens(.user(1, .enterForeground)),
                .told(1, .launched(inBackground: false, central: [], peripheral: [])),
                .told(1, .restored([], scan: nil)),
            ]
        ),
        (
            "R39",
            [
                .happens(.scan(0, services: [], allowsDuplicates: false)),
                .happens(.heard(device, content: 4)),
                .told(0, discovered), .told(0, discovered),
            ]
        ),
        ("R44", [.happens(.connect(0, device)), .ends, .happens(.cancel(0, device)), .ends]),
        ("R45", link + [.happens(.cancel(0, device)), .ends]),
        ("R45", [.air(.init(links: [device]))]),
        ("R51", link + [.happens(.connect(1, device)), .ends]),
        ("R51", link + [.told(0, connected)]),
        ("R52", [.happens(.power(false)), .ends]),
    ]

    @Test(arguments: 0..<PhoneWatcherTests.rows.count)
    func `a broken rule is a complaint with its number`(index: Int) {
        let (rule, steps) = Self.rows[index]
        #expect(Self.broken(by: steps).contains(rule), "row \(index)")
    }
}
