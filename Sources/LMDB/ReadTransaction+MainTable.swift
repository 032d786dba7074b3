extension ReadTransaction {
  /// Returns the value of the key in the unnamed database, like `value(forKey:in:)` but faster.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func mainValue(forKey key: borrowing some KeyBytes & ~Copyable) throws(LMDBError) -> RawSpan? {
    // The transaction keeps its environment and its snapshot open.
    let answer = unsafe environment._withUnsafeGuaranteedRef { environment in
      unsafe key.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe environment.map.look(for: $0, snapshot: number) }
      }
    }
    switch unsafe answer {
    case .value(let bytes):
      let span = unsafe RawSpan(_unsafeBytes: bytes)
      return unsafe _overrideLifetime(span, borrowing: self)
    case .absent: return nil
    case .unknown: return try mainValueByLMDB(forKey: key)
    }
  }

  /// Looks up the key with LMDB, after a lookup in the pages gave no answer.
  @inlinable
  @inline(never)
  @_lifetime(borrow self)
  borrowing func mainValueByLMDB(forKey key: borrowing some KeyBytes & ~Copyable) throws(LMDBError) -> RawSpan? {
    guard let value = try value(forKey: key, in: Database(index: 1)) else { return nil }
    unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.learn(from: value, of: $0.handle) }
    return value
  }
}
