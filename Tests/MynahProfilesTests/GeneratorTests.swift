import MynahCore
import MynahProfiles
import Testing

@Suite struct GeneratorTests {
    private func generator(
        _ fields: String, seed: UInt64 = 1, every: Duration = .seconds(1)
    ) throws -> any ValueGenerator {
        let profile = try profile(
            characteristic("properties: [notify]\n        value: {generate: heart-rate\(fields)}\n"))
        guard case .generated(let definition) = profile.services.first?.characteristics.first?.value else {
            throw NotGenerated()
        }
        return definition.makeGenerator(for: GeneratorRun(seed: seed, interval: every))
    }

    private struct NotGenerated: Error {}

    private func values(_ generator: any ValueGenerator) -> [[UInt8]] {
        (0..<120).map { generator.value(at: $0) }
    }

    @Test("the same seed gives the same values, another gives others")
    func seeds() throws {
        let values = try values(generator(""))
        #expect(try self.values(generator("")) == values)
        #expect(try self.values(generator("", seed: 2)) != values)
    }

    @Test("a value depends on its tick alone, not on what was asked before")
    func independent() throws {
        let generator = try generator("")
        let late = generator.value(at: 77)
        _ = values(generator)
        #expect(generator.value(at: 77) == late)
    }

    @Test("a rate of one byte follows flags that say so, and stays between its bounds")
    func oneByte() throws {
        let values = try values(generator(", min: 60, max: 100"))
        #expect(values.allSatisfy { $0.count == 2 && $0[0] == 0x00 && (60...100).contains($0[1]) })
        #expect(Set(values).count > 10)
    }

    @Test("a rate above 255 takes two bytes, the lower first, and flags say so")
    func twoBytes() throws {
        let values = try values(generator(", min: 200, max: 300, period: 10 s"))
        #expect(values.allSatisfy { $0.count == 3 && $0[0] == 0x01 })
        let rates = values.map { Int($0[1]) | Int($0[2]) << 8 }
        #expect(rates.allSatisfy { (200...300).contains($0) })
        #expect(rates.contains { $0 > 255 })
    }

    @Test("a rate that cannot move does not")
    func constant() throws {
        #expect(try Set(values(generator(", min: 72, max: 72"))) == [[0x00, 72]])
    }

    @Test("it swings: a quarter of its period above the middle, three quarters below")
    func swings() throws {
        let generator = try generator(", min: 0, max: 200, period: 40 s")
        #expect(generator.value(at: 10)[1] > 190)
        #expect(generator.value(at: 30)[1] < 10)
    }

    @Test("any tick can be asked for")
    func extremes() throws {
        for every: Duration in [.milliseconds(1), .seconds(366 * 24 * 3600)] {
            let generator = try generator(", min: 0, max: 65535, period: 1 ms", seed: .max, every: every)
            #expect(generator.value(at: .max).count == 3)
            #expect(generator.value(at: 0).count == 3)
        }
    }
}
