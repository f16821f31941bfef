import MynahDBus

/// A property of Adapter1 that the radio sets.
enum AdapterProperty: Hashable {
    case powered(Bool)
    case alias(String)
    case pairable(Bool)

    /// The property's name.
    var name: String {
        switch self {
        case .powered: "Powered"
        case .alias: "Alias"
        case .pairable: "Pairable"
        }
    }

    var value: DBusValue {
        switch self {
        case .powered(let isOn), .pairable(let isOn): .bool(isOn)
        case .alias(let alias): .string(alias)
        }
    }

    /// The change of the property as a phrase for an error message, as in "refused naming the adapter".
    var doing: String {
        switch self {
        case .powered(let isOn): isOn ? "turning the adapter on" : "turning the adapter off"
        case .alias: "naming the adapter"
        case .pairable: "allowing to pair"
        }
    }
}
