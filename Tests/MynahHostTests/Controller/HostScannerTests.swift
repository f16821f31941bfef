import MynahCore
import MynahHCI
import Testing

@testable import MynahHost

@Suite struct HostScannerTests {
    static let fast = ScanOptions()
    static let slow = ScanOptions(isActive: false, interval: .milliseconds(100), window: .milliseconds(20))

    /// Answers every step with success, and returns the steps.
    static func run(_ scanner: inout HostScanner) -> [HostScanner.Step] {
        var steps: [HostScanner.Step] = []
        while let step = scanner.next(), steps.count < 50 {
            #expect(scanner.next() == nil, "a second step is sent while one is under way")
            scanner.finished(.done)
            steps.append(step)
        }
        return steps
    }

    static func scanning() -> HostScanner {
        var scanner = HostScanner()
        scanner.began()
        let number = scanner.want(fast)
        #expect(run(&scanner) == [.setParameters(fast), .enable(fast)])
        #expect(scanner.verdict(on: number) == .scanning && scanner.scanning == fast)
        return scanner
    }

    @Test func `nothing is done without a controller, and everything when there is one`() {
        var scanner = HostScanner()
        let number = scanner.want(Self.fast)
        #expect(scanner.next() == nil && scanner.verdict(on: number) == .lost)
        scanner.began()
        #expect(Self.run(&scanner) == [.setParameters(Self.fast), .enable(Self.fast)])
        #expect(scanner.verdict(on: number) == .scanning)
        scanner.ended()
        #expect(scanner.verdict(on: number) == .lost && scanner.isQuiet)
        scanner.began()
        #expect(Self.run(&scanner) == [.setParameters(Self.fast), .enable(Self.fast)])
    }

    @Test func `the same options begin the scan anew, other options change it, and no request ends it`() {
        var scanner = Self.scanning()
        _ = scanner.want(Self.fast)
        #expect(Self.run(&scanner) == [.disable, .enable(Self.fast)])
        _ = scanner.want(Self.slow)
        #expect(Self.run(&scanner) == [.disable, .setParameters(Self.slow), .enable(Self.slow)])
        scanner.stop()
        #expect(Self.run(&scanner) == [.disable] && scanner.isQuiet)
    }

    @Test func `scanning stops while the controller initiates, if it cannot do both`() {
        var scanner = Self.scanning()
        scanner.pause(true)
        #expect(Self.run(&scanner) == [.disable] && scanner.isQuiet && !scanner.isBusy)
        _ = scanner.want(Self.slow)
        #expect(Self.run(&scanner) == [])
        scanner.pause(false)
        #expect(Self.run(&scanner) == [.setParameters(Self.slow), .enable(Self.slow)])
    }

    @Test func `following scans if nothing else does, and a scan takes its place`() {
        var scanner = HostScanner()
        scanner.began()
        scanner.follow(true)
        let following = HostScanner.following
        #expect(Self.run(&scanner) == [.setParameters(following), .enable(following)])
        _ = scanner.want(Self.fast)
        #expect(Self.run(&scanner) == [.disable, .setParameters(Self.fast), .enable(Self.fast)])
        scanner.stop()
        #expect(Self.run(&scanner) == [.disable, .setParameters(following), .enable(following)])
        scanner.follow(false)
        #expect(Self.run(&scanner) == [.disable])
    }

    @Test func `a refused scan is given up, and the next one is another matter`() {
        for refused in 0..<2 {
            var scanner = HostScanner()
            scanner.began()
            let number = scanner.want(Self.fast)
            for _ in 0..<refused {
                _ = scanner.next()
                scanner.finished(.done)
            }
            let step = scanner.next()
            scanner.finished(.refused(.commandDisallowed))
            #expect(scanner.verdict(on: number) == step.map { .refused($0, .commandDisallowed) })
            #expect(scanner.next() == nil && scanner.wanted == nil)
            let next = scanner.want(Self.slow)
            #expect(Self.run(&scanner) == [.setParameters(Self.slow), .enable(Self.slow)])
            #expect(scanner.verdict(on: next) == .scanning)
        }
    }

    @Test func `refused following is not asked for again until it is wanted anew`() {
        var scanner = HostScanner()
        scanner.began()
        scanner.follow(true)
        _ = scanner.next()
        scanner.finished(.refused(.commandDisallowed))
        #expect(scanner.next() == nil)
        scanner.follow(false)
        scanner.follow(true)
        #expect(Self.run(&scanner).count == 2)
    }

    @Test func `while it is held nothing is on`() {
        var scanner = Self.scanning()
        scanner.hold()
        #expect(!scanner.isQuiet && scanner.isBusy)
        #expect(Self.run(&scanner) == [.disable] && scanner.isQuiet)
        scanner.release()
        #expect(Self.run(&scanner) == [.enable(Self.fast)] && !scanner.isBusy)
    }

    // MARK: Every event at every step

    enum Happening: CaseIterable {
        case wantFast, wantSlow, stop, follow, unfollow, hold, lost
    }

    @Test(arguments: Happening.allCases, [true, false])
    func `after any event during any step, the controller's state is as requested`(
        happening: Happening, beforeAnswer: Bool
    ) {
        // A change from one scan to another has three steps; a fourth place comes after the last.
        for place in 0...3 {
            var scanner = Self.scanning()
            var isOn: ScanOptions? = Self.fast
            var parameters = Self.fast
            func take(_ step: HostScanner.Step) -> CommandOutcome {
                switch step {
                case .setParameters(let options):
                    guard isOn == nil else { return .refused(.commandDisallowed) }
                    parameters = options
                case .enable: isOn = parameters
                case .disable: isOn = nil
                }
                return .done
            }
            func happen() {
                switch happening {
                case .wantFast: _ = scanner.want(Self.fast)
                case .wantSlow: _ = scanner.want(Self.slow)
                case .stop: scanner.stop()
                case .follow: scanner.follow(true)
                case .unfollow: scanner.follow(false)
                case .hold: scanner.hold()
                case .lost:
                    scanner.ended()
                    isOn = nil
                    scanner.began()
                }
            }
            _ = scanner.want(Self.slow)
            var count = 0
            var isDue = true
            while true {
                guard let step = scanner.next() else {
                    guard isDue else { break }
                    isDue = false
                    happen()
                    continue
                }
                let isNow = isDue && count == place
                if isNow { isDue = false }
                if isNow, !beforeAnswer { happen() }
                // A command for a controller that was lost never reaches the next one.
                let outcome = isNow && happening == .lost ? .done : take(step)
                if isNow, beforeAnswer { happen() }
                scanner.finished(outcome)
                count += 1
                guard count < 40 else {
                    Issue.record("it never ends: \(happening) at \(place)")
                    return
                }
            }
            let wanted: ScanOptions? = happening == .hold ? nil : scanner.wanted
            #expect(isOn == wanted, "\(happening) at \(place)")
            #expect(scanner.scanning == isOn, "\(happening) at \(place)")
        }
    }
}
