import Testing

@Suite struct OrderRuleTests {
    @Test func `no source goes through a dictionary or a set in the order of its hashes`() throws {
        for (path, source) in try SourceFolder.sources.get() {
            let count = OrderRules.walkCount(path, source)
            let allowed = OrderRules.walks[path]?.count ?? 0
            let lines = UnorderedWalks(source).lines
            #expect(count == allowed, "\(path): sort in lines \(lines), of which \(allowed) are listed")
        }
    }

    @Test func `no source uses what differs between processors and processes`() throws {
        let sources = try SourceFolder.sources.get()
        #expect(sources.count > 500)
        for (path, source) in sources { #expect(OrderRules.violations(of: path, source) == []) }
    }

    @Test func `keys follow from a seed on the private air alone`() throws {
        let sources = try SourceFolder.sources.get()
        for (path, source) in sources { #expect(OrderRules.seededKeys(of: path, source) == []) }
        let made = SourceText("let a = SecurityRandom(simulated: 1)\nlet b = SecurityRandom()")
        #expect(OrderRules.seededKeys(of: "Sources/MynahHost/HostRadio.swift", made).count == 1)
        #expect(OrderRules.seededKeys(of: "Sources/MynahHost/PrivateAir.swift", made) == [])
    }

    @Test func `every listed source exists`() throws {
        let paths = Set(try SourceFolder.sources.get().map(\.path))
        #expect(Set(OrderRules.walks.keys).isSubset(of: paths))
    }

    @Test(arguments: [
        "var a: [Int: String] = [:]\nfor (key, value) in a { use(key, value) }",
        "var a: [Key.ID: [String: Int]] = [:]\nfor each in player.a.values where each.isFine { use(each) }",
        "let a: Set<Int> = []\nlet b = a.map { $0 + 1 }",
        "let a = Set(numbers)\nlet b = a\n    .first { $0 > 1 }",
        "func f(_ a: Set<Int>) -> [Int] { Array(a) }",
        "func f(_ a: inout [Int: Int]) { for key in Array(a.keys) { a[key] = 1 } }",
        "let a = Dictionary(grouping: all) { $0.id }\nlet b = a.values.filter { $0.isFine }",
        "var a: [Int: Int] = [:]\nlet b = self.a.filter { $0.value > 1 }\nfor each in b { use(each) }",
        "var a: Set<Int> = []\nlet all = a\nfor each in all { use(each) }",
    ])
    func `a walk is found`(text: String) {
        #expect(UnorderedWalks(SourceText(text)).lines.count == 1)
    }

    @Test(arguments: [
        "var a: [Int: String] = [:]\nfor key in a.keys.sorted() { use(key) }",
        "var a: [Int: Int] = [:]\nlet b = a.map { key, value in\n    key + value\n}\n.sorted()",
        "var a: [Int: Int] = [:]\nif a.isEmpty || a.values.contains(1) { a[1] = a.count }",
        "let a: [Int] = []\nfor each in a { use(each) }",
        "var a: Set<Int> = []\na = a.filter { $0 > 1 }\nif a.contains(1) { a.remove(1) }",
        "let a = SortedMap<Int, Int>()\nfor each in a.values { use(each) }",
        "let a: Set<Int> = [] // for each in a { }",
    ])
    func `a source without one has none`(text: String) {
        #expect(UnorderedWalks(SourceText(text)).lines == [])
    }

    @Test(arguments: [
        "let a = cos(1)", "let a = 2 * pow(10, 3)", "let a = key.hashValue",
        "a.addProduct(1); b.addingProduct(c, d)",
    ])
    func `a function that is not the same everywhere is found`(text: String) {
        #expect(OrderRules.violations(of: "Sources/MynahCore/A.swift", SourceText(text)).count == 1)
    }

    @Test(arguments: ["func log(_ a: Int) {}", "logger.log(a)", "let exp = 1; PortableMath.exp(2)"])
    func `one of that name that is ours is not`(text: String) {
        #expect(OrderRules.violations(of: "Sources/MynahCore/A.swift", SourceText(text)) == [])
    }
}
