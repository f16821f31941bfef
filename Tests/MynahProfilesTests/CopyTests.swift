import MynahCore
import Testing

@testable import MynahProfiles

@Suite struct CopyTests {
    private static func problem(_ text: String, count: Int) throws -> String? {
        let profile = try profile(text)
        do throws(ProfileIssues) {
            _ = try profile.copies(count)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `copies have a number in each of their names`() throws {
        let copies = try profile(
            head("device: {name: Strap}\nadvertising: {localName: HRM}\n")
        ).copies(3)
        #expect(copies.map(\.name) == ["Test 1", "Test 2", "Test 3"])
        #expect(copies.map(\.device.name) == ["Strap 1", "Strap 2", "Strap 3"])
        #expect(copies.map(\.advertising?.advertisement.localName) == ["HRM 1", "HRM 2", "HRM 3"])
    }

    @Test(arguments: ["", "advertising: {localName: \"\"}\n"])
    func `a name that is not advertised gets no number`(advertising: String) throws {
        let own = try profile(head(advertising))
        let copy = try own.copies(1)[0]
        #expect(copy.device.name == "Test 1")
        #expect(copy.advertising?.advertisement == own.advertising?.advertisement)
    }

    @Test func `each copy has its own seed, and the same one in each run`() throws {
        let own = try profile(head(""))
        let seeds = try own.copies(100).map { $0.deviceSeed(7) }
        #expect(Set(seeds).count == 100)
        #expect(try own.copies(3).map { $0.deviceSeed(7) } == Array(seeds[..<3]))
        #expect(try own.copies(1)[0].deviceSeed(8) != seeds[0])
        // A profile alone has the values that it always had.
        #expect(own.deviceSeed(7) == 7)
    }

    /// 31 bytes, of which the Flags take 3, the services 6 and the head of the name 2.
    private static let advertised = "advertising:\n  serviceUUIDs: [180D, 180F]\n  localName: "

    @Test(arguments: [
        // In the advertising data there is room for 20 bytes.
        (String(repeating: "n", count: 18), 9, nil),
        (
            String(repeating: "n", count: 18), 10,
            "is 1 byte too long: the advertising data has room for a name of 20 bytes"
        ),
        (
            String(repeating: "n", count: 20), 10_000,
            "is 6 bytes too long: the advertising data has room for a name of 20 bytes"
        ),
        // The name was in the scan response, and stays there.
        (String(repeating: "n", count: 21), 1000, nil),
        (
            String(repeating: "n", count: 28), 1,
            "is 1 byte too long: the scan response has room for a name of 29 bytes"
        ),
    ])
    func `every copy fits into the payload that the profile alone fits into`(
        name: String, count: Int, message: String?
    ) throws {
        let problem = try Self.problem(head(Self.advertised + name + "\n"), count: count)
        guard let message else {
            #expect(problem == nil)
            return
        }
        let error = try #require(problem)
        #expect(error.hasPrefix("device.yaml:5:14: error: the copy's name \"\(name) \(count)\" \(message); "))
        #expect(error.contains("; shorten it, leave something else out, or write localName: \"\"\n"))
    }

    @Test func `an advertised name that comes from the device is located there`() throws {
        let text = head("device: {name: A name of twenty-six bytes}\nadvertising: {}\n")
        let problem = try #require(try Self.problem(text, count: 1))
        let name = "\"A name of twenty-six bytes 1\""
        #expect(problem.hasPrefix("device.yaml:3:16: error: the copy's name \(name) is 2 bytes too long: "))
    }

    @Test func `a device's name has at most 248 bytes, its number included`() throws {
        let text = head("device: {name: \(String(repeating: "n", count: 246))}\n")
        #expect(try Self.problem(text, count: 9) == nil)
        let problem = try #require(try Self.problem(text, count: 10))
        #expect(problem.hasPrefix("device.yaml:3:16: error: "))
        #expect(problem.contains("is 1 byte too long: the device's name can have 248 bytes; shorten it"))
    }
}
