import MynahProfiles
import Testing

/// Profiles in `.json` files, which must be JSON and not only YAML.
@Suite struct JSONFileTests {
    private func problems(_ text: String, file: String = "device.json") -> [String] {
        do throws(ProfileIssues) {
            return try ProfileLoader.load(text: text, file: file).warnings.map(\.description)
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test(arguments: [
        (
            "{\"mynah\": 1,\n \"name\": \"J\",\n}",
            """
            device.json:2:13: error: this is not JSON: there is a comma before }; if it is YAML, name \
            the file .yaml\n "name": "J",\n            ^
            """
        ),
        (
            #"{"mynah": 1, "name": "Ü", "services": [,]}"#,
            """
            device.json:1:40: error: this is not JSON: a value is expected; if it is YAML, name \
            the file .yaml\n{"mynah": 1, "name": "Ü", "services": [,]}\n
            """
                + String(repeating: " ", count: 39) + "^"
        ),
        (
            #"{"mynah": 1, "name": "J", "services": [{"uuid": "180F"} , ]}"#,
            """
            device.json:1:57: error: this is not JSON: there is a comma before ]; if it is YAML, name \
            the file .yaml\n{"mynah": 1, "name": "J", "services": [{"uuid": "180F"} , ]}\n
            """
                + String(repeating: " ", count: 56) + "^"
        ),
        (
            "mynah: 1\nname: J\n",
            """
            device.json:1:1: error: this is not JSON: a value is expected; if it is YAML, name \
            the file .yaml\nmynah: 1\n^
            """
        ),
    ])
    func `YAML that is not JSON is refused, with its position`(text: String, problem: String) {
        #expect(problems(text) == [problem])
        #expect(problems(text, file: "DEVICE.JSON").count == 1)
    }

    @Test func `a file that is JSON is read, and its other problems keep their words`() {
        #expect(problems(#"{"mynah": 1, "name": "J"}"#) == [])
        #expect(problems("\u{FEFF}{\"mynah\": 1, \"name\": \"J\"}\n") == [])
        #expect(
            problems(#"{"mynah": 1, "name": "J", "name": "K"}"#).first?.contains(
                #"1:27: error: the key "name" is repeated; remove one"#) == true)
        #expect(problems("\n").first?.contains("the file is empty") == true)
    }

    @Test func `in a .yaml file a trailing comma stays as YAML has it`() {
        #expect(problems(#"{"mynah": 1, "name": "J",}"#, file: "device.yaml") == [])
    }
}
