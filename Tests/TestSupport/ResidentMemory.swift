import Glibc

/// What this process holds that no file stands behind (RssAnon), in kB; 0 where the kernel does not say.
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
