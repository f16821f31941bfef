import MynahCore
import Testing

@Suite struct DefinitionRuleTests {
    static func service(_ change: (inout ServiceDefinition) -> Void) -> ServiceDefinition {
        var service = ServiceDefinition(
            uuid: "180F", characteristics: [CharacteristicDefinition(uuid: "2A19", properties: [.read])])
        change(&service)
        return service
    }

    static func refusal(_ services: [ServiceDefinition]) -> String? {
        do {
            try DefinitionRules.check(services)
            return nil
        } catch {
            return error.code == .servicesRefused ? error.message : "another code"
        }
    }

    @Test func `a batch that breaks no rule is taken`() {
        let included = Self.service { $0.isPrimary = false }
        let service = Self.service {
            $0.includes = [included.key]
            $0.characteristics = [
                CharacteristicDefinition(
                    uuid: "2A19", properties: [.read, .notify], value: Array(repeating: 1, count: 512),
                    descriptors: [
                        DescriptorDefinition(uuid: "2901", properties: [.read, .write]),
                        DescriptorDefinition(uuid: "2904", value: Array(repeating: 1, count: 512)),
                    ])
            ]
        }
        #expect(Self.refusal([included, service]) == nil)
        #expect(Self.refusal([]) == nil)
    }

    @Test(arguments: ["1800", "00001801-0000-1000-8000-00805F9B34FB"] as [BluetoothUUID])
    func `the radio's own services are refused in any spelling`(uuid: BluetoothUUID) {
        #expect(Self.refusal([Self.service { $0.uuid = uuid }])?.contains("the radio adds the") == true)
    }

    @Test(arguments: ["2902", "00002900"] as [BluetoothUUID])
    func `the radio's own descriptors are refused in any spelling`(uuid: BluetoothUUID) {
        let service = Self.service {
            $0.characteristics[0].descriptors = [DescriptorDefinition(uuid: uuid)]
        }
        #expect(Self.refusal([service])?.contains("the radio adds the") == true)
    }

    @Test func `an included service comes before the one that includes it`() {
        let other = Self.service { _ in }
        let service = Self.service { $0.includes = [other.key] }
        #expect(Self.refusal([service, other])?.contains("does not come before") == true)
        #expect(Self.refusal([service])?.contains("does not come before") == true)
        let itself = Self.service { $0.includes = [$0.key] }
        #expect(Self.refusal([itself])?.contains("does not come before") == true)
        #expect(Self.refusal([other, service]) == nil)
    }

    @Test func `no key is repeated in a batch`() {
        let service = Self.service { _ in }
        #expect(Self.refusal([service, service]) == "a service is published twice")
        let twice = Self.service { $0.characteristics.append($0.characteristics[0]) }
        #expect(Self.refusal([twice]) == "the characteristic 2A19 is repeated")
        let descriptor = DescriptorDefinition(uuid: "2901")
        let descriptors = Self.service { $0.characteristics[0].descriptors = [descriptor, descriptor] }
        #expect(Self.refusal([descriptors]) == "the descriptor 2901 of 2A19 is repeated")
    }

    static let broken: [@Sendable (inout CharacteristicDefinition) -> Void] = [
        { $0.properties = [] },
        { $0.value = Array(repeating: 0, count: 513) },
        {
            $0.properties = [.read, .write]
            $0.value = [1]
        },
        {
            $0.properties = [.read, .authenticatedSignedWrites]
            $0.value = []
        },
        { $0.maximumLength = -1 },
        { $0.maximumLength = 513 },
        { $0.descriptors = [DescriptorDefinition(uuid: "2901", properties: [])] },
        { $0.descriptors = [DescriptorDefinition(uuid: "2901", properties: [.notify])] },
        { $0.descriptors = [DescriptorDefinition(uuid: "2901", value: Array(repeating: 0, count: 513))] },
        { $0.descriptors = [DescriptorDefinition(uuid: "2901", properties: [.read, .write], value: [1])] },
        { $0.descriptors = [DescriptorDefinition(uuid: "2901", maximumLength: -1)] },
        { $0.descriptors = [DescriptorDefinition(uuid: "2901", maximumLength: 513)] },
    ]

    @Test(arguments: broken.indices)
    func `a characteristic that cannot be is refused by name`(index: Int) {
        let service = Self.service { Self.broken[index](&$0.characteristics[0]) }
        #expect(Self.refusal([service])?.contains("2A19") == true)
    }
}
