import MynahEmulator
import MynahProfiles
import MynahSupport

// The time of the run.
extension ControlAPI {
    /// The JSON members for the clock's name and its time.
    var clockMembers: [JSON.Member] {
        [.init("clock", .string(clock.name)), .init("now", .string(WallTime.now(clock).rfc3339))]
    }

    func advanceClock(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let wanted = try Self.duration(try call.body())
        guard let time = clock.manual else {
            throw ControlProblem(
                409,
                """
                the clock is \(clock.name), whose time moves by itself; start the run with --clock manual to \
                advance it
                """)
        }
        let advanced = await time.advance(by: wanted)
        let members = clockMembers + [.init("advanced", .string(advanced.text))]
        guard advanced < wanted else { return .json(.object(members)) }
        let reason =
            if time.isOverdue {
                "it took \(requestLimit.text) of real time; advance again to go on"
            } else if time.isOver {
                "the run ends"
            } else {
                "the request was cancelled"
            }
        throw ControlProblem(
            408, "the clock advanced by \(Self.rounded(advanced)) of \(wanted.text), because \(reason)",
            members)
    }

    /// Returns a time as text, rounded to the digits that matter for its size.
    private static func rounded(_ time: Duration) -> String {
        let seconds = time.components.seconds
        if seconds >= 6000 { return Duration.seconds(seconds / 60 * 60).text }
        return seconds >= 100 ? Duration.seconds(seconds).text : time.text
    }

    private static func duration(_ body: ControlBody) throws(ControlProblem) -> Duration {
        guard let text = try body.text("by") else {
            throw ControlProblem(400, "\"by\" is missing, as in {\"by\": \"15 min\"}")
        }
        guard text.first(where: { $0 != " " }) != "-" else {
            throw ControlProblem(
                400, "\"by\" is \(ControlProblem.shortened(text)), and time does not go back")
        }
        do throws(DurationText.Problem) {
            return try DurationText.parse(text)
        } catch {
            throw ControlProblem(400, "\"by\" \(error.message)")
        }
    }
}
