import Testing

@testable import MynahConsole

@Suite struct ScreenSectionTests {
    @Test(arguments: [
        (10, [3, 4], [3, 4]), (6, [3, 4], [3, 3]), (7, [2, 9, 9], [2, 3, 2]), (5, [0, 9], [0, 5]),
        (2, [9, 9, 9], [1, 1, 0]), (0, [3], [0]), (-4, [3], [0]), (5, [], []),
    ])
    func `rows are divided evenly, and what one does not need goes to the others`(
        rows: Int, wanted: [Int], given: [Int]
    ) {
        #expect(ScreenSection.divide(rows, among: wanted) == given)
    }

    @Test func `items that do not fit are counted, and none is shown in part`() {
        let section = ScreenSection(
            noun: ("device", "devices"), items: [["a", "a2"], ["b", "b2"], ["c", "c2"]])
        #expect(section.lines(rows: 6) == ["a", "a2", "b", "b2", "c", "c2"])
        #expect(section.lines(rows: 5) == ["a", "a2", "b", "b2", "and 1 more device"])
        #expect(section.lines(rows: 4) == ["a", "a2", "and 2 more devices"])
        #expect(section.lines(rows: 1) == ["and 3 more devices"])
        #expect(section.lines(rows: 0) == [])
    }

    @Test func `items that are not laid out are hidden, and take a row each`() {
        let section = ScreenSection(noun: ("device", "devices"), items: [["a"], ["b"]], hidden: 7)
        #expect(section.height == 9)
        #expect(section.lines(rows: 2) == ["a", "and 8 more devices"])
        #expect(section.lines(rows: 3) == ["a", "b", "and 7 more devices"])
    }
}
