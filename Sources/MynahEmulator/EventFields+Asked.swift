import MynahCore
import MynahSupport

// Requests that a test answers.
extension EventFields {
    /// A read that a test is asked to answer.
    static func of(asked id: Int, _ read: ReadRequest) -> [JSON.Member] {
        of(id, .read, offset: read.offset)
    }

    /// A part of a write that a test is asked to answer.
    static func of(asked id: Int, _ part: WriteRequest.Part) -> [JSON.Member] {
        of(id, .write, offset: part.offset) + [.init("value", .string(Hex.encode(part.value)))]
    }

    /// A request that nobody answered.
    static func of(unanswered id: Int, _ by: RefusedRequest.Access, because reason: String) -> [JSON.Member] {
        of(id, by, offset: 0) + [
            .init("error", code(.unlikelyError)), .init("because", .string(reason)),
        ]
    }

    private static func of(_ id: Int, _ by: RefusedRequest.Access, offset: Int) -> [JSON.Member] {
        let fields: [JSON.Member] = [.init("id", .integer(id)), .init("by", .string(by.rawValue))]
        return fields + (offset > 0 ? [.init("offset", .integer(offset))] : [])
    }
}
