import MynahProfiles
import MynahSupport

// The requests about the phone of an app.
extension Route {
    static let phone: [Route] = [
        Route(
            "POST", "/v1/devices/{device}/alert", .alert,
            """
            Shows a notification on the phone of an app, changes the one with the UID, or removes one; the \
            phone's name is a device's too
            """,
            body: Body(
                schema: .object(
                    Profile.PhoneNotification.textKeys.map { .init($0, .string()) } + [
                        .init(
                            "category", .word(Profile.PhoneNotification.Category.allCases.map(\.rawValue))),
                        .init(
                            "flags",
                            .array(.word(Profile.PhoneNotification.Flag.allCases.map(\.rawValue)), longest: 2)
                        ),
                        .init("uid", uid), .init("remove", uid),
                    ]),
                example: .object([.init("message", "Are you there?"), .init("title", "Anna")])),
            answers: [
                200: Answer(
                    "The notification", .object([.init("uid", uid, isRequired: true)]),
                    example: .object([.init("uid", .integer(1))]))
            ])
    ]

    private static let uid = Schema.integer(0...Int(UInt32.max))
}
