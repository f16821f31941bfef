import MynahSupport
import Testing

/// Paths, and paths in commands.
@Suite struct PathTests {
    @Test(arguments: [
        ("/a/b", "/a"), ("/a/b/", "/a"), ("/a//b", "/a/"), ("/a", "/"), ("//", "/"), ("/", "/"), ("a", "."),
        ("a/", "."), ("a/b", "a"), ("", "."), ("../ä/b", "../ä"),
    ])
    func `the directory of a path is as for dirname`(path: String, parent: String) {
        #expect(Directory.parent(of: path) == parent)
    }

    @Test(arguments: [
        ("/etc/bluetooth/main.conf", "/etc/bluetooth/main.conf"), ("my file", "'my file'"), ("", "''"),
        ("a'b", #"'a'\''b'"#), ("-x.yaml", "./-x.yaml"), ("-x y", "'./-x y'"), ("$HOME", "'$HOME'"),
        ("ä", "'ä'"), ("a;b", "'a;b'"), ("~/a", "'~/a'"), ("a_1%+,:=@-b", "a_1%+,:=@-b"),
    ])
    func `a path is one word for the shell`(path: String, word: String) {
        #expect(ShellWord.quoted(path) == word)
    }
}
