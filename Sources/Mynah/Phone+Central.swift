public import MynahCore

// The other half of a phone: what its apps find around it.
extension Phone {
    /// Makes a manager for the central's role on the same radio; it is started by itself, after the phone.
    ///
    /// Throws `unsupported` where the radio plays peripherals alone.
    public func makeCentralManager(
        options: CentralManager.Options = CentralManager.Options(), sink: (any CentralManagerSink)? = nil
    ) throws(RadioError) -> CentralManager {
        guard let radio = radio as? any CentralRadio else {
            throw RadioError(.unsupported, "this radio does not play a central")
        }
        return CentralManager(
            radio: radio, identity: identity, options: options, sink: sink, sharesRadio: true)
    }
}
