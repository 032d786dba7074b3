extension Cache {
  /// The number of invalidations by tag or prefix that an entry or flight may be older than.
  package var pendingInvalidationCount: Int { table.pendingInvalidations.count }

  /// Whether memory holds a value of the key, expired or not. Does not count as a use.
  package func isInMemory(_ key: Key) -> Bool {
    table.peek(key, hash: table.hash(key)) != nil
  }
}
