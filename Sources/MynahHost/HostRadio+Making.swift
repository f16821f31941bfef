public import MynahCore
public import MynahHCI

extension PeripheralRadio where Self == HostRadio {
    /// Makes a radio on a simulated medium, which is called the air.
    ///
    /// The radio is on `air`, or on the air that all processes of this user share if `air` is `nil`. The
    /// radio has no public address, so it generates a static random address when it starts. Throws a
    /// `RadioError` if this process cannot join the shared air.
    public static func virtual(
        on air: SharedAir? = nil, options: HostRadioOptions = HostRadioOptions()
    ) throws(RadioError) -> HostRadio {
        let air = if let air { air } else { try SharedAir() }
        return HostRadio(transport: air.transport(cipher: ControllerConfiguration.aes), options: options)
    }
}

extension HostRadio {
    /// Makes a radio on the controller with an address such as `tcp-client:127.0.0.1:6402`.
    ///
    /// The radio connects to the controller when it starts. If the address is invalid, throws a `RadioError`
    /// that lists the valid forms.
    public init(controller address: String, options: Options = Options()) throws(RadioError) {
        self.init(transport: try HCITransportAddress(parsing: address).transport(), options: options)
    }
}
