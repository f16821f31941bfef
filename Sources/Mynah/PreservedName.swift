import MynahLifecycle
import MynahSupport

/// The name of a manager's preserved state: restore identifiers are unique within an app only.
struct PreservedName: Hashable {
    /// The app's name.
    var app: String
    var restoreIdentifier: String
    /// The manager's role.
    var role = BluetoothRole.peripheral

    /// The name of its file, without a directory; the content says what it is of too.
    var fileName: String {
        let names = [app, restoreIdentifier].map { FileNamePart.escape($0, 100) }
        return "\(role.rawValue)+\(names.joined(separator: "+")).json"
    }

    /// The name that the file had before it carried the app's, or `nil` if it always did.
    var formerFileName: String? {
        role == .peripheral ? "peripheral-\(FileNamePart.escape(restoreIdentifier, 180)).json" : nil
    }
}
