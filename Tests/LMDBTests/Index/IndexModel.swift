import CisternTesting

@testable import LMDB

/// The expected items of an index: for each key and digest, a set of addresses without an order.
struct IndexModel {
  private(set) var keys: [IndexKey: [UInt64: Set<UInt64>]] = [:]
  private(set) var counts: [IndexKey: Int] = [:]
  private var lastAddress: UInt64 = 0

  func addresses(of digest: UInt64, _ key: IndexKey) -> Set<UInt64> { keys[key]?[digest] ?? [] }
  func count(_ key: IndexKey) -> Int { counts[key] ?? 0 }

  /// Returns an address that no item has had.
  mutating func newAddress() -> UInt64 {
    lastAddress += 1
    // An odd factor maps different numbers to different numbers, and zero to zero.
    return lastAddress &* 0x9E37_79B9_7F4B & IndexItem.greatestDigest
  }

  mutating func insert(_ item: IndexItem, _ key: IndexKey) {
    keys[key, default: [:]][item.digest, default: []].insert(item.address)
    counts[key, default: 0] += 1
  }

  /// Removes the item. Returns whether it was there.
  mutating func remove(_ item: IndexItem, _ key: IndexKey) -> Bool {
    guard keys[key]?[item.digest]?.remove(item.address) != nil else { return false }
    if keys[key]?[item.digest]?.isEmpty == true { keys[key]?[item.digest] = nil }
    counts[key, default: 0] -= 1
    return true
  }

  /// Returns a description of the first difference between the model and the items of a key, or nil without one.
  func difference(
    _ key: IndexKey, in transaction: borrowing some Transaction & ~Copyable & ~Escapable, _ index: IndexDatabase
  ) throws(LMDBError) -> String? {
    guard try transaction.itemCount(forKey: key, in: index) == count(key) else { return "\(key): another count" }
    var cursor = try transaction.cursor(forKey: key, in: index)
    var found: Set<UInt64> = []
    var last: UInt64?
    var count = 0
    var isAtItem = try cursor.moveToFirst()
    while isAtItem, let item = cursor.item {
      if item.digest < last ?? 0 { return "\(key): \(item) after the digest \(last ?? 0)" }
      if item.digest != last {
        if let last, found != addresses(of: last, key) { return "\(key): other addresses of \(last)" }
        found = []
      }
      last = item.digest
      found.insert(item.address)
      count += 1
      isAtItem = try cursor.moveToNext()
    }
    if let last, found != addresses(of: last, key) { return "\(key): other addresses of \(last)" }
    return count == self.count(key) ? nil : "\(key): \(count) items instead of \(self.count(key))"
  }
}
