/// The names of radios in events and on screens.
package enum RadioNames {
    /// The name of the virtual radio.
    package static let virtual = "virtual radio"
}
