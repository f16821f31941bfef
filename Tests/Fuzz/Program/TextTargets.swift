import MynahImport
import MynahSupport

@testable import Mynah
@testable import MynahHost
@testable import MynahProfiles

extension FuzzTarget {
    /// JSON, and what is kept in it: what can be read is written so that it is read the same.
    static let json = FuzzTarget("json") { bytes in
        guard let value = try? JSON(parsing: bytes) else { return }
        // Not the same value: 1.0 becomes 1.
        precondition((try? JSON(parsing: Array(value.text.utf8)))?.text == value.text, "not on one line")
        precondition((try? JSON(parsing: Array(value.prettyText.utf8)))?.text == value.text, "nor on several")
        let name = PreservedName(
            app: value["app"]?.stringValue ?? "",
            restoreIdentifier: value["restoreIdentifier"]?.stringValue ?? "")
        if let state = try? PreservedState(json: value, of: name) {
            precondition((try? PreservedState(json: state.json, of: name))?.json == state.json)
        }
        if let bonds = try? BondStore(value) { precondition((try? BondStore(bonds.json)) == bonds) }
    }

    /// Captures: what is imported is a profile without errors.
    static let capture = FuzzTarget("capture") { bytes in
        // The key of the Core Specification's sample data (Vol 6, Part C, 1).
        guard let keys = try? LongTermKeys(Array("4C68384139F574D836BCF34E9DFB01BF".utf8)) else {
            preconditionFailure("a key of 32 digits is refused")
        }
        for result in [
            try? CaptureImport.profile(from: bytes, named: "fuzzed", keys: keys),
            try? CaptureImport.phone(from: bytes, named: "fuzzed", keys: keys),
        ] {
            guard let result else { continue }
            precondition((try? ProfileLoader.load(text: result.profile, file: "fuzzed.yaml")) != nil)
        }
    }

    /// Profiles: problems have places.
    static let profile = FuzzTarget("profile") { bytes in
        do throws(ProfileIssues) {
            _ = try ProfileLoader.load(text: String(decoding: bytes, as: UTF8.self), file: "fuzzed.yaml")
        } catch {
            precondition(!error.issues.isEmpty)
            for issue in error.issues { precondition(!issue.description.isEmpty) }
        }
    }
}
