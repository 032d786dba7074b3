import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

struct PrefixTreeTests {
  @Test func `the newest number of a key is the greatest among its prefixes, after any insertions and removals`() {
    var generator = SeededGenerator(seed: 1)
    func bytes(upTo length: Int) -> [UInt8] {
      (0..<generator.next(below: length + 1)).map { _ in UInt8(generator.next(below: 3)) }
    }
    for _ in 0..<200 {
      var tree = PrefixTree()
      var model: [[UInt8]: UInt64] = [:]
      for number in 1...60 {
        let prefix = bytes(upTo: 6)
        if generator.next(below: 3) == 0 {
          tree.remove(prefix)
          model[prefix] = nil
        } else {
          tree.insert(prefix, number: UInt64(number))
          model[prefix] = UInt64(number)
        }
        let key = bytes(upTo: 8)
        let expected = model.filter { key.starts(with: $0.key) }.values.max() ?? 0
        #expect(tree.newestNumber(ofPrefixesOf: key.rawSpan) == expected)
        #expect(tree.count == model.count && tree.isEmpty == model.isEmpty)
      }
      for prefix in model.keys { tree.remove(prefix) }
      #expect(tree.nodeCount == 1 && tree.isEmpty && tree.newest == 0)
    }
  }

  @Test func `the number of nodes that a lookup visits does not grow with the number of prefixes`() {
    func steps(among count: Int) -> Int {
      var tree = PrefixTree()
      for number in 0..<count { tree.insert(Array("user/\(100_000 + number)/".utf8), number: UInt64(number + 1)) }
      return ["user/100001/a", "user/1000", "other", ""].map { tree.match(Array($0.utf8).rawSpan).steps }.max()!
    }
    #expect(steps(among: 20_000) <= "user/100001/".utf8.count + 1)
    var tree = PrefixTree()
    for number in 0..<20_000 { tree.insert(Array("user/\(number)/".utf8), number: UInt64(number + 1)) }
    // The tree has at most two nodes for each prefix.
    #expect(tree.nodeCount <= 40_001)
    for number in 0..<20_000 where number != 77 { tree.remove(Array("user/\(number)/".utf8)) }
    #expect(tree.count == 1 && tree.nodeCount <= 10)
    #expect(tree.newestNumber(ofPrefixesOf: Array("user/77/x".utf8).rawSpan) == 78)
  }

  @Test func `inserting the number zero or removing an absent prefix changes nothing`() {
    var tree = PrefixTree()
    tree.insert([1, 2], number: 0)
    #expect(tree.isEmpty && tree.nodeCount == 1)
    tree.insert([1, 2, 3], number: 5)
    tree.insert([1, 2, 3], number: 4)
    for absent: [UInt8] in [[], [1], [1, 2], [1, 2, 4], [1, 2, 3, 4]] { tree.remove(absent) }
    #expect(tree.newestNumber(ofPrefixesOf: [UInt8]([1, 2, 3, 4]).rawSpan) == 5)
    #expect(tree.newestNumber(ofPrefixesOf: [UInt8]([1, 2]).rawSpan) == 0)
  }
}
