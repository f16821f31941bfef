import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite struct PhoneScanningTests {
    // MARK: Scans by state of the app

    /// App state, background mode, restore identifier; the mode of the scan, and of a pending connection.
    ///
    /// The last rows are those of an app with a Live Activity.
    static let modes = """
        notRunning  -     -           off         off
        notRunning  mode  -           off         off
        notRunning  -     restorable  off         off
        notRunning  mode  restorable  off         off
        foreground  -     -           foreground  foreground
        foreground  mode  -           foreground  foreground
        foreground  -     restorable  foreground  foreground
        foreground  mode  restorable  foreground  foreground
        background  -     -           off         background
        background  mode  -           background  background
        background  -     restorable  off         background
        background  mode  restorable  background  background
        suspended   -     -           off         background
        suspended   mode  -           background  background
        suspended   -     restorable  off         background
        suspended   mode  restorable  background  background
        terminated  -     -           off         off
        terminated  mode  -           off         off
        terminated  -     restorable  off         off
        terminated  mode  restorable  background  background
        quit        -     -           off         off
        quit        mode  -           off         off
        quit        -     restorable  off         off
        quit        mode  restorable  off         off
        background  -     live        off         background
        background  mode  live        foreground  foreground
        suspended   mode  live        foreground  foreground
        terminated  mode  live        off         off
        """

    @Test func `an app's state decides how the phone scans for it, and listens for its connections`() {
        var states: Set<String> = []
        for line in Self.modes.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            var rules = AppRules()
            rules.backgroundModes = words[1] == "mode" ? [.bluetoothCentral] : []
            rules.keepsPrivileges = words[2] == "live"
            let (state, isRestorable) = (AppState(rawValue: words[0]), words[2] == "restorable")
            let modes = state.map { state in
                [
                    ScanMode(scanIn: state, rules, isRestorable: isRestorable, radioState: .poweredOn),
                    ScanMode(connectionIn: state, rules, isRestorable: isRestorable, radioState: .poweredOn),
                ]
            }
            #expect(modes?.map(\.rawValue) == Array(words[3...]), "\(line)")
            states.insert(words[0])
        }
        #expect(states == Set(AppState.allCases.map(\.rawValue)))
    }

    @Test(arguments: [RadioState.unknown, .resetting, .unsupported, .unauthorized, .poweredOff])
    func `nothing is scanned for while Bluetooth is not powered on`(radioState: RadioState) {
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothCentral]
        for state in AppState.allCases {
            let scan = ScanMode(scanIn: state, rules, isRestorable: true, radioState: radioState)
            let connection = ScanMode(connectionIn: state, rules, isRestorable: true, radioState: radioState)
            #expect(scan == .off && connection == .off, "\(state)")
        }
    }

    // MARK: One scan for all

    /// Scans, pending connections; how the radio scans.
    ///
    /// A scan is `f` or `b` for its mode or `o` if it is off, with `s` for named services and `d` for
    /// duplicates.
    static let compositions = """
        -        -     none
        o        -     none
        os       o     none
        f        -     40/30 active unfiltered
        fs       -     40/30 active unfiltered
        fsd      -     40/30 active unfiltered
        b        -     none
        bs       -     300/30 active filtered 10s
        bsd      -     300/30 active filtered 10s
        bs,bs    -     300/30 active filtered 10s
        bs,f     -     40/30 active unfiltered
        bs,o     -     300/30 active filtered 10s
        -        f     40/30 passive filtered 10s
        -        b     300/30 passive filtered 10s
        -        b,b   300/30 passive filtered 10s
        -        b,f   40/30 passive filtered 10s
        b        b     300/30 passive filtered 10s
        bs       b     300/30 active filtered 10s
        bs       f     40/30 active filtered 10s
        f        b     40/30 active unfiltered
        os       b     300/30 passive filtered 10s
        """

    @Test(arguments: compositions.split(separator: "\n").map(String.init))
    func `apps and pending connections share one scan`(row: String) throws {
        let words = row.split(separator: " ").map(String.init)
        let scan = PhoneScanning().compose(Self.scans(words[0]), wanted: Self.wanted(words[1]))
        #expect(Self.text(scan) == words.dropFirst(2).joined(separator: " "))
        #expect(scan.obstacle == nil)
    }

    private static func scans(_ text: String) -> [AppScan] {
        text.split(separator: ",").filter { $0 != "-" }.map { word in
            AppScan(
                services: word.contains("s") ? ["180D"] : [], allowsDuplicates: word.contains("d"),
                mode: mode(word))
        }
    }

    private static func wanted(_ text: String) -> [WantedLink] {
        text.split(separator: ",").filter { $0 != "-" }.enumerated().map { index, word in
            WantedLink(.device(UInt64(index)), mode: mode(word))
        }
    }

    private static func mode(_ word: Substring) -> ScanMode {
        switch word.first {
        case "f": .foreground
        case "b": .background
        default: .off
        }
    }

    private static func text(_ scan: PhoneScan) -> String {
        guard let options = scan.options else { return scan.filterRestart == nil ? "none" : "?" }
        let times = [options.interval, options.window].map {
            "\($0.components.attoseconds / 1_000_000_000_000_000)"
        }
        var words = [times.joined(separator: "/")]
        words.append(options.isActive ? "active" : "passive")
        words.append(options.allowsDuplicates ? "unfiltered" : "filtered")
        if let restart = scan.filterRestart { words.append("\(restart.components.seconds)s") }
        return words.joined(separator: " ")
    }

    @Test func `each app learns what of its scan is in force, and what is left out`() {
        let everything = AppScan(allowsDuplicates: true)
        let named = AppScan(services: ["180D"], allowsDuplicates: true)
        func part(_ scan: AppScan, _ mode: ScanMode) -> String {
            var scan = scan
            scan.mode = mode
            let part = PhoneScanning().compose([AppScan(services: ["180F"]), scan]).apps[1]
            return
                ([part.isInForce ? "on" : "off", part.allowsDuplicates ? "every" : "once"]
                + part.omitted.map(\.item)).joined(separator: " ")
        }
        #expect(part(everything, .foreground) == "on every")
        #expect(part(named, .foreground) == "on every")
        #expect(part(everything, .background) == "off once services allowDuplicates")
        #expect(part(named, .background) == "on once allowDuplicates")
        #expect(part(everything, .off) == "off once")
        #expect(part(AppScan(services: ["180D"]), .background) == "on once")
        #expect(part(AppScan(solicited: ["180D"]), .background) == "off once services")
    }

    @Test func `a device that several apps wait for is listened for once, in the order of the first`() {
        let wanted = [3, 1, 3, 2].map { WantedLink(.device($0), mode: .background) }
        let scan = PhoneScanning().compose([], wanted: wanted + [WantedLink(.device(9), mode: .off)])
        #expect(scan.listensFor == [.device(3), .device(1), .device(2)])
    }

    @Test
    func `a controller that cannot scan beside a link or advertising does not, and the reason is named`() {
        var phone = PhoneScanning()
        phone.scansBesideLinks = false
        phone.scansBesideAdvertising = false
        func scan(_ hasLinks: Bool, _ isAdvertising: Bool, _ scans: [AppScan] = [AppScan()]) -> PhoneScan {
            phone.compose(scans, hasLinks: hasLinks, isAdvertising: isAdvertising)
        }
        #expect(scan(true, false).obstacle == .link && scan(true, false).options == nil)
        #expect(scan(false, true).obstacle == .advertising && scan(false, true).options == nil)
        #expect(scan(true, true).obstacle == .link)
        #expect(scan(false, false).obstacle == nil && scan(false, false).options != nil)
        #expect(scan(true, true, []).obstacle == nil, "nothing is wanted")
        let able = PhoneScanning().compose([AppScan()], hasLinks: true, isAdvertising: true)
        #expect(able.obstacle == nil && able.options != nil)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `any scans and connections are served as the slowest rule that fits allows`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let scans = (0..<Int.random(in: 0...3, using: &random)).map { _ in random.scan() }
            let wanted = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                WantedLink(.device(.random(in: 0...3, using: &random)), mode: random.mode())
            }
            let scan = PhoneScanning().compose(scans, wanted: wanted)
            #expect(scan.apps.count == scans.count)
            let finds = scans.filter {
                $0.mode == .foreground || $0.mode == .background && !$0.services.isEmpty
            }
            let listened = wanted.filter { $0.mode != .off }
            #expect(Set(scan.listensFor) == Set(listened.map(\.address)))
            #expect(Set(scan.listensFor).count == scan.listensFor.count)
            #expect((scan.options == nil) == (finds.isEmpty && listened.isEmpty))
            guard let options = scan.options else { continue }
            let hasForeground = finds.contains { $0.mode == .foreground }
            let isFast = hasForeground || listened.contains { $0.mode == .foreground }
            #expect(options.interval == (isFast ? .milliseconds(40) : .milliseconds(300)))
            #expect(options.window == .milliseconds(30) && options.isActive == !finds.isEmpty)
            #expect(options.allowsDuplicates == hasForeground && (scan.filterRestart == nil) == hasForeground)
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func mode() -> ScanMode { ScanMode.allCases.randomElement(using: &self) ?? .off }

    fileprivate mutating func scan() -> AppScan {
        AppScan(
            services: Bool.random(using: &self) ? ["180D"] : [],
            allowsDuplicates: Bool.random(using: &self), mode: mode())
    }
}
