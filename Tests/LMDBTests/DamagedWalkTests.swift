import CisternTesting
import Testing

@testable import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Cursors over pages that are damaged while the environment is open. LMDB would end the process at some of them.
@Suite struct DamagedWalkTests {
  /// An environment whose entries fill a tree with branches, and its open data file.
  private final class Subject {
    let fixture: Fixture
    let pageSize: Int
    let pageCount: Int
    private let file: Int32

    init(isMapKnown: Bool = true) throws {
      fixture = try Fixture()
      let table = fixture.environment.mainDatabase
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        for number in 0..<1_000 {
          let key = Array("key \(number + 1_000)".utf8)
          try transaction.put([UInt8](repeating: 1, count: 60).rawSpan, forKey: key.rawSpan, in: table)
        }
      }
      let information = try fixture.environment.information()
      (pageSize, pageCount) = (information.pageSize, information.pageCount)
      file = unsafe open(fixture.directory.path + "/data.mdb", O_RDWR)
      if isMapKnown { #expect(try keys()?.count == 1_000) }
    }

    deinit { close(file) }

    /// The keys of all entries, or nil if the cursor reports damage.
    func keys(from start: [UInt8] = []) throws -> [[UInt8]]? {
      do {
        return try fixture.environment.withRead { (transaction) throws(LMDBError) in
          var cursor = transaction.mainCursor()
          var keys: [[UInt8]] = []
          var isAtEntry = try cursor.move(toFirstFrom: start.rawSpan)
          while isAtEntry, keys.count < 10_000 {
            keys.append([UInt8](copying: cursor.key))
            isAtEntry = try cursor.moveToNext()
          }
          return keys
        }
      } catch {
        #expect(error.code == .corrupted)
        return nil
      }
    }

    func word(at place: Int) -> UInt16 {
      var word: UInt16 = 0
      _ = unsafe pread(file, &word, 2, off_t(place))
      return word
    }

    func write(_ word: UInt16, at place: Int) {
      var word = word
      _ = unsafe pwrite(file, &word, 2, off_t(place))
    }

    /// The offsets of the pages of a kind in the file.
    func pages(_ kind: TreePage.Kind) -> [Int] {
      (2..<pageCount).map { $0 * pageSize }.filter { word(at: $0 + TreePage.kindPlace) == kind.rawValue }
    }

    /// The offset of a node in the file.
    func node(_ index: Int, of page: Int) -> Int { page + Int(word(at: page + TreePage.headerSize + 2 * index)) }

    func nodeCount(_ page: Int) -> Int { (Int(word(at: page + TreePage.lowerPlace)) - TreePage.headerSize) / 2 }
  }

  @Test(arguments: [true, false], [0x04, 0x06, 0x02, 0x10, 0xFFFF] as [UInt16])
  func `a node with flags of another kind of database is damage`(isMapKnown: Bool, flags: UInt16) throws {
    let subject = try Subject(isMapKnown: isMapKnown)
    let pages = subject.pages(.leaf)
    #expect(pages.count > 10)
    for page in pages.dropFirst(isMapKnown ? 0 : 1) {
      let place = subject.node(subject.nodeCount(page) / 2, of: page) + TreeNode.flagsPlace
      subject.write(flags, at: place)
      // A table is a valid entry of the unnamed database.
      let count = try subject.keys()?.count
      #expect(count == (flags == TreeNode.tableFlag ? 1_000 : nil))
      subject.write(0, at: place)
    }
    #expect(try subject.keys()?.count == 1_000)
  }

  @Test func `a page with another number is damage`() throws {
    let subject = try Subject()
    for page in subject.pages(.leaf) + subject.pages(.branch) {
      let number = subject.word(at: page)
      subject.write(number ^ 1 << 10, at: page)
      #expect(try subject.keys() == nil)
      subject.write(number, at: page)
    }
    #expect(try subject.keys()?.count == 1_000)
  }

  @Test func `a branch that leads to a leaf twice is damage, and no entry comes twice`() throws {
    let subject = try Subject()
    let branch = try #require(subject.pages(.branch).first)
    let count = subject.nodeCount(branch)
    #expect(count > 10)
    for (from, to) in [(1, 2), (1, 5), (0, count - 1), (3, 4)] {
      let place = subject.node(to, of: branch)
      let child = subject.word(at: place)
      subject.write(subject.word(at: subject.node(from, of: branch)), at: place)
      #expect(try subject.keys() == nil, "\(from), \(to)")
      subject.write(child, at: place)
    }
    #expect(try subject.keys()?.count == 1_000)
  }

  @Test func `a leaf whose keys do not rise is damage`() throws {
    let subject = try Subject()
    for page in subject.pages(.leaf) {
      let place = page + TreePage.headerSize + 2 * 3
      let node = subject.word(at: place)
      for other in [0, 2, 4] {
        subject.write(subject.word(at: page + TreePage.headerSize + 2 * other), at: place)
        #expect(try subject.keys() == nil, "\(other)")
      }
      subject.write(node, at: place)
    }
    #expect(try subject.keys()?.count == 1_000)
  }

  @Test func `a search that ends before the sought key is damage`() throws {
    let subject = try Subject()
    let branch = try #require(subject.pages(.branch).first)
    // The search for the first key of the fifth leaf ends in the second one.
    let key = try #require(try subject.keys())[0]
    let second = subject.word(at: subject.node(1, of: branch))
    let place = subject.node(5, of: branch)
    let fifth = subject.word(at: place)
    let first = subject.node(0, of: Int(fifth) * subject.pageSize) + TreeNode.headerSize
    var start: [UInt8] = []
    for offset in stride(from: 0, to: key.count, by: 2) {
      let word = subject.word(at: first + offset)
      start += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)].prefix(key.count - offset)
    }
    #expect(try subject.keys(from: start)?.first == start)
    let sixth = subject.node(6, of: branch)
    subject.write(second, at: place)
    subject.write(second, at: sixth)
    #expect(try subject.keys(from: start) == nil)
  }
}
