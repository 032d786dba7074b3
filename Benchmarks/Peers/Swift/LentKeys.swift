/// Keys to look up, each of which is lent to whoever is called with it.
///
/// A loop over an array counts a reference to each string while it is in use. Who looks something up holds the key as a rule,
/// and counts nothing; and in Java nothing is counted anywhere. Values that cannot be copied are lent without a count.
final class LentKeys<Key: Sendable>: @unchecked Sendable {
  struct LentKey: ~Copyable {
    let key: Key
  }

  // Sendable holds: written before anyone else has it, and read from then on. Owned.
  private let keys: UnsafeMutableBufferPointer<LentKey>

  init(_ keys: [Key]) {
    self.keys = .allocate(capacity: keys.count)
    for (index, key) in keys.enumerated() { self.keys.initializeElement(at: index, to: LentKey(key: key)) }
  }

  deinit {
    keys.deinitialize()
    keys.deallocate()
  }

  var indices: Range<Int> { keys.indices }

  subscript(index: Int) -> LentKey {
    _read { yield keys[index] }
  }
}
