import Glibc
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct KeptFileTests {
    let temporary: TemporaryDirectory
    let file: KeptFile

    init() throws {
        temporary = try TemporaryDirectory()
        file = KeptFile(path: temporary.path + "/kept")
    }

    @Test func `a link in place of the file or its draft is replaced, and its target stays as it is`() throws
    {
        try temporary.write("not ours", to: "other")
        for name in ["kept", "kept.new"] {
            #expect(symlink(temporary.path + "/other", temporary.path + "/" + name) == 0)
            try file.replace([0x41])
            #expect(try temporary.read("kept") == "A")
            #expect(try temporary.read("other") == "not ours")
            file.remove()
        }
        #expect(temporary.files == ["other"])
    }

    @Test func `a file that is set aside takes no name that a link has`() throws {
        try temporary.write("kept", to: "kept")
        #expect(symlink("/nonexistent/mynah", temporary.path + "/kept.unusable-1") == 0)
        #expect(file.setAside() == temporary.path + "/kept.unusable-2")
        #expect(temporary.files == ["kept.unusable-1", "kept.unusable-2"])
        #expect(try temporary.read("kept.unusable-2") == "kept")
    }
}
