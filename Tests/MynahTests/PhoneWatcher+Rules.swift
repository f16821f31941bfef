import MynahCore

// The rules.
extension PhoneWatcher {
    /// The rules that it judges.
    static let rules: Set<Int> = [
        1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 16, 17, 29, 30, 31, 32, 34, 35, 37, 39, 40, 44, 45, 51,
        52, 55, 57, 58, 59, 60, 62, 65, 66, 67, 69, 71, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93,
        95, 96, 97, 98, 100, 101,
    ]

    /// The rules that it does not judge, and why.
    ///
    /// `RuleTableTests` names the tests of each.
    static let unjudged: [Int: String] = [
        9: "it keeps one queue for each app, and looks for no order between roles",
        15: "its devices have no overflow area",
        18: "it asks whether something is advertised, and not what",
        19: "it asks whether something is advertised, and not what",
        20: "it asks whether something is advertised, and not how often",
        21: "it asks whether something is advertised, and not what",
        22: "its apps send no values",
        23: "profiles start and stop their work by their user, and its apps are code",
        24: "no time passes in a history",
        25: "no time passes in a history",
        26: "no time passes in a history",
        27: "its apps are code, which may do anything when they are woken",
        28: "no time passes in a history",
        33: "each of its apps has one manager of each role",
        36: "profiles go on with their work, and its apps are code",
        38: "profiles end their scans, and its apps are code",
        41: "profiles look for what they name, and its apps are code",
        42: "profiles read and subscribe, and its apps are code",
        43: "profiles disconnect when they are done, and its apps are code",
        46: "its apps find their devices by their addresses",
        47: "its apps find their devices by their addresses",
        48: "its apps find their devices by their addresses",
        49: "its devices keep their addresses",
        50: "its apps find their devices by their addresses",
        53: "it compares values as they come, and not what a characteristic keeps",
        54: "a history has one spelling of each UUID",
        56: "profiles make their requests again, and its apps are code",
        61: "its devices are no centrals",
        63: "its apps send no values",
        64: "profiles are stopped by their user, and its apps are code",
        68: "the radio answers static values by itself, and its radio has none",
        70: "the ATT_MTU is the radio's, and its radio is no Bluetooth host",
        72: "its radio encrypts no links of centrals",
        73: "ANCS has no part in the life of apps",
        74: "ANCS has no part in the life of apps",
        75: "ANCS has no part in the life of apps",
        76: "ANCS has no part in the life of apps",
        77: "AMS has no part in the life of apps",
        78: "AMS has no part in the life of apps",
        79: "AMS has no part in the life of apps",
        80: "its centrals have no bonds",
        94: "connection parameters are the radio's, and its radio is no Bluetooth host",
        99: "its devices have no overflow area",
        102: "it asks whether something is advertised, and not what",
        103: "a history is one run",
        104: "its apps do not use AccessorySetupKit",
        105: "its apps do not use AccessorySetupKit",
        106: "its apps do not use AccessorySetupKit",
        107: "its apps do not use AccessorySetupKit",
        108: "its apps do not use AccessorySetupKit",
        109: "its apps do not use AccessorySetupKit",
        110: "it asks whether something is advertised, and not what",
        111: "it asks whether something is advertised, and not what",
    ]

    /// Generic Access, Generic Attribute, Human Interface Device, Bond Management and ANCS.
    static let hiddenServices: Set<BluetoothUUID> = [
        "1800", "1801", "1812", "181E", "7905F431-B5CE-4E99-A40F-4B1E122D00D0",
    ]
}
