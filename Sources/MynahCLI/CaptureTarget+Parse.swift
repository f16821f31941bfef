import ArgumentParser
import MynahRun

import Glibc

// The form of `--capture`.
extension CaptureTarget {
    static let completion = CompletionKind.file(extensions: ["pcapng"])

    static func parse(_ text: String) throws -> CaptureTarget {
        if text == "-" { return .standardOutput }
        // A program that has opened the file, or a shell's >(…), passes its descriptor.
        guard text.hasSuffix(".pcapng") || text.hasPrefix("/dev/fd/") else {
            throw ValidationError(
                """
                the format is pcapng: use a name that ends in .pcapng, /dev/fd/NUMBER for an open file, or - \
                for standard output
                """)
        }
        return .file(text)
    }

    /// The error if the capture cannot be written to standard output, or `nil` if it can or goes to a file.
    ///
    /// Events in the format `events` would use standard output too; `nil` means that the command prints none.
    func problem(with events: EventFormat?) -> String? {
        guard self == .standardOutput else { return nil }
        if let events, events != .off {
            return
                "--capture - and --events \(events.rawValue) both write to standard output: "
                + "capture to a file, or leave out --events"
        }
        if isatty(1) == 1 {
            return
                "--capture - writes binary data, and standard output is a terminal: "
                + "add a pipe, as in `| wireshark -k -i -`"
        }
        return nil
    }
}
