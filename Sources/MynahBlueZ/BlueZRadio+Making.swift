public import MynahCore

extension PeripheralRadio where Self == BlueZRadio {
    /// A radio on bluetoothd.
    public static func bluez(options: BlueZOptions = BlueZOptions()) -> BlueZRadio {
        BlueZRadio(options: options)
    }
}
