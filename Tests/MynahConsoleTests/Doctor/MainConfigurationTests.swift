import MynahConsole
import Testing

/// bluetoothd's main.conf, and the commands that change it.
@Suite struct MainConfigurationTests {
    private func file(_ text: String) -> MainConfiguration {
        MainConfiguration(path: "/etc/bluetooth/main.conf", text: text)
    }

    @Test func `settings are read by group, and comments are none`() {
        let file = file("# Name = A\r\n[General]\r\n  Name=B = C  \n#Privacy = off\n[GATT]\t\nChannels = 1\n")
        #expect(file["General", "Name"] == "B = C")
        #expect(file.fault == nil)
        #expect(file["General", "Privacy"] == nil)
        #expect(file["GATT", "Channels"] == "1")
        #expect(file["General", "Channels"] == nil)
    }

    @Test func `the last of two settings counts`() {
        let file = file("[General]\nControllerMode = le\nControllerMode = bredr")
        #expect(file["General", "ControllerMode"] == "bredr")
    }

    /// As g_key_file_load_from_file of GLib 2.74 does with these files.
    @Test(arguments: [
        ("[General]\nPrivacy = device\nno setting\n", 3), ("[General]\n= 7\nPrivacy = device\n", 2),
        ("Privacy = device\n[General]\n", 1), ("[General]\nPrivacy = device\n[\n", 3),
        ("[General]\nPrivacy = device\n[GATT] # all\n", 3), ("[]\nPrivacy = device\n", 1),
        ("[General]\nPri[va]cy = device\n", 2), ("[General]\nPrivacy = device\n[GA[TT]\n", 3),
        ("// x\n[General]\nPrivacy = device", 1),
        ("[General]\nPrivacy = device\n; Name\n", 3), ("[General]\nName [ = a\n\n\n", 2),
    ])
    func `a line that GLib does not accept keeps the whole file from being read`(text: String, line: Int) {
        let file = file(text)
        #expect(file.fault?.line == line)
        #expect(file["General", "Privacy"] == nil)
        #expect(
            file.commandCommentingOut(line: line)
                == "sudo sed -i '\(line)s/^/#/' /etc/bluetooth/main.conf && sudo systemctl restart bluetooth")
    }

    @Test(arguments: [
        "", "\n \n", "# only\n#a comment", "[General]\nName[de] = A\n", "[General]  \n",
        "[A b]\nName x = 1\n",
        "[General]\n; Name = A; no\n", "[General]\n\t# a comment\nPrivacy =\n",
        "[General]\r\nPrivacy = off\r\n",
    ])
    func `a file that GLib accepts has no fault`(text: String) {
        #expect(file(text).fault == nil)
    }

    @Test func `a setting in a file that is not read is replaced, and paths are quoted for the shell`() {
        let file = MainConfiguration(path: "/etc/my conf", text: "[General]\nPrivacy = device\njunk\n")
        #expect(
            file.command("General", "Privacy", "off").hasPrefix(
                "sudo sed -i -E 's/^[# ]*Privacy *=.*/Privacy = off/' '/etc/my conf'"))
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
