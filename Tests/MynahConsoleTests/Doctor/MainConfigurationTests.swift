import MynahConsole
import Testing

/// bluetoothd's main.conf, and the commands that change it.
@Suite struct MainConfigurationTests {
    private func file(_ text: String) -> MainConfiguration {
        MainConfiguration(path: "/etc/bluetooth/main.conf", text: text)
    }

    @Test func `settings are read by group, and comments are none`() {
        let file = file("Name = A\r\n[General]\n  Name=B = C  \n#Privacy = off\n[GATT]\nChannels = 1\n")
        #expect(file["General", "Name"] == "B = C")
        #expect(file["", "Name"] == "A")
        #expect(file["General", "Privacy"] == nil)
        #expect(file["GATT", "Channels"] == "1")
        #expect(file["General", "Channels"] == nil)
    }

    @Test func `the last of two settings counts, and other lines are passed over`() {
        let file = file("[General]\nControllerMode = le\n= 7\nno setting\n[\n]\nControllerMode = bredr")
        #expect(file["General", "ControllerMode"] == "bredr")
    }

    @Test func `a setting that is there, or is there as a comment, is replaced`() {
        for text in [
            "[General]\nPrivacy = device\n", "[General]\n# Privacy = off\n", "[General]\n#Privacy=off",
        ] {
            #expect(
                file(text).command("General", "Privacy", "off")
                    == "sudo sed -i -E 's/^[# ]*Privacy *=.*/Privacy = off/' /etc/bluetooth/main.conf"
                    + " && sudo systemctl restart bluetooth")
        }
    }

    @Test func `a setting that is missing is added to its group, and a group to its file`() {
        #expect(
            file("[General]\n").command("General", "Privacy", "off").hasPrefix(
                #"sudo sed -i '/^\[General\]/a Privacy = off' /etc/bluetooth/main.conf"#))
        #expect(
            file("").command("GATT", "Channels", "1").hasPrefix(
                #"printf '[GATT]\nChannels = 1\n' | sudo tee -a /etc/bluetooth/main.conf"#))
    }
}
