import MynahCore
import MynahHCI
import MynahTestSupport
import Testing

@testable import MynahHost

/// The rules of a controller, as far as advertising goes.
private struct ModelController {
    var isOn = false
    var parameters: HostAdvertiser.Parameters?
    var data: [UInt8]?
    var scanResponse: [UInt8]?
    var address: DeviceAddress?
    var periodicInterval: ClosedRange<UInt16>?
    var periodicData: [UInt8]?
    var isPeriodic = false
    var links = 0
    /// Whether it advertises beside a link.
    var doesBoth = true

    mutating func take(_ step: HostAdvertiser.Step) -> CommandOutcome {
        switch step {
        case .setParameters(let parameters):
            guard !isOn else { return .refused(.commandDisallowed) }
            self.parameters = parameters
        case .setAddress(let address):
            guard !isOn else { return .refused(.commandDisallowed) }
            self.address = address
        case .setData(let fragment):
            guard !isOn || fragment.operation == .complete else { return .refused(.commandDisallowed) }
            data = Self.joined(data, fragment)
        case .setScanResponse(let fragment):
            guard !isOn || fragment.operation == .complete else { return .refused(.commandDisallowed) }
            scanResponse = Self.joined(scanResponse, fragment)
        case .enable:
            guard doesBoth || links == 0 else { return .refused(.connectionLimitExceeded) }
            isOn = true
        case .disable: isOn = false
        // While periodic advertising is enabled, only whole data can be set (Vol 4, Part E, 7.8.61, 7.8.62).
        case .setPeriodicParameters(let interval):
            guard !isPeriodic else { return .refused(.commandDisallowed) }
            periodicInterval = interval
        case .setPeriodicData(let fragment):
            guard periodicInterval != nil, !isPeriodic || fragment.operation == .complete else {
                return .refused(.commandDisallowed)
            }
            periodicData = Self.joined(periodicData, fragment)
        case .enablePeriodic:
            guard periodicInterval != nil else { return .refused(.commandDisallowed) }
            isPeriodic = true
        case .disablePeriodic: isPeriodic = false
        }
        return .done
    }

    private static func joined(_ held: [UInt8]?, _ fragment: HostAdvertiser.Fragment) -> [UInt8] {
        switch fragment.operation {
        case .complete, .first: fragment.bytes
        case .intermediate, .last: (held ?? []) + fragment.bytes
        }
    }
}

@Suite struct HostAdvertiserTests {
    typealias Configuration = HostAdvertiser.Configuration

    static let first = Configuration(parameters: .init(interval: 160...160), data: [1], scanResponse: [11])
    static let second = Configuration(parameters: .init(interval: 290...320), data: [2], scanResponse: [])
    static let home = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
    static let moved = DeviceAddress(value: 0x40_0000_0000_02, kind: .random)

    static func load(_ configuration: Configuration) -> [HostAdvertiser.Step] {
        var parameters = configuration.parameters
        parameters.addressKind = 1
        return [
            .setParameters(parameters), .setAddress(home), .setData(whole(configuration.data)),
            .setScanResponse(whole(configuration.scanResponse)), .enable,
        ]
    }

    static func whole(_ bytes: [UInt8]) -> HostAdvertiser.Fragment {
        HostAdvertiser.Fragment(of: bytes, after: [])
    }

    /// Answers every step with success, and returns the steps.
    static func run(_ machine: inout HostAdvertiser) -> [HostAdvertiser.Step] {
        var steps: [HostAdvertiser.Step] = []
        while let step = machine.next() {
            #expect(machine.next() == nil, "a second step is sent while one is under way")
            machine.finished(.done)
            steps.append(step)
            guard steps.count < 50 else {
                Issue.record("it never ends")
                break
            }
        }
        return steps
    }

    /// A machine that advertises the first configuration.
    static func advertising() -> HostAdvertiser {
        var machine = HostAdvertiser()
        machine.began(home)
        let number = machine.want(first)
        #expect(run(&machine) == load(first))
        #expect(machine.verdict(on: number) == .onAir)
        return machine
    }

    @Test func `nothing is done without a controller or without a request`() {
        var machine = HostAdvertiser()
        let number = machine.want(Self.first)
        #expect(machine.next() == nil)
        #expect(machine.verdict(on: number) == .lost)
        machine = HostAdvertiser()
        machine.began(Self.home)
        #expect(machine.next() == nil)
    }

    @Test func `a change sets only what differs, and parameters while advertising is off`() {
        var machine = Self.advertising()
        var changed = Self.first
        changed.data = [7]
        _ = machine.want(changed)
        #expect(Self.run(&machine) == [.setData(Self.whole([7]))])
        changed.parameters.isConnectable = false
        _ = machine.want(changed)
        let steps = Self.run(&machine)
        #expect(steps.first == .disable && steps.last == .enable)
        _ = machine.want(changed)
        #expect(Self.run(&machine) == [])
        machine.stop()
        #expect(Self.run(&machine) == [.disable])
        _ = machine.want(changed)
        #expect(Self.run(&machine) == [.enable])
    }

    @Test func `a controller that comes back is given everything`() {
        var machine = Self.advertising()
        machine.ended()
        #expect(machine.next() == nil)
        machine.began(Self.home)
        #expect(Self.run(&machine) == Self.load(Self.first))
    }

    @Test func `after a central connects or leaves, advertising goes on`() {
        var machine = Self.advertising()
        machine.linkBegan(.peripheral)
        #expect(Self.run(&machine) == [.enable])
        machine.linkEnded(.peripheral)
        #expect(Self.run(&machine) == [])
        // A link that our central made does not end advertising.
        machine.linkBegan(.central)
        #expect(Self.run(&machine) == [])
    }

    @Test func `the address changes while advertising is off`() {
        var machine = Self.advertising()
        machine.hold()
        #expect(Self.run(&machine) == [.disable])
        machine.linkBegan(.peripheral)
        #expect(Self.run(&machine) == [])
        machine.release(Self.moved)
        #expect(Self.run(&machine) == [.setAddress(Self.moved), .enable])
    }

    @Test func `with as many centrals as it takes nothing is advertised until one has left`() {
        var machine = HostAdvertiser()
        machine.largestCentralCount = 2
        machine.began(Self.home)
        let number = machine.want(Self.first)
        #expect(Self.run(&machine).last == .enable)
        machine.linkBegan(.peripheral)
        #expect(Self.run(&machine) == [.enable])
        // Whether advertising was enabled before the link began or after it is not known.
        machine.linkBegan(.central)
        machine.linkBegan(.peripheral)
        #expect(Self.run(&machine) == [])
        _ = machine.want(Self.second)
        #expect(!Self.run(&machine).contains(.enable))
        _ = machine.want(Self.first)
        #expect(!Self.run(&machine).contains(.enable))
        machine.linkEnded(.central)
        #expect(Self.run(&machine) == [])
        machine.linkEnded(.peripheral)
        #expect(Self.run(&machine).last == .enable)
        #expect(machine.verdict(on: number) != .onAir)
    }

    @Test func `advertising that a link which makes the device full leaves in doubt is turned off`() {
        var machine = HostAdvertiser()
        machine.largestCentralCount = 1
        machine.began(Self.home)
        _ = machine.want(Self.first)
        while let step = machine.next() {
            if step == .enable { machine.linkBegan(.peripheral) }
            machine.finished(.done)
            if step == .enable { break }
        }
        #expect(Self.run(&machine) == [.disable])
    }

    @Test func `an advertisement that the controller refuses is given up, and no link event brings it back`()
    {
        for refused in Self.load(Self.first) {
            var machine = HostAdvertiser()
            machine.began(Self.home)
            let number = machine.want(Self.first)
            while let step = machine.next() {
                machine.finished(step == refused ? .refused(.invalidCommandParameters) : .done)
            }
            #expect(machine.verdict(on: number) == .refused(refused, .invalidCommandParameters))
            machine.linkBegan(.peripheral)
            #expect(machine.next() == nil)
            machine.linkEnded(.peripheral)
            #expect(machine.next() == nil)
            // The next request is another matter.
            let next = machine.want(Self.second)
            #expect(Self.run(&machine) == Self.load(Self.second))
            #expect(machine.verdict(on: next) == .onAir)
        }
    }

    @Test
    func `parameters that are refused because advertising is on are set after it is switched off, once`() {
        var machine = HostAdvertiser()
        machine.began(Self.home)
        let number = machine.want(Self.first)
        #expect(machine.next() == Self.load(Self.first)[0])
        machine.finished(.refused(.commandDisallowed))
        #expect(machine.next() == .disable)
        machine.finished(.done)
        #expect(machine.next() == Self.load(Self.first)[0])
        machine.finished(.refused(.commandDisallowed))
        #expect(machine.next() == nil)
        #expect(machine.verdict(on: number) == .refused(Self.load(Self.first)[0], .commandDisallowed))
    }

    @Test(arguments: [0x07, 0x09, 0x0C, 0x0D] as [UInt8])
    func `a controller that cannot advertise beside a link is asked again when one ends`(code: UInt8) {
        var machine = Self.advertising()
        machine.linkBegan(.peripheral)
        #expect(machine.next() == .enable)
        machine.finished(.refused(HCIStatus(code)))
        #expect(machine.next() == nil)
        let number = machine.want(Self.second)
        while let step = machine.next() {
            machine.finished(step == .enable ? .refused(HCIStatus(code)) : .done)
        }
        #expect(machine.verdict(on: number) == .waitsForLinkEnd)
        machine.linkEnded(.peripheral)
        #expect(Self.run(&machine) == [.enable])
        #expect(machine.verdict(on: number) == .onAir)
    }

    @Test func `a request that is replaced while its step is under way is not blamed on the next`() {
        var machine = HostAdvertiser()
        machine.began(Self.home)
        let old = machine.want(Self.first)
        #expect(machine.next() == Self.load(Self.first)[0])
        let new = machine.want(Self.second)
        machine.finished(.refused(.invalidCommandParameters))
        #expect(Self.run(&machine) == Self.load(Self.second))
        #expect(machine.verdict(on: old) == .replaced)
        #expect(machine.verdict(on: new) == .onAir)
    }

    // MARK: Every event at every step

    enum Happening: CaseIterable {
        case connected, disconnected, wantFirst, wantSecond, stop, hold, lost
    }

    /// Where a happening falls: before the controller takes the command, or after that and before its answer.
    enum Moment: CaseIterable {
        case beforeCommand, beforeAnswer
    }

    @Test(arguments: Happening.allCases, [true, false])
    func `after any event during any step, the controller's state is as requested`(
        happening: Happening, doesBoth: Bool
    ) {
        var cases = 0
        for moment in Moment.allCases {
            // A change from the first to the second has six steps; a seventh happening comes after the last.
            for place in 0...6 {
                for startsLinked in [false, true] {
                    var scene = Scene(
                        happening, moment, place, startsLinked: startsLinked, doesBoth: doesBoth)
                    scene.play()
                    cases += 1
                }
            }
        }
        #expect(cases == 28)
    }

    private struct Scene {
        let happening: Happening
        let moment: Moment
        let place: Int
        var machine = HostAdvertiser()
        var controller = ModelController()
        var wanted: Configuration? = second
        var address = home
        var isHeld = false

        init(
            _ happening: Happening, _ moment: Moment, _ place: Int, startsLinked: Bool, doesBoth: Bool
        ) {
            self.happening = happening
            self.moment = moment
            self.place = place
            controller.doesBoth = doesBoth
            machine.began(home)
            _ = machine.want(first)
            settle(at: nil)
            if startsLinked {
                happen(.connected)
                settle(at: nil)
            }
        }

        mutating func play() {
            _ = machine.want(second)
            settle(at: place)
            if isHeld {
                #expect(!controller.isOn, "\(self)")
                controller.address = moved
                address = moved
                machine.release(moved)
                settle(at: nil)
            }
            // A controller that cannot do both is waited for.
            if !controller.doesBoth, controller.links > 0, wanted != nil {
                #expect(!controller.isOn, "\(self)")
                while controller.links > 0 { happen(.disconnected) }
                settle(at: nil)
            }
            #expect(controller.isOn == (wanted != nil), "\(self)")
            guard let wanted else { return }
            #expect(controller.parameters?.interval == wanted.parameters.interval, "\(self)")
            #expect(controller.data == wanted.data, "\(self)")
            #expect(controller.scanResponse == wanted.scanResponse, "\(self)")
            #expect(controller.address == address, "\(self)")
        }

        /// Runs until nothing is left to do; the happening falls on the step with this number, or after the
        /// last.
        private mutating func settle(at place: Int?) {
            var count = 0
            var isDue = place != nil
            while true {
                guard let step = machine.next() else {
                    guard isDue else { return }
                    isDue = false
                    happen(happening)
                    continue
                }
                let isNow = isDue && count == place
                if isNow, moment == .beforeCommand { happen(happening) }
                let outcome = controller.take(step)
                if isNow, moment == .beforeAnswer { happen(happening) }
                if isNow { isDue = false }
                machine.finished(outcome)
                count += 1
                guard count < 60 else {
                    Issue.record("it never ends: \(self)")
                    return
                }
            }
        }

        private mutating func happen(_ happening: Happening) {
            switch happening {
            case .connected:
                guard controller.isOn else { return }
                controller.isOn = false
                controller.links += 1
                machine.linkBegan(.peripheral)
            case .disconnected:
                guard controller.links > 0 else { return }
                controller.links -= 1
                machine.linkEnded(.peripheral)
            case .wantFirst:
                wanted = first
                _ = machine.want(first)
            case .wantSecond: _ = machine.want(second)
            case .stop:
                wanted = nil
                machine.stop()
            case .hold:
                isHeld = true
                machine.hold()
            case .lost:
                machine.ended()
                let doesBoth = controller.doesBoth
                controller = ModelController()
                controller.doesBoth = doesBoth
                machine.began(home)
            }
        }
    }
}
