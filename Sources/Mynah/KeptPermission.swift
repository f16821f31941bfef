import MynahCore
import MynahSupport

/// The permission that a phone's user gave or denied an app, as iOS keeps it over launches and restarts.
///
/// The permission is saved from its first change on. Until then the app has the permission of its
/// description.
struct KeptPermission: KeptContent, Hashable {
    private static let version = 1

    /// The app's name.
    let app: String
    var authorization: BluetoothAuthorization

    init(app: String, _ authorization: BluetoothAuthorization) {
        (self.app, self.authorization) = (app, authorization)
    }

    var fileName: String { "permission+\(FileNamePart.escape(app, 200)).json" }
    var subject: String { "the permission of the app \(app)" }

    var json: JSON {
        .object([
            .init("mynahState", .integer(Self.version)), .init("app", .string(app)),
            .init("authorization", .string(authorization.rawValue)),
        ])
    }

    init(json: JSON, app: String) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard json["app"]?.stringValue == app else { throw .init(description: "it belongs to another app") }
        guard let word = json["authorization"]?.stringValue else {
            throw .init(description: "the authorization is missing")
        }
        guard let authorization = BluetoothAuthorization(rawValue: word) else {
            let words = BluetoothAuthorization.allCases.map(\.rawValue).joined(separator: ", ")
            throw .init(description: "the authorization is \"\(word)\", not one of \(words)")
        }
        self.init(app: app, authorization)
    }
}
