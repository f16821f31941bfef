import MynahControl
import MynahEmulator
import MynahSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventPagesTests {
    /// The pages that a journal answers with, taken until none is wanted, and their number.
    private func take(_ pages: inout EventPages, of journal: Journal) async throws -> Int {
        var count = 0
        while let target = pages.target {
            let query = try #require(target.split(separator: "?").last)
            let items = query.split(separator: "&").map { item in
                let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
                return (
                    name: parts[0], value: parts[1].replacing("%20", with: " ").replacing("%3D", with: "=")
                )
            }
            pages.add(try await EventsQuery(items).page(of: journal).json)
            count += 1
        }
        return count
    }

    private func numbers(_ answer: JSON) -> [Int] {
        (answer["events"]?.arrayValue ?? []).compactMap { $0["seq"]?.integerValue }
    }

    @Test(arguments: [(9_999, 1), (10_000, 2), (25_000, 3)])
    func `more events than a page has are listed, each once`(count: Int, pages: Int) async throws {
        let journal = Events.journal((1...count).map { Events.numbered($0) }, capacity: count)
        var all = EventPages()
        #expect(try await take(&all, of: journal) == pages)
        #expect(numbers(all.answer) == Array(1...count))
        #expect(all.answer["next"] == .integer(count + 1))
        #expect(all.answer["lost"] == nil)
    }

    @Test func `the pages have the events that match, from a number on`() async throws {
        let journal = Events.journal((1...50).map { $0 % 2 == 0 ? Events.write("01") : Events.numbered($0) })
        var pages = EventPages(since: 11, match: "write value=01", limit: 3)
        #expect(pages.target == "/v1/events?limit=3&since=11&match=write%20value%3D01")
        #expect(pages.streamTarget == "/v1/events?since=11&match=write%20value%3D01")
        #expect(EventPages().streamTarget == "/v1/events")
        _ = try await take(&pages, of: journal)
        #expect(numbers(pages.answer) == Array(stride(from: 12, through: 50, by: 2)))
    }

    @Test func `events that are not kept any more are counted`() async throws {
        let journal = Events.journal((1...50).map { Events.numbered($0) }, capacity: 10)
        var pages = EventPages(since: 1, limit: 3)
        _ = try await take(&pages, of: journal)
        #expect(numbers(pages.answer) == Array(41...50))
        #expect(pages.answer["lost"] == .integer(40))
    }

    @Test(
        arguments: [
            "[]", "{}", #"{"events": 1}"#, #"{"events": [1], "next": 7}"#, #"{"events": [1]}"#,
            #"{"events": [1], "next": -1}"#,
        ])
    func `a page that leads nowhere is the last one`(text: String) throws {
        var pages = EventPages(since: 7, limit: 1)
        pages.add(try JSON(parsing: Array(text.utf8)))
        #expect(pages.target == nil)
    }
}
