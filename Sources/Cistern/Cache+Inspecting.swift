extension Cache {
  /// Whether memory holds a value of the key, expired or not. Does not count as a use.
  package func isInMemory(_ key: Key) -> Bool {
    table.peek(key, hash: EntryTable<Key, Value>.hash(key)) != nil
  }
}
