public import MynahCore

extension HostRadio: PeripheralRadio, CentralRadio {}
