import ArgumentParser
import MynahConsole
import MynahControl
import MynahProfiles
import MynahSupport

struct CtlAlert: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "alert", abstract: "Shows a notification on a phone, or removes one.",
        discussion: """
            The profile of an app of the phone needs phone: {services: [ancs]}. Prints the UID of the \
            notification.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(help: "The app, or its phone by name.", completion: CtlHelp.devices) var device: String
    @Argument(help: "The text of the notification.") var text: String?
    @Option(help: "Its title.") var title: String?
    @Option(help: "Its subtitle.") var subtitle: String?
    @Option(help: "The identifier of the app that it is from, as in com.apple.MobileSMS.") var app: String?
    @Option(
        help: "Its category. Default: other.",
        completion: .list(Profile.PhoneNotification.Category.allCases.map(\.rawValue)))
    var category: String?
    @Option(help: "The label of its positive action.") var positiveAction: String?
    @Option(help: "The label of its negative action.") var negativeAction: String?
    @Flag(help: "It makes no sound.") var silent = false
    @Flag(help: "It is important.") var important = false
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Replaces the notification with this UID.", valueName: "uid"),
        transform: { try Choice.number($0, in: 0...UInt32.max) })
    var replace: UInt32?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Removes the notification with this UID.", valueName: "uid"),
        transform: { try Choice.number($0, in: 0...UInt32.max) })
    var remove: UInt32?
    @OptionGroup var options: CtlOptions

    func validate() throws {
        guard (remove == nil) != (text == nil) else {
            throw ValidationError("give a text or --remove")
        }
        guard remove == nil || members.isEmpty else {
            throw ValidationError("--remove goes with no other option")
        }
    }

    /// The notification as members of a JSON object, without its text.
    private var members: [JSON.Member] {
        let texts = [
            ("title", title), ("subtitle", subtitle), ("app", app), ("category", category),
            ("positiveAction", positiveAction), ("negativeAction", negativeAction),
        ]
        let flags = [("silent", silent), ("important", important)].filter(\.1).map { JSON.string($0.0) }
        return texts.compactMap { key, text in text.map { JSON.Member(key, .string($0)) } }
            + (flags.isEmpty ? [] : [.init("flags", .array(flags))])
            + (replace.map { [.init("uid", .integer(Int($0)))] } ?? [])
    }

    func request() -> ControlClient.Request {
        let content: [JSON.Member] = text.map { [.init("message", .string($0))] + members } ?? []
        let removed: [JSON.Member] = remove.map { [.init("remove", .integer(Int($0)))] } ?? []
        return request("POST", device: device, ["alert"], content + removed)
    }

    func lines(_ answer: JSON) -> [String] { [answer["uid"]?.text ?? ""] }
}
