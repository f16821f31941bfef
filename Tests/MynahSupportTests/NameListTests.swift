import MynahSupport
import Testing

@Suite struct NameListTests {
    @Test(
        arguments: [
            ([], ""), (["A"], "A"), (["A", "B"], "A, B"), ((1...8).map { "\($0)" }, "1, 2, 3, 4, 5, 6, 7, 8"),
            ((1...9).map { "\($0)" }, "1, 2, 3, 4, 5, 6, 7, 8 and 1 more"),
            ((1...10_000).map { "\($0)" }, "1, 2, 3, 4, 5, 6, 7, 8 and 9992 more"),
        ] as [([String], String)])
    func `a message names eight and counts the others`(names: [String], text: String) {
        #expect(NameList.text(names) == text)
    }
}
