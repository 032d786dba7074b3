@testable import LMDB

extension ReadTransaction {
  /// Returns all addresses of a digest in the order in which a lookup examines them.
  borrowing func addresses(
    of digest: UInt64, _ key: IndexKey, in index: IndexDatabase
  ) throws(LMDBError) -> [UInt64] {
    var found: [UInt64] = []
    let sought = try firstAddress(of: digest, forKey: key, in: index) { address in
      found.append(address)
      return false
    }
    return sought == nil ? found : []
  }

  /// Returns all addresses of a digest in the order of LMDB's cursor.
  borrowing func addressesByLMDB(
    of digest: UInt64, _ key: IndexKey, in index: IndexDatabase
  ) throws(LMDBError) -> [UInt64] {
    var found: [UInt64] = []
    var cursor = try cursor(forKey: key, in: index)
    var isAtItem = try cursor.move(toFirstFrom: digest)
    while isAtItem, let item = cursor.item, item.digest == digest {
      found.append(item.address)
      isAtItem = try cursor.moveToNext()
    }
    return found
  }

  /// Returns whether the mapped pages alone give the answer.
  borrowing func isAnsweredByPages(_ digest: UInt64, _ key: IndexKey, in index: IndexDatabase) -> Bool {
    guard let name = index.name, let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages }) else {
      return false
    }
    var items = unsafe pages.items(of: digest, key: key, in: name, snapshot: UInt64(number))
    while true {
      switch unsafe items.step() {
      case .address: continue
      case .end: return true
      case .unknown: return false
      }
    }
  }
}
