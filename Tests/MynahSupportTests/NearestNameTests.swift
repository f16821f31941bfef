import MynahSupport
import Testing

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("hart-rate", "heart-rate"), ("Heart-Rate", "heart-rate"), ("batery", "battery"),
        ("batetry", "battery"),
    ])
    func `a slip of the hand finds the name that was meant`(word: String, name: String) {
        #expect(NearestName.of(word, among: ["battery", "heart-rate", "glucose"]) == name)
    }

    @Test(arguments: ["", "zebra", "x", "heart-rate-and-much-more"])
    func `a word that is like nothing finds nothing`(word: String) {
        #expect(NearestName.of(word, among: ["battery", "heart-rate"]) == nil)
    }

    @Test func `nobody is asked whether they meant what they wrote`() {
        #expect(NearestName.of("Band", among: ["Band"]) == nil)
        #expect(NearestName.of("Band", among: ["Band", "band"]) == "band")
    }

    @Test func `neighbours that changed places are one edit`() {
        #expect(NearestName.of("ab", among: ["ba"]) == "ba")
        #expect(NearestName.of("ab", among: ["cd"]) == nil)
    }

    @Test func `a letter alone is near no other letter`() {
        #expect(NearestName.of("a", among: ["b"]) == nil)
        #expect(NearestName.of("", among: ["a"]) == nil)
        #expect(NearestName.of("rn", among: ["run"]) == "run")
    }

    @Test func `the nearest of several wins, and of equals the first`() {
        #expect(NearestName.of("reed", among: ["red", "read", "reeds"]) == "red")
        #expect(
            NearestName.of("temperature-measurment", among: ["temperature-type", "temperature-measurement"])
                == "temperature-measurement")
    }

    @Test func `a word of megabytes is near nothing, and soon so`() {
        let word = String(repeating: "heart-rate", count: 1_000_000)
        #expect(
            NearestName.of(word, among: ["heart-rate", String(repeating: "heart-rate", count: 9)]) == nil)
    }

    @Test func `letters outside ASCII are letters`() {
        #expect(NearestName.of("grün", among: ["grun", "blau"]) == "grun")
    }
}
