extension Cache {
  /// The number of pending invalidations by tag or prefix: an entry or a flight may be older than these.
  package var pendingInvalidationCount: Int { table.pendingInvalidations.count }

  /// Whether memory holds a value of the key, expired or not. Does not count as a use.
  package func isInMemory(_ key: Key) -> Bool {
    table.peek(table.hashed(key)) != nil
  }
}
