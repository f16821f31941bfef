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
        /// A call of the app 0 returned.
        case calls
        /// A service of the app 0 is refused with a code.
        case refuses(Int?)
        case answersPhone(Bool)
        /// A request for an encrypted link ended, after so many dialogs.
        case secures(PhoneWatcher.Bond, Int, Bool)
        case requests(PhoneWatcher.Parameters, Int, Bool)
        /// The app 0 discovered types in a device, which was asked so often; a battery had moved so often.
        case discovers(Int, Set<BluetoothUUID>, Int?)
        case discoversMore(Set<BluetoothUUID>, Set<BluetoothUUID>)
        /// The app 0 opens a channel.
        case opens(Bool)
        case hears(Bool)
        /// A read of the app 0 is answered, with a value or an error.
        case answers(Bool)
        /// The kind of the app 1.
        case isOne(hasScenes: Bool, hasLiveActivity: Bool, iOS: Int)
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

    private static let lossAlert = PhoneWatcher.Output.alert(.disconnection, device, .shown)
    private static let on = PhoneWatcher.Output.state(.poweredOn)
    private static let subscription: [Step] = [
        .happens(.subscribe(1, 1)), .told(1, .event(.subscribed(1))), .ends,
    ]
    private static let denial: [Step] = [
        .happens(.authorize(0, .denied)), .told(0, .authorization(.denied)), .told(0, .ended), .ends,
    ]
    /// The app 0 pairs with a device, which loses the bond; a request finds that out.
    private static let loss: [Step] =
        link + [
            .happens(.secure(0, device, accepts: true)), .ends, .happens(.loseBond(device)), .ends,
            .happens(.secure(0, device, accepts: true)),
        ]
    private static let relaunchWhileOff: [Step] = [
        .happens(.user(0, .quit)), .told(0, .ended), .ends, .happens(.power(false)),
        .told(1, .state(.poweredOff)), .ends, .happens(.user(0, .enterForeground)), .told(0, launched),
        .told(0, .foreground),
    ]
    /// The app 0 has a link, asked for alerts about it, and is suspended.
    private static let alarmed: [Step] =
        [
            .happens(.connect(0, device, alerts: true)), .ends, .happens(.linked(device)),
            .told(0, connected),
            .ends,
        ] + suspension
    /// The app 1 waits for a device, and is terminated.
    private static let pending: [Step] = [
        .happens(.connect(1, device)), .ends, .happens(.user(1, .terminate)), .told(1, .ended), .ends,
    ]
    private static func toggle(_ cause: PhoneWatcher.PowerCause) -> [Step] {
        [
            .happens(.power(false, by: cause)), .told(0, .state(.poweredOff)), .ends,
            .happens(.power(true, by: cause)), .told(0, .state(.poweredOn)), .ends,
        ]
    }
    private static let restart: [Step] = [.happens(.restart), .told(0, .ended), .ends]
    /// The app 0 pairs with a device, and discovers everything in it.
    private static let kept: [Step] =
        link + [
            .happens(.secure(0, device, accepts: true)), .secures(.absent, 1, true), .ends,
            .discovers(1, ["180F"], 0),
        ]
    /// iOS 9 accepts a timeout of 1 s.
    private static let slow = PhoneWatcher.Parameters(minimum: 16, maximum: 40, latency: 0, timeout: 100)

    /// The app 0 has no mode and the app 1 both; each has an identifier, and 0 is on the screen.
    private static func broken(by steps: [Step]) -> [String] {
        func app(_ modes: Set<BluetoothRole>) -> PhoneWatcher.App {
            PhoneWatcher.App(modes: modes, identifiers: [.central: "id", .peripheral: "id"])
        }
        var watcher = PhoneWatcher([app([]), app([.central, .peripheral])])
        var start: [Step] = []
        for index in [1, 0] {
            start.append(.happens(.user(index, .enterForeground)))
            if index == 0 { start.append(.told(1, .background)) }
            start += [.told(index, launched), .told(index, .foreground), .ends]
        }
        start.append(.happens(.power(true)))
        for index in 0..<2 { start += [.told(index, .peripheralState), .told(index, .state(.poweredOn))] }
        for step in start + [.ends] + steps {
            switch step {
            case .happens(let input): watcher.take(input)
            case .told(let index, let output): watcher.take(output, of: index)
            case .ends: watcher.endStep()
            case .air(let air): watcher.judge(air)
            case .calls: watcher.called(0, isDone: true)
            case .refuses(let code): watcher.refused(0, with: code)
            case .answersPhone(let isValue): watcher.phoneAnswered(withValue: isValue)
            case .secures(let bond, let dialogs, let isDone):
                watcher.secured(bond, isDone: isDone, dialogs: dialogs)
            case .requests(let wanted, let iOS, let isAccepted):
                watcher.requested(wanted, iOS: iOS, isAccepted: isAccepted)
            case .discovers(let count, let types, let moves):
                watcher.discovered(0, device, asking: count, types, moves: moves)
            case .discoversMore(let before, let after): watcher.discoveredMore(0, before, after)
            case .opens(let isDone): watcher.openedChannel(0, device, isDone: isDone)
            case .answers(let isValue): watcher.answered(0, withValue: isValue)
            case .hears(let isAnswered): watcher.heard(device, isAnswered: isAnswered)
            case .isOne(let hasScenes, let hasLiveActivity, let iOS):
                (watcher.apps[1].hasScenes, watcher.apps[1].hasLiveActivity) = (hasScenes, hasLiveActivity)
                watcher.apps[1].iOS = iOS
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

    static let rows = lifeRows + newRows

    private static let lifeRows: [(rule: String, steps: [Step])] = [
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
                .told(0, .state(.poweredOff)), .ends,
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
                .happens(.linked(device)), .told(1, relaunched), .told(1, .state(.poweredOn)),
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
        ("R52", subscription + [.happens(.power(false)), .told(1, .event(.unsubscribed(1)))]),
        ("R16", [.happens(.publish(1)), .happens(.user(1, .suspend)), .told(1, .suspended)] + subscription),
        (
            "R32",
            [
                .happens(.publish(1)), .happens(.user(1, .terminate)), .told(1, .ended), .ends,
                .happens(.user(1, .enterForeground)), .told(1, launched),
                .told(1, .peripheralRestored(advertises: false, subscribers: 1)),
            ]
        ),
        ("R71", [.happens(.readPhone), .told(1, .woken(.read))]),
        ("R71", [.happens(.readPhone), .answersPhone(false)]),
        ("R81", [.happens(.addReserved(0)), .refuses(nil)]),
        ("R81", [.happens(.addReserved(0)), .refuses(4)]),
        ("R82", link + [.air(.init(links: [device], names: [0: [device: "Strap"]]))]),
        ("R83", [.happens(.authorize(0, .denied)), .told(0, .authorization(.denied)), .calls]),
        ("R83", denial + [.happens(.user(0, .enterForeground)), .told(0, launched), .told(0, on)]),
        ("R84", [.happens(.authorize(0, .denied)), .ends]),
        ("R84", [.happens(.authorize(0, .denied)), .told(0, .authorization(.denied)), .ends]),
        ("R84", denial + [.told(0, connected)]),
        ("R84", denial + [.happens(.linked(device)), .told(0, relaunched)]),
        (
            "R85",
            link + [.happens(.secure(0, device, accepts: true)), .secures(.lost(isFound: false), 0, true)]
        ),
        ("R85", loss + [.ends]),
        (
            "R85",
            loss + [.told(0, .event(.lostBond(device))), .happens(.connect(0, device)), .ends]
                + [.happens(.linked(device)), .ends]
        ),
        ("R86", link + [.happens(.secure(0, device, accepts: true)), .secures(.absent, 0, true)]),
        ("R86", link + [.happens(.secure(0, device, accepts: false)), .secures(.absent, 1, true)]),
        ("R86", link + [.happens(.secure(0, device, accepts: false)), .secures(.bonded, 1, true)]),
        ("R87", relaunchWhileOff + [.ends]),
        ("R87", [.told(0, .alert(.power, nil, .shown))]),
        (
            "R87",
            relaunchWhileOff + [.told(0, .alert(.power, nil, .shown)), .ends, .happens(.openAlert), .ends]
        ),
        ("R88", [.happens(.request(slow, iOS: 18)), .requests(slow, 18, true)]),
        ("R88", [.happens(.request(slow, iOS: 9)), .requests(slow, 9, false)]),
    ]

    private static func row(_ rule: String, _ steps: [Step]...) -> (rule: String, steps: [Step]) {
        (rule, Array(steps.joined()))
    }

    /// Rules of what the phone tells apps and asks devices for.
    private static let newRows: [(rule: String, steps: [Step])] = [
        row("R6", [.happens(.read(0)), .answers(false)]),
        row("R8", alarmed, [.happens(.lost(device)), .ends]),
        row("R8", link, suspension, [.happens(.lost(device)), .told(0, lossAlert)]),
        row(
            "R8", alarmed, [.happens(.lost(device)), .told(0, lossAlert), .ends, .happens(.openAlert)],
            [.told(0, .alert(.disconnection, device, .opened)), .ends]),
        row("R10", [.happens(.scan(1, services: ["180D"], allowsDuplicates: false)), .air(.init())]),
        row("R17", [.happens(.publish(1)), .happens(.advertise(1)), .air(.init(published: [1]))]),
        row(
            "R29", [.happens(.connect(0, device)), .ends, .happens(.heard(device, content: 4))],
            [.hears(false)]),
        row(
            "R40",
            [
                .happens(.scan(0, services: [], allowsDuplicates: true)),
                .happens(.heard(device, content: 4)), .ends,
            ]),
        row("R58", pending, [.air(.init())]),
        row("R59", link, [.discoversMore(["180D", "180F"], ["180F"])]),
        row(
            "R60",
            [
                .happens(.user(1, .suspend)), .told(1, .suspended), .ends, .happens(.power(false)),
                .told(1, .state(.poweredOff)),
            ]),
        row(
            "R62",
            [.happens(.connect(1, device)), .ends, .happens(.linked(device)), .told(1, connected), .ends],
            [.happens(.user(1, .terminate)), .told(1, .ended), .ends], toggle(.controlCenter),
            [.air(.init(wanted: [device]))]),
        row(
            "R65",
            [
                .happens(.publish(1)), .happens(.user(1, .terminate)), .told(1, .ended), .ends,
                .happens(.read(1)), .ends,
            ]),
        row(
            "R66", pending,
            [
                .happens(.linked(device)),
                .told(1, .launched(inBackground: true, central: ["id"], peripheral: ["id"])),
            ]),
        row("R67", alarmed, [.happens(.lost(device)), .told(1, lossAlert)]),
        row("R69", link, [.discovers(1, ["180F", "1801"], 0)]),
        row(
            "R89", [.isOne(hasScenes: true, hasLiveActivity: false, iOS: 18)], pending,
            [.happens(.linked(device)), .told(1, relaunched)]),
        row(
            "R90", [.isOne(hasScenes: false, hasLiveActivity: true, iOS: 26)],
            [.happens(.scan(1, services: [], allowsDuplicates: true)), .air(.init(scans: true))]),
        row(
            "R90", [.isOne(hasScenes: false, hasLiveActivity: true, iOS: 26)],
            [
                .happens(.scan(1, services: [], allowsDuplicates: true)), .ends,
                .happens(.heard(device, content: 4)), .told(1, discovered), .ends,
                .happens(.heard(device, content: 4)), .ends,
            ]),
        row("R91", link, [.discovers(0, ["180F"], 0)]),
        row("R91", kept, [.discovers(1, ["180F"], 0)]),
        row("R91", kept, [.happens(.move(device, isIndicated: true)), .discovers(0, ["180F"], 0)]),
        row("R91", kept, [.happens(.forget(device)), .ends], link, [.discovers(0, ["180F"], 0)]),
        row("R92", kept, [.happens(.move(device, isIndicated: false)), .discovers(0, ["180F"], 1)]),
        row("R93", [.happens(.register(0))], link),
        row("R93", link, [.told(0, .event(.peer(device, isConnected: true)))]),
        row(
            "R93", [.happens(.register(1)), .happens(.connect(0, device)), .happens(.linked(device))],
            [.told(1, .event(.peer(device, isConnected: true))), .happens(.lost(device)), .ends]),
        row("R95", pending, toggle(.settings), [.air(.init(wanted: [device]))]),
        row("R95", pending, toggle(.settings), [.happens(.linked(device)), .told(1, relaunched)]),
        row(
            "R96", [.isOne(hasScenes: false, hasLiveActivity: false, iOS: 26)], pending,
            toggle(.controlCenter), [.air(.init(wanted: [device]))]),
        row("R97", pending, toggle(.airplaneMode), [.air(.init(wanted: [device]))]),
        row("R98", [.happens(.restart), .ends]),
        row("R98", pending, restart, [.air(.init(wanted: [device]))]),
        row("R98", pending, restart, [.happens(.linked(device)), .told(1, relaunched)]),
        row("R100", link, [.happens(.open(0, device)), .opens(false)]),
        row("R100", link, [.happens(.open(0, device)), .opens(true), .air(.init(links: [device]))]),
        row(
            "R100", link, [.happens(.open(0, device)), .opens(true), .happens(.lost(device))],
            [.air(.init(channels: [0]))]),
        row("R101", [.told(0, .authorization(.notDetermined))]),
    ]

    @Test func `each rule that is judged has a row that breaks it`() {
        #expect(Set(Self.rows.map(\.rule)) == Set(PhoneWatcher.rules.map { "R\($0)" }))
    }

    @Test(arguments: 0..<PhoneWatcherTests.rows.count)
    func `a broken rule is a complaint with its number`(index: Int) {
        let (rule, steps) = Self.rows[index]
        #expect(Self.broken(by: steps).contains(rule), "row \(index)")
    }
}
