import MynahSupport

// The requests about the time of the run.
extension Route {
    static let clock: [Route] = [
        Route(
            "GET", "/v1/clock", .getClock, "The clock of the run, and its time",
            answers: [200: Answer("The clock", .named("Clock"), example: Examples.clock)]),
        Route(
            "POST", "/v1/clock/advance", .advanceClock,
            "Moves the time of --clock manual, and answers when what is due by then is done",
            body: Body(
                schema: .object([.init("by", .named("Duration"), isRequired: true)]),
                example: .object([.init("by", "15 min")])),
            answers: [
                200: Answer(
                    "The time has moved", .object(clockMembers + [advanced]),
                    example: .object(Examples.clockMembers + [.init("advanced", "15 min")])),
                408: Answer.problem(
                    "The time has moved, but not as far", .named("AdvanceProblem"),
                    example: .object(
                        [
                            .init("title", "Request Timeout"), .init("status", .integer(408)),
                            .init(
                                "detail",
                                """
                                the clock advanced by 20 min of 1 h, because it took 60 s of real time; \
                                advance again to go on
                                """),
                        ] + Examples.clockMembers + [.init("advanced", "20 min")])),
            ]),
    ]

    static let clockMembers: [Schema.Property] = [
        .init("clock", .word(["real", "fast", "manual"]), isRequired: true),
        .init("now", .string(format: "date-time"), isRequired: true),
    ]

    static let advanced = Schema.Property("advanced", .named("Duration"), isRequired: true)
}
