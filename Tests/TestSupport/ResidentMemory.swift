import Glibc

/// The resident memory of this process that no file backs (RssAnon), in kB; 0 if the kernel does not report
/// it.
package func residentMemory() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { free(line) }
    while getline(&line, &room, file) >= 0, let text = line.map({ String(cString: $0) }) {
        guard text.hasPrefix("RssAnon:") else { continue }
        return Int(text.filter(\.isNumber)) ?? 0
    }
    return 0
}
