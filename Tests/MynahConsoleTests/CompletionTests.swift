import MynahConsole
import Testing

@Suite struct CompletionTests {
    @Test(arguments: [
        ("re", ["read"], Completion.insert("ad ")), ("", ["read", "rssi"], .insert("r")),
        ("r", ["read", "rssi"], .list(["read", "rssi"])), ("read", ["read"], .insert(" ")),
        ("read hea", ["heart-rate-a", "heart-rate-b"], .insert("rt-rate-")),
        ("read HEA", ["heart-rate"], .insert("rt-rate ")), ("read x", ["heart-rate"], .none),
        ("read ", ["2A37"], .insert("2A37 ")), ("read", [], .none),
        // A candidate with spaces continues from where it begins.
        ("read Body S", ["Body Sensor Location"], .insert("ensor Location ")),
        ("read Body ", ["Body Sensor", "Body Size"], .insert("S")),
        ("読 心", ["心拍 計", "心拍 数"], .insert("拍 ")),
    ])
    func `the Tab key inserts what all candidates have in common, and lists them otherwise`(
        before: String, candidates: [String], completion: Completion
    ) {
        #expect(Completion.of(before, by: candidates) == completion)
    }

    private static let names = [
        "appearance", "body-sensor-location", "device name", "heart-rate-measurement", "心拍計", "2A38",
    ]

    @Test(arguments: [120, 80, 40, 24, 23, 10])
    func `candidates are laid out in columns, and each is whole`(width: Int) {
        let lines = Completion.columns(Self.names, width: width)
        #expect(lines.allSatisfy { DisplayWidth.of($0) < width || Self.names.contains($0) })
        // Two columns are two spaces apart or more, and a candidate has single ones.
        let found = lines.flatMap { $0.split(separator: "  ").map { $0.drop { $0 == " " } } }.map(String.init)
        #expect(found.sorted() == Self.names.sorted())
    }

    @Test func `columns are read downwards and stand below each other`() {
        #expect(
            Completion.columns(Self.names, width: 50) == [
                "appearance              heart-rate-measurement",
                "body-sensor-location    心拍計",
                "device name             2A38",
            ])
        #expect(Completion.columns([], width: 80) == [])
    }
}
