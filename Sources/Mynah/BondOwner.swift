/// The owner of a bond file in the state directory.
package enum BondOwner: Hashable, Sendable {
    /// An accessory, by its label in this run.
    case accessory(String)
    /// The phone of a run, with all its apps.
    case phone
    /// The central of `mynah connect`.
    case connect

    /// The name of the owner's bond file.
    ///
    /// The name of an accessory's file contains a `+`, so no label can collide with another file.
    var fileName: String {
        switch self {
        case .accessory(let label): "bonds+\(FileNamePart.escape(label, 200)).json"
        case .phone: "bonds-phone.json"
        case .connect: "bonds-connect.json"
        }
    }

    /// The name of a device's bond file in earlier versions of Mynah.
    ///
    /// `place` is the position of the device on the command line, counted from 0.
    static func formerFileName(at place: Int) -> String {
        "bonds\(place == 0 ? "" : "-\(place + 1)").json"
    }
}
