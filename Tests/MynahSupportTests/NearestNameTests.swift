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

    @Test func `neighbours that changed places are one edit`() {
        #expect(NearestName.of("ab", among: ["ba"]) == "ba")
        #expect(NearestName.of("ab", among: ["cd"]) == nil)
    }
}
