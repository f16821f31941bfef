import MynahCore
import Testing

@testable import Mynah

@Suite struct SubscriptionTableTests {
    private let rate = CharacteristicDefinition(uuid: "2A37", properties: [.notify])
    private let level = CharacteristicDefinition(uuid: "2A19", properties: [.notify])
    private let one = Peer.ID(1)
    private let two = Peer.ID(2)

    @Test func `an attribute is subscribed while a central or an unnamed one is`() {
        var table = SubscriptionTable()
        #expect(!table.isSubscribed(rate.key))
        table.subscribe(two, to: rate.key)
        table.subscribe(one, to: rate.key)
        table.subscribe(nil, to: rate.key)
        #expect(table.centrals(of: rate.key) == [one, two])
        table.unsubscribe(one, from: rate.key)
        #expect(table.centrals(of: rate.key) == [two])
        table.unsubscribe(two, from: rate.key)
        #expect(table.isSubscribed(rate.key) && table.hasUnnamed(rate.key))
        #expect(table.centrals(of: rate.key) == [])
        table.unsubscribe(nil, from: rate.key)
        #expect(!table.isSubscribed(rate.key) && !table.hasUnnamed(rate.key))
        #expect(table.attributes == [])
    }

    @Test func `a central that subscribes twice is one, and leaves once`() {
        var table = SubscriptionTable()
        table.subscribe(one, to: rate.key)
        table.subscribe(one, to: rate.key)
        #expect(table.centrals(of: rate.key) == [one])
        table.unsubscribe(one, from: rate.key)
        #expect(!table.isSubscribed(rate.key))
    }

    @Test func `unsubscribing from what is not subscribed changes nothing`() {
        var table = SubscriptionTable()
        table.unsubscribe(one, from: rate.key)
        #expect(table.attributes == [])
        table.subscribe(one, to: rate.key)
        table.unsubscribe(two, from: rate.key)
        table.unsubscribe(nil, from: rate.key)
        table.unsubscribe(one, from: level.key)
        #expect(table.centrals(of: rate.key) == [one])
    }

    @Test func `the unnamed leave no named central, and a named one no unnamed`() {
        var table = SubscriptionTable()
        table.subscribe(nil, to: rate.key)
        table.subscribe(one, to: rate.key)
        table.unsubscribe(nil, from: rate.key)
        #expect(table.centrals(of: rate.key) == [one] && !table.hasUnnamed(rate.key))
        table.subscribe(nil, to: rate.key)
        table.forget(one)
        #expect(table.centrals(of: rate.key) == [] && table.hasUnnamed(rate.key))
    }

    @Test func `a central that disconnects leaves every attribute, and others stay`() {
        var table = SubscriptionTable()
        for key in [rate.key, level.key] { table.subscribe(one, to: key) }
        table.subscribe(two, to: level.key)
        table.forget(one)
        #expect(!table.isSubscribed(rate.key))
        #expect(table.centrals(of: level.key) == [two])
        #expect(table.attributes == [level.key])
    }

    @Test func `services that are removed take their subscriptions along, and no others`() {
        var table = SubscriptionTable()
        for key in [rate.key, level.key] { table.subscribe(one, to: key) }
        table.remove([ServiceDefinition(uuid: "180D", characteristics: [rate])])
        #expect(table.attributes == [level.key])
        table.removeAll()
        #expect(table.attributes == [] && !table.isSubscribed(level.key))
    }

    @Test func `attributes come in the order of their keys`() {
        var table = SubscriptionTable()
        for key in [level.key, rate.key] { table.subscribe(one, to: key) }
        #expect(table.attributes == [rate.key, level.key].sorted { $0.rawValue < $1.rawValue })
    }
}
