/// A device whose bonds a state directory keeps, in a file of its own.
package enum BondOwner: Hashable, Sendable {
    /// An accessory, by its label in the run.
    case accessory(String)
    /// The phone of a run, with all its apps.
    case phone
    /// The phone that `mynah connect` is.
    case connect

    /// The name of its file.
    ///
    /// Only an accessory's has a `+`, so no label gives it the name of another.
    var fileName: String {
        switch self {
        case .accessory(let label): "bonds+\(FileNamePart.escape(label, 200)).json"
        case .phone: "bonds-phone.json"
        case .connect: "bonds-connect.json"
        }
    }

    /// The name that earlier versions gave to the file of the device at a place of the command line, from 0.
    static func formerFileName(at place: Int) -> String {
        "bonds\(place == 0 ? "" : "-\(place + 1)").json"
    }
}
