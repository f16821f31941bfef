import CLibFuzzer
import Glibc
import MynahSupport

/// Which one is being fuzzed; libFuzzer's callback can hold nothing.
private let chosen = FuzzTarget.all.first { CommandLine.arguments.dropFirst().first == $0.name }

/// The function that libFuzzer calls; its library needs the name even if its own main is not used.
@_cdecl("LLVMFuzzerTestOneInput")
func runOne(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    chosen?.run(Array(UnsafeBufferPointer(start: data, count: size)))
    return 0
}

/// Lists the targets, fuzzes one or makes seeds.
///
/// `mynah-fuzz` lists them. `mynah-fuzz TARGET …` passes further arguments to libFuzzer.
/// `mynah-fuzz --seeds FILE FOLDER`: makes a file of each line, of the bytes it has or, in FILE.hex, says.
@main enum Main {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "--seeds" {
            exit(writeSeeds(arguments[2], to: arguments[3]) ? 0 : 1)
        }
        guard chosen != nil else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            exit(arguments.count > 1 ? 64 : 0)
        }
        // The name of the target is ours, the rest is libFuzzer's.
        var texts = arguments.map { strdup($0) }
        texts.remove(at: 1)
        var count = Int32(texts.count)
        texts.append(nil)
        texts.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            exit(
                LLVMFuzzerRunDriver(&count, &start) { runOne($0, $1) })
        }
    }

    private static func writeSeeds(_ path: String, to folder: String) -> Bool {
        guard let file = fopen(path, "r") else { return false }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        var number = 0
        defer { free(line) }
        while getline(&line, &room, file) >= 0, let text = line.map({ String(cString: $0) }) {
            let content = text.last == "\n" ? String(text.dropLast()) : text
            guard !content.isEmpty, !content.hasPrefix("#") else { continue }
            number += 1
            guard let bytes = path.hasSuffix(".hex") ? Hex.decode(content) : Array(content.utf8),
                let seed = fopen("\(folder)/seed-\(number)", "w")
            else { return false }
            fwrite(bytes, 1, bytes.count, seed)
            fclose(seed)
        }
        return number > 0
    }
}
