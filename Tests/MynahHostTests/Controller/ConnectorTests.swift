import MynahCore
import MynahHCI
import Testing

@testable import MynahHost

@Suite struct ConnectorTests {
    private func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(value: number, kind: .random) }

    /// A connector with requests for these addresses on a controller that is idle.
    private func connector(_ addresses: UInt64...) -> Connector {
        var connector = Connector()
        connector.began()
        for each in addresses { _ = connector.want(address(each), onAir: address(each)) }
        return connector
    }

    /// Answers every step with success, and returns the steps.
    private func run(_ connector: inout Connector) -> [Connector.Step] {
        var steps: [Connector.Step] = []
        while let step = connector.next(), steps.count < 50 {
            #expect(connector.next() == nil, "a second step is sent while one is under way")
            #expect(connector.finished(.done) == nil)
            steps.append(step)
        }
        return steps
    }

    @Test func `one peripheral is connected to by its address, and nothing follows`() {
        var connector = connector(1)
        #expect(run(&connector) == [.create(address(1))])
        #expect(!connector.isQuiet)
        #expect(connector.connected(to: address(1))?.number == 1)
        #expect(run(&connector) == [])
        #expect(connector.isQuiet && connector.addresses == [])
    }

    @Test func `several are connected to by the filter accept list`() {
        var connector = connector(1, 2, 3)
        let list: [Connector.Step] =
            [.clearAcceptList] + [1, 2, 3].map { .accept(address($0)) } + [.create(nil)]
        #expect(run(&connector) == list)
        #expect(connector.connected(to: address(2))?.number == 2)
        #expect(
            run(&connector) == [.clearAcceptList, .accept(address(1)), .accept(address(3)), .create(nil)])
    }

    @Test func `a further request has the attempt cancelled and begun again for both`() {
        var connector = connector(1)
        #expect(run(&connector) == [.create(address(1))])
        _ = connector.want(address(2), onAir: address(2))
        #expect(run(&connector) == [.cancel])
        #expect(connector.isCancelling)
        #expect(connector.attemptEnded(HCIStatus(0x02)) == nil)
        #expect(
            run(&connector) == [.clearAcceptList, .accept(address(1)), .accept(address(2)), .create(nil)])
    }

    @Test func `a request that comes while the accept list is filled begins it again`() {
        var connector = connector(1, 2)
        #expect(connector.next() == .clearAcceptList)
        _ = connector.want(address(3), onAir: address(3))
        #expect(connector.finished(.done) == nil)
        #expect(
            run(&connector) == [.clearAcceptList] + [1, 2, 3].map { .accept(address($0)) } + [.create(nil)])
    }

    @Test func `more than the controller's list takes wait for their turn`() {
        var connector = connector(1, 2, 3, 4, 5, 6, 7, 8)
        #expect(run(&connector).count == 10)
        _ = connector.want(address(9), onAir: address(9))
        #expect(run(&connector) == [])
        #expect(connector.connected(to: address(1))?.number == 1)
        #expect(run(&connector).contains(.accept(address(9))))
    }

    @Test func `a connection that was made before it was cancelled counts`() {
        var connector = connector(1)
        _ = run(&connector)
        _ = connector.want(address(2), onAir: address(2))
        #expect(connector.next() == .cancel)
        #expect(connector.connected(to: address(1))?.number == 1)
        #expect(connector.finished(.refused(.commandDisallowed)) == nil)
        #expect(run(&connector) == [.create(address(2))])
    }

    @Test
    func `a request that was given up is cancelled, and a connection that comes all the same is not wanted`()
    {
        var connector = connector(1)
        _ = run(&connector)
        let first = connector.giveUp(1)
        let second = connector.giveUp(1)
        #expect(first && !second)
        #expect(run(&connector) == [.cancel])
        #expect(connector.connected(to: address(1)) == nil)
        #expect(run(&connector) == [])
    }

    @Test func `a connection to a third address is given to none of the two that wait`() {
        var connector = connector(1, 2)
        _ = run(&connector)
        #expect(connector.connected(to: address(3)) == nil)
        #expect(connector.addresses == [address(1), address(2)])
    }

    @Test func `a refused command fails for all its requests, and the next one is tried`() {
        for refused in 0..<4 {
            var connector = connector(1, 2)
            for _ in 0..<refused {
                _ = connector.next()
                #expect(connector.finished(.done) == nil)
            }
            let step = connector.next()
            let failure = connector.finished(.refused(.commandDisallowed))
            #expect(failure == .init(numbers: [1, 2], status: .commandDisallowed, step: step))
            _ = connector.want(address(3), onAir: address(3))
            #expect(run(&connector) == [.create(address(3))])
        }
    }

    @Test func `an attempt that ends by itself fails its requests`() {
        var connector = connector(1)
        _ = run(&connector)
        _ = connector.want(address(2), onAir: address(2))
        let failure = connector.attemptEnded(HCIStatus(0x3C))
        #expect(failure == .init(numbers: [1], status: HCIStatus(0x3C), step: nil))
        #expect(run(&connector) == [.create(address(2))])
    }

    @Test
    func `a peripheral's new address replaces the old one in its request, and in no other request`() {
        var connector = connector(1)
        _ = run(&connector)
        connector.moved(address(2), to: address(7))
        #expect(run(&connector) == [])
        connector.moved(address(1), to: address(7))
        #expect(run(&connector) == [.cancel])
        #expect(connector.attemptEnded(HCIStatus(0x02)) == nil)
        #expect(run(&connector) == [.create(address(7))])
        connector.moved(address(1), to: nil)
        #expect(run(&connector) == [.cancel])
        #expect(connector.connected(to: address(1))?.number == 1)
    }

    @Test func `a report of the end that never comes is not waited for for ever`() {
        var connector = connector(1)
        _ = run(&connector)
        _ = connector.want(address(2), onAir: address(2))
        _ = run(&connector)
        connector.cancelOverdue()
        #expect(run(&connector).last == .create(nil))
        connector.cancelOverdue()
        #expect(run(&connector) == [])
    }

    @Test func `while it is held nothing is initiated`() {
        var connector = connector(1)
        _ = run(&connector)
        connector.hold()
        #expect(run(&connector) == [.cancel])
        #expect(!connector.isQuiet)
        #expect(connector.attemptEnded(HCIStatus(0x02)) == nil)
        #expect(run(&connector) == [] && connector.isQuiet)
        connector.release()
        #expect(run(&connector) == [.create(address(1))])
    }

    @Test func `a controller that is lost fails every request, and the next begins with none`() {
        var connector = connector(1, 2)
        _ = connector.next()
        #expect(connector.ended() == [1, 2])
        #expect(connector.finished(.done) == nil)
        #expect(connector.next() == nil && connector.isQuiet)
        connector.began()
        #expect(connector.next() == nil)
    }
}
