import CisternTesting

@testable import LMDB

/// An index, its model, and random changes to both.
struct RandomIndex {
  let fixture: Fixture
  let index: IndexDatabase
  var model = IndexModel()
  var random: SeededGenerator
  let keys = [IndexKey(0), IndexKey(1), IndexKey(0x0102_0304_0506), IndexKey(IndexItem.greatestDigest)]
  var faults: [String] = []

  var dataFile: String { fixture.directory.path + "/data.mdb" }

  init(seed: UInt64, mapSize: Int = 1 << 26) throws {
    fixture = try Fixture(mapSize: mapSize)
    index = try fixture.environment.openIndexDatabase(named: "index")
    random = SeededGenerator(seed: seed)
  }

  /// Returns a digest. Some digests are frequent, so that their items fill several pages.
  mutating func digest() -> UInt64 {
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      [0, 1, 1 << 47, IndexItem.greatestDigest - 1, IndexItem.greatestDigest].randomElement(using: &random) ?? 0
    case 1...3: UInt64.random(in: 0..<64, using: &random) << 42
    default: UInt64.random(in: 0...IndexItem.greatestDigest, using: &random)
    }
  }

  /// Makes changes in a transaction. If `isAborted`, the transaction fails after them.
  mutating func change(_ count: Int, removals: Int, isAborted: Bool) throws {
    var next = self
    let failure = LMDBError(.other(1), operation: "test", message: "on purpose")
    do throws(LMDBError) {
      let (index, environment) = (index, fixture.environment)
      try environment.withWrite { (transaction) throws(LMDBError) in
        var rest = count
        while rest > 0 {
          let key = next.keys.randomElement(using: &next.random) ?? IndexKey(0)
          let part = Int.random(in: 1...rest, using: &next.random)
          try next.change(part, key, removals, try transaction.cursor(forKey: key, in: index))
          rest -= part
          if count < 100, let difference = try next.model.difference(key, in: transaction, index) {
            next.faults.append("within: \(difference)")
          }
        }
        if isAborted { throw failure }
      }
      self = next
    } catch {
      (random, faults) = (next.random, next.faults)
      if error != failure { throw error }
    }
  }

  private mutating func change(
    _ count: Int, _ key: IndexKey, _ removals: Int, _ start: consuming IndexCursor<CursorWrites>
  ) throws(LMDBError) {
    var cursor = start
    for _ in 0..<count {
      let digest = digest()
      switch Int.random(in: 0..<10, using: &random) {
      case ..<removals: try removeSome(from: digest, key, &cursor)
      case 7...: try replaceSome(from: digest, key, &cursor)
      default:
        let item = IndexItem(digest: digest, address: model.newAddress())
        try cursor.insert(item)
        model.insert(item, key)
        let isMoved = try cursor.moveToNext()
        if isMoved || cursor.item != nil { faults.append("an item after an insertion") }
      }
    }
  }

  /// Walks from a digest, and removes about two of three items.
  private mutating func removeSome(
    from digest: UInt64, _ key: IndexKey, _ cursor: inout IndexCursor<CursorWrites>
  ) throws(LMDBError) {
    var rest = Int.random(in: 1...6, using: &random)
    var isAtItem = try cursor.move(toFirstFrom: digest)
    check(cursor.item, from: digest, key)
    while rest > 0, isAtItem, let item = cursor.item {
      rest -= 1
      if Int.random(in: 0..<3, using: &random) > 0 {
        try cursor.removeCurrent()
        if !model.remove(item, key) { faults.append("\(item) was not expected") }
        let isRemovedTwice = try cursor.removeCurrent()
        if isRemovedTwice || cursor.item != nil { faults.append("an item was removed twice") }
      }
      isAtItem = try cursor.moveToNext()
    }
  }

  /// Walks among the items of a digest, and replaces about half of the addresses.
  private mutating func replaceSome(
    from digest: UInt64, _ key: IndexKey, _ cursor: inout IndexCursor<CursorWrites>
  ) throws(LMDBError) {
    var rest = Int.random(in: 1...12, using: &random)
    var isAtItem = try cursor.move(toFirstFrom: digest)
    check(cursor.item, from: digest, key)
    while rest > 0, isAtItem, let item = cursor.item {
      rest -= 1
      if Bool.random(using: &random) {
        let new = IndexItem(digest: item.digest, address: model.newAddress())
        try cursor.replaceAddress(with: new.address)
        if cursor.item != new { faults.append("the cursor is not at the new item") }
        if !model.remove(item, key) { faults.append("\(item) was not expected") }
        model.insert(new, key)
      }
      isAtItem = try cursor.moveToNext()
    }
  }

  private mutating func check(_ item: IndexItem?, from digest: UInt64, _ key: IndexKey) {
    let isFound = item?.digest == digest
    if isFound == model.addresses(of: digest, key).isEmpty { faults.append("\(digest): found \(isFound)") }
    if let item, !model.addresses(of: item.digest, key).contains(item.address) { faults.append("unexpected \(item)") }
    if item == nil, digest == 0, model.count(key) > 0 { faults.append("no first item") }
  }

  func differences() throws -> [String] {
    let (model, index, keys) = (model, index, keys)
    return try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var found: [String] = []
      for key in keys {
        if let difference = try model.difference(key, in: transaction, index) { found.append(difference) }
      }
      let total = try transaction.itemCount(in: index)
      if total != keys.reduce(0, { $0 + model.count($1) }) { found.append("another total") }
      return found
    }
  }
}
