/// Keys for lookups, which are lent to the callee without a reference count.
///
/// A loop over an array counts a reference to each string during its use. A typical caller of a lookup already holds
/// the key and counts nothing, and Java counts no references. Values that cannot be copied are lent without a count.
final class LentKeys<Key: Sendable>: @unchecked Sendable {
  struct LentKey: ~Copyable {
    let key: Key
  }

  // Sendable: the buffer is written before it is shared, and only read afterwards. The object owns it.
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
