public import MynahCore

extension PeripheralRadio where Self == BlueZRadio {
    /// Makes a radio that uses bluetoothd.
    public static func bluez(options: BlueZOptions = BlueZOptions()) -> BlueZRadio {
        BlueZRadio(options: options)
    }
}
