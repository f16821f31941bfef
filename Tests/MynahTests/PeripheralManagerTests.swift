import Mynah
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct PeripheralManagerTests {
    let radio = FakeRadio()
    let peer = Peer(id: .init(7))
    let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify, .write])

    func phone() async throws -> Phone {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        return phone
    }

    @Test func `updateValue says false when the queue is full and ready when it is not`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        await radio.simulate(.subscribed(rate.key, peer.id, .notification))
        await radio.setRoom(1)
        var events = await manager.events().makeAsyncIterator()
        #expect(try await manager.updateValue([1], for: rate.key))
        #expect(try await !manager.updateValue([2], for: rate.key))
        await radio.simulate(.readyToSend)
        guard case .readyToUpdateSubscribers? = await events.next()?.event else {
            Issue.record("nothing said that there is room")
            return
        }
        #expect(await radio.sent.map(\.value) == [[1]])
    }

    @Test func `a value for nobody is not sent, and is no error`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        #expect(try await manager.updateValue([1], for: rate.key))
        await radio.simulate(.subscribed(rate.key, nil, nil))
        #expect(try await manager.updateValue([2], for: rate.key))
        await radio.simulate(.unsubscribed(rate.key, nil))
        #expect(try await manager.updateValue([3], for: rate.key))
        #expect(await radio.sent.map(\.value) == [[2]])
    }

    @Test func `a value over 512 bytes is an error, not a cut`() async throws {
        let manager = try await phone().makePeripheralManager()
        await #expect(throws: RadioError.self) {
            try await manager.updateValue(Array(repeating: 0, count: 513), for: rate.key)
        }
    }

    @Test func `a subscription ends with its central`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        await radio.simulate(.connected(peer))
        await radio.simulate(.subscribed(rate.key, peer.id, .indication))
        #expect(await manager.subscribers(of: rate.key).map(\.id) == [peer.id])
        await radio.simulate(.disconnected(peer.id))
        #expect(await !manager.hasSubscribers(of: rate.key))
    }

    @Test func `requests through the event sequence are answered once, by its reader`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        let events = await manager.events()
        let reader = Task {
            for await delivered in events where delivered.event.wantsResponse {
                guard case .read(let request, _) = delivered.event else { continue }
                delivered.respond(.success(Array([1, 2, 3].dropFirst(request.offset))))
                return
            }
        }
        let outcome = try await radio.request(
            .read(ReadRequest(central: peer.id, attribute: rate.key, offset: 1)))
        await reader.value
        #expect(outcome == .success([2, 3]))
    }

    @Test func `every reader gets every event, and the first answer counts`() async throws {
        let phone = try await phone()
        let manager = await phone.makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        var readers = [
            await manager.events().makeAsyncIterator(), await manager.events().makeAsyncIterator(),
        ]
        async let outcome = radio.request(.read(ReadRequest(central: peer.id, attribute: rate.key)))
        var answered: [Bool] = []
        for index in readers.indices {
            let delivered = try #require(await readers[index].next())
            #expect(delivered.event.wantsResponse)
            answered.append(delivered.respond(.success([UInt8(index)])))
        }
        #expect(answered == [true, false])
        #expect(try await outcome == .success([0]))
        await phone.stop()
        for index in readers.indices { while await readers[index].next() != nil {} }
    }

    @Test func `a service cannot be added twice, and a second one with its UUID can`() async throws {
        let phone = try await phone()
        let sink = RecordingSink(answer: .answer(.success([1])))
        let managers = [
            await phone.makePeripheralManager(sink: sink), await phone.makePeripheralManager(),
        ]
        let service = ServiceDefinition(uuid: "180D", characteristics: [rate])
        try await managers[0].add(service)
        for manager in managers {
            let error = await #expect(throws: RadioError.self) { try await manager.add(service) }
            #expect(error?.code == .servicesRefused)
            #expect(error?.message.contains("180D") == true)
            #expect(error?.remedy?.contains("new ServiceDefinition") == true)
        }
        let twin = ServiceDefinition(
            uuid: "180D", characteristics: [.init(uuid: "2A37", properties: .read, value: [2])])
        try await managers[1].add(twin)
        await managers[1].removeAllServices()
        #expect(await radio.published.map(\.services) == [[service]])
        let outcome = try await radio.request(
            .read(ReadRequest(central: peer.id, attribute: rate.key)))
        #expect(outcome == .success([1]))
    }

    @Test func `a request that is dropped unanswered gets unlikelyError`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        let events = await manager.events()
        let reader = Task { for await delivered in events where delivered.event.wantsResponse { return } }
        let outcome = try await radio.request(.read(ReadRequest(central: peer.id, attribute: rate.key)))
        await reader.value
        #expect(outcome == .failure(.unlikelyError))
    }

    @Test func `a flood that nobody reads is bounded, and what was missed is said`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        let events = await manager.events()
        let command = WriteRequest(
            central: peer.id, parts: [.init(attribute: rate.key, value: [1])], wantsResponse: false)
        for _ in 0..<5000 { await radio.simulate(.write(command)) }
        var iterator = events.makeAsyncIterator()
        for _ in 0..<4096 { _ = await iterator.next() }
        await radio.simulate(.readyToSend)
        guard case .missed(let count)? = await iterator.next()?.event else {
            Issue.record("nothing said what was missed")
            return
        }
        #expect(count == 904)
        guard case .readyToUpdateSubscribers? = await iterator.next()?.event else {
            Issue.record("the event after the gap was lost")
            return
        }
    }

    @Test func `a request without anyone to hear it gets an error`() async throws {
        let manager = try await phone().makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        let outcome = try await radio.request(.read(ReadRequest(central: peer.id, attribute: rate.key)))
        #expect(outcome == .failure(.unlikelyError))
    }

    @Test func `removing one service of a batch publishes the others again`() async throws {
        let manager = try await phone().makePeripheralManager()
        let heart = ServiceDefinition(uuid: "180D", characteristics: [rate])
        let battery = ServiceDefinition(uuid: "180F")
        try await manager.add([heart, battery])
        try await manager.remove(heart.key)
        #expect(await radio.published.map(\.services) == [[battery]])
        await manager.removeAllServices()
        #expect(await radio.published.isEmpty)
    }

    @Test(arguments: [
        [ServiceDefinition(uuid: "1800")],
        [ServiceDefinition(uuid: "180D", includes: [AttributeKey()])],
        [
            ServiceDefinition(
                uuid: "180D", characteristics: [CharacteristicDefinition(uuid: "2A37", properties: [])])
        ],
        [
            ServiceDefinition(
                uuid: "180D",
                characteristics: [
                    CharacteristicDefinition(
                        uuid: "2A37", properties: [.notify], descriptors: [DescriptorDefinition(uuid: "2902")]
                    )
                ])
        ],
        [
            ServiceDefinition(
                uuid: "180D",
                characteristics: [CharacteristicDefinition(uuid: "2A37", properties: [.write], value: [1])])
        ],
    ])
    func `a batch that breaks a rule is refused before the radio sees it`(services: [ServiceDefinition])
        async throws
    {
        let manager = try await phone().makePeripheralManager()
        await #expect(throws: RadioError.self) { try await manager.add(services) }
        #expect(await radio.published.isEmpty)
    }

    @Test func `stopping the phone ends the event sequence`() async throws {
        let phone = try await phone()
        let manager = await phone.makePeripheralManager()
        let events = await manager.events()
        await phone.stop()
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == 0)
        #expect(await manager.state == .unknown)
    }
}
