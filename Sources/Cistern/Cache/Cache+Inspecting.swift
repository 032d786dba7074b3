extension Cache {
  /// Invalidations by tag or prefix that some entry may still have to be compared with.
  package var pendingInvalidationCount: Int { table.invalidationLog.withLock { $0.count } }

  /// Whether memory holds a value of the key, expired or not. Does not count as a use.
  package func isInMemory(_ key: Key) -> Bool {
    table.peek(key, hash: table.hash(key)) != nil
  }
}
