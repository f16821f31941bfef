import MynahCore
import MynahSupport

@testable import MynahHost

extension FuzzTarget {
    /// A server: for all PDUs, each answer fits the MTU, and its queue is bounded.
    static let attServer = FuzzTarget("att-server") { bytes in
        var server = ATTServer()
        var database = AttributeDatabase()
        let text = CharacteristicDefinition(
            uuid: "2A19", properties: [.read, .notify],
            descriptors: [DescriptorDefinition(uuid: "2901", value: Array("Level".utf8))])
        let control = CharacteristicDefinition(
            uuid: "FFF1", properties: [.read, .write, .writeWithoutResponse, .indicate])
        let secret = CharacteristicDefinition(
            uuid: "6D796E61-0201-4C61-8000-6C6162000000",
            properties: [.read, .write, .authenticatedSignedWrites],
            permissions: AttributePermissions(read: .encrypted, write: .authenticated))
        let long = CharacteristicDefinition(uuid: "FFF3", properties: [.read, .write], value: Array(0..<200))
        let first = ServiceDefinition(uuid: "180F", characteristics: [text])
        _ = database.publish([first])
        _ = database.publish([
            ServiceDefinition(uuid: "FFF0", includes: [first.key], characteristics: [control, secret, long])
        ])
        var security = LinkSecurity()
        for (kind, body) in Steps(bytes) {
            let actions: [ATTAction]
            switch kind {
            case 1: actions = server.answered(.success(body), database, security)
            case 2:
                actions = server.answered(.failure(ATTError(code: body.first ?? 0)), database, security)
            case 3:
                guard let pdu = server.indicate(AttributeHandle(rawValue: UInt16(body.first ?? 0)), body)
                else { continue }
                actions = [.send(Array(pdu.prefix(server.mtu)))]
            case 4:
                server.databaseChanged()
                continue
            case 5:
                security.isEncrypted.toggle()
                security.isAuthenticated = body.first == 1
                continue
            default: actions = server.receive(body, database, security)
            }
            var answers = 0
            for case .send(let pdu) in actions {
                precondition(!pdu.isEmpty && pdu.count <= server.mtu, "a PDU has no length that it can have")
                answers += 1
            }
            precondition(answers <= 1, "one PDU is answered by several")
            precondition(server.prepared.entries.count <= PrepareQueue.limit)
            precondition(server.client.configurations.count <= database.attributes.count)
        }
    }

    /// A client in each procedure: an answer brings it on or ends it, and it asks one thing at a time.
    static let attClient = FuzzTarget("att-client") { bytes in
        guard let first = bytes.first else { return }
        var client = ATTClient()
        if first & 0x80 != 0 { client.bearer.mtu = 517 }
        let ended = Lock([0, 0, 0])
        for offset in 0..<3 {
            var actions: [ATTClient.Action] = []
            let kind = (first & 0x7F) &+ UInt8(offset)
            procedure(kind).add(to: &client, &actions) {
                ended.withLock { $0[offset] += 1 }
            }
            check(actions, of: client)
        }
        for (kind, body) in Steps(bytes.dropFirst()) {
            var actions: [ATTClient.Action] = []
            if kind == 0xFF && body.isEmpty {
                client.timedOut(client.transaction)
            } else {
                client.receive(body, into: &actions)
            }
            check(actions, of: client)
            precondition(ended.withLock { $0.allSatisfy { $0 <= 1 } }, "one procedure ends twice")
        }
    }

    private static func check(_ actions: [ATTClient.Action], of client: ATTClient) {
        var requests = 0
        for case .send(let pdu) in actions {
            precondition(!pdu.isEmpty && pdu.count <= max(client.bearer.mtu, 517))
            if pdu[0] != 0x1E { requests += 1 }
        }
        precondition(requests <= 1, "it asks several things at once")
    }

    private static func procedure(_ kind: UInt8) -> any GATTProcedure {
        switch kind % 12 {
        case 0: ServiceDiscovery()
        case 1: ServiceDiscovery(of: "180D")
        case 2: ServiceDiscovery.secondary
        case 3: IncludeDiscovery(in: 1...0xFFFF)
        case 4: CharacteristicDiscovery(in: 1...0xFFFF)
        case 5: DescriptorDiscovery(in: 2...0x0100)
        case 6: ValueRead(3)
        case 7: ValueWrite(3, [1, 2, 3])
        case 8: ValueWrite(3, Array(repeating: 7, count: 60))
        case 9: MTUExchange(ownMTU: 517)
        case 10: ServiceChangedSubscription()
        default: ServiceDiscovery(of: "0F0E0D0C-0B0A-0908-0706-050403020100")
        }
    }
}

extension GATTProcedure {
    /// Adds it to a client, and looks at its value.
    fileprivate func add(
        to client: inout ATTClient, _ actions: inout [ATTClient.Action], ended: @escaping @Sendable () -> Void
    ) {
        client.add(self, into: &actions) { result in
            ended()
            if case .success(let bytes as [UInt8]) = result.map({ $0 as any Sendable }) {
                precondition(bytes.count <= GATT.maximumValueLength)
            }
        }
    }
}
