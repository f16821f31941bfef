import MynahLifecycle
import MynahSupport

/// The name of a manager's preserved state: its app's name and its restore identifier, which is unique within
/// the app only.
struct PreservedName: Hashable {
    /// The app's name.
    var app: String
    var restoreIdentifier: String
    /// The manager's role.
    var role = BluetoothRole.peripheral

    /// The name of the file, without a directory; the file's content repeats the names.
    var fileName: String {
        let names = [app, restoreIdentifier].map { FileNamePart.escape($0, 100) }
        return "\(role.rawValue)+\(names.joined(separator: "+")).json"
    }

    /// The file's name in earlier versions of Mynah, without the app's name, or `nil` if they had no such
    /// file.
    var formerFileName: String? {
        role == .peripheral ? "peripheral-\(FileNamePart.escape(restoreIdentifier, 180)).json" : nil
    }
}
