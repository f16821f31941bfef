import Glibc
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct InputFileTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A file of these bytes.
    private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(directory.path)/\(name)"
        try KeptFile(path: path).replace(bytes)
        return path
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func `a file is read whole, at any size`(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let path = try file("whole", bytes)
        #expect(try InputFile(path).read(atMost: size) == bytes)
        #expect(try InputFile(path).prefix(size / 2) == Array(bytes.prefix(size / 2)))
        if size > 0 {
            #expect(throws: InputFile.Problem.tooLarge) { try InputFile(path).read(atMost: size - 1) }
        }
    }

    @Test func `a file is a regular one, a directory or another, at the end of a link too`() throws {
        let path = try file("regular", [1])
        let pipe = "\(directory.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        symlink(pipe, "\(directory.path)/link")
        #expect(try InputFile(path).kind == .regular)
        #expect(try InputFile(directory.path).kind == .directory)
        #expect(try InputFile(pipe).kind == .other)
        #expect(try InputFile("\(directory.path)/link").kind == .other)
    }

    @Test func `a pipe that nobody writes to is empty, and is not waited for`() throws {
        let pipe = "\(directory.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(try InputFile(pipe).read(atMost: 10) == [])
    }

    @Test func `a problem says in words why a file cannot be read`() throws {
        let missing = "\(directory.path)/none"
        #expect(throws: InputFile.Problem.missing) { try InputFile(missing).kind }
        #expect(InputFile.Problem.missing.reason == "there is no such file")
        #expect(InputFile.Problem.system(EACCES).reason == "this user may not read it")
        #expect(InputFile.Problem.system(EIO).reason == "Input/output error")
        #expect(throws: InputFile.Problem.system(EISDIR)) {
            try InputFile(directory.path).read(atMost: 10)
        }
    }

    @Test func `others may read a file, or its owner alone`() throws {
        let path = try file("secret", [1])
        #expect(try !InputFile(path).isOpenToOthers)
        chmod(path, 0o640)
        #expect(try InputFile(path).isOpenToOthers)
    }
}
