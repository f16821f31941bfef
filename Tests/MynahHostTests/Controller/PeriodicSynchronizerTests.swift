import MynahCore
import MynahHCI
import Testing

@testable import MynahHost

@Suite struct PeriodicSynchronizerTests {
    typealias Train = PeriodicSynchronizer.Train

    private static func train(_ set: UInt8) -> Train {
        Train(address: HostAdvertiserTests.home, set: set)
    }

    private static func established(
        _ handle: UInt16, _ set: UInt8, _ status: HCIStatus = .success
    ) -> HCIEventContent {
        .periodicSyncEstablished(
            status,
            LEPeriodicSync(handle: handle, address: HostAdvertiserTests.home, set: set, interval: 80))
    }

    /// A synchronizer that waits for the train of set 1, while the one of set 2 waits for its turn.
    private static func waiting() -> PeriodicSynchronizer {
        var synchronizer = PeriodicSynchronizer()
        synchronizer.want(true)
        for set: UInt8 in [1, 2, 1] { synchronizer.heard(train(set)) }
        #expect(synchronizer.next() == .create(train(1)))
        #expect(synchronizer.next() == nil, "a second step is sent while one is under way")
        synchronizer.finished(.done)
        return synchronizer
    }

    @Test func `nothing is done unless the scan wants periodic advertising`() {
        var synchronizer = PeriodicSynchronizer()
        synchronizer.heard(Self.train(1))
        #expect(synchronizer.next() == nil)
    }

    @Test func `trains are synchronized one after the other, and ended after the scan`() {
        var synchronizer = Self.waiting()
        #expect(synchronizer.next() == nil)
        synchronizer.handle(Self.established(5, 1))
        #expect(synchronizer.next() == .create(Self.train(2)))
        synchronizer.finished(.done)
        synchronizer.handle(Self.established(6, 2))
        // A train that is received is not requested again.
        synchronizer.heard(Self.train(1))
        #expect(synchronizer.next() == nil)
        synchronizer.want(false)
        for handle: UInt16 in [5, 6] {
            #expect(synchronizer.next() == .terminate(handle: handle))
            synchronizer.finished(.done)
        }
        #expect(synchronizer.next() == nil)
    }

    @Test func `a lost train, and one that was not established, is requested when it is heard again`() {
        var synchronizer = Self.waiting()
        synchronizer.handle(Self.established(0, 1, .connectionFailedToBeEstablished))
        #expect(synchronizer.next() == .create(Self.train(2)))
        synchronizer.finished(.done)
        synchronizer.handle(Self.established(6, 2))
        synchronizer.handle(.periodicSyncLost(handle: 6))
        #expect(synchronizer.next() == nil)
        for set: UInt8 in [1, 2] { synchronizer.heard(Self.train(set)) }
        #expect(synchronizer.next() == .create(Self.train(1)))
    }

    @Test func `a refused request gives way to the next`() {
        var synchronizer = PeriodicSynchronizer()
        synchronizer.want(true)
        for set: UInt8 in [1, 2] { synchronizer.heard(Self.train(set)) }
        _ = synchronizer.next()
        synchronizer.finished(.refused(.memoryCapacityExceeded))
        #expect(synchronizer.next() == .create(Self.train(2)))
    }

    @Test func `a device that disappeared does not block the others`() {
        var synchronizer = Self.waiting()
        var count = 0
        while synchronizer.next() == nil, count < 1000 {
            synchronizer.heard(Self.train(2))
            count += 1
        }
        #expect((100..<1000).contains(count))
        synchronizer.finished(.done)
        #expect(synchronizer.next() == nil)
        synchronizer.handle(Self.established(0, 0, HCIStatus(0x44)))
        #expect(synchronizer.next() == .create(Self.train(2)))
    }

    @Test func `the scan ends while a request is pending`() {
        var synchronizer = Self.waiting()
        synchronizer.want(false)
        #expect(synchronizer.next() == .cancel)
        synchronizer.finished(.done)
        #expect(synchronizer.next() == nil)
        // It was established first.
        synchronizer.handle(Self.established(5, 1))
        #expect(synchronizer.next() == .terminate(handle: 5))
    }

    @Test func `reports are joined, and bounded`() {
        var synchronizer = Self.waiting()
        synchronizer.handle(Self.established(5, 1))
        func received(_ bytes: [UInt8], _ progress: LEAdvertisingReport.Progress) -> [UInt8]? {
            synchronizer.received(.init(handle: 5, rssi: nil, progress: progress, data: bytes))?.data
        }
        #expect(received([1], .more) == nil)
        #expect(received([2], .complete) == [1, 2])
        #expect(synchronizer.received(.init(handle: 9, rssi: nil, data: [1])) == nil)
        var longest: [UInt8]?
        for _ in 0..<10 where longest == nil { longest = received(Array(repeating: 7, count: 247), .more) }
        #expect(longest?.count == 1650)
    }
}
