import MynahCore
import Testing

@Suite struct AssignedNumbersTests {
    @Test func `the names that profiles use most have the SIG's numbers`() {
        #expect(AssignedNumbers.service(named: "heart-rate") == "180D")
        #expect(AssignedNumbers.service(named: "battery-service") == "180F")
        #expect(AssignedNumbers.characteristic(named: "body-sensor-location") == "2A38")
        #expect(AssignedNumbers.characteristic(named: "temperature-measurement") == "2A1C")
        #expect(AssignedNumbers.descriptor(named: "characteristic-presentation-format") == "2904")
        #expect(AssignedNumbers.appearance(named: "heart-rate-belt") == 0x0341)
        #expect(AssignedNumbers.service(named: "hart-rate") == nil)
    }

    @Test func `every name finds its number and every number its name`() {
        for name in AssignedNumbers.serviceNames {
            #expect(AssignedNumbers.service(named: name).flatMap { AssignedNumbers.name(of: $0) } == name)
        }
        for name in AssignedNumbers.characteristicNames {
            #expect(
                AssignedNumbers.characteristic(named: name).flatMap { AssignedNumbers.name(of: $0) } == name)
        }
        for name in AssignedNumbers.descriptorNames {
            #expect(AssignedNumbers.descriptor(named: name).flatMap { AssignedNumbers.name(of: $0) } == name)
        }
    }

    @Test func `no name is there twice`() {
        for names in [
            AssignedNumbers.serviceNames, AssignedNumbers.characteristicNames,
            AssignedNumbers.descriptorNames,
            AssignedNumbers.appearanceNames,
        ] { #expect(Set(names).count == names.count) }
    }
}
