// Removals by prefix, for each type of key. `Cache+Invalidating.swift` applies them.

extension Cache where Key: CacheKey {
  /// Removes every key whose bytes begin with `prefix`, as ``removeAll(tagged:context:)`` removes by tag.
  ///
  /// A fetch of such a key in progress is not stored. The empty prefix removes all keys.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1), regardless of the number of keys.
  public func removeAll(withPrefix prefix: KeyPrefix, context: WriterContext? = nil) {
    _ = invalidate(bytesPrefix: prefix.bytes, context: context)
  }

  /// Removes every key with a prefix, like `removeAll(withPrefix:)`, and returns when the removal is on disk. No crash
  /// brings a value back.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails.
  /// - Complexity: O(1), and the wait for the commit.
  public nonisolated(nonsending) func commitRemovalOfAll(
    withPrefix prefix: KeyPrefix, context: WriterContext? = nil
  ) async throws(CisternError) {
    if let ticket = invalidate(bytesPrefix: prefix.bytes, context: context) {
      try await secondTier?.partition.waitForCommit(ticket)
    }
  }
}

extension Cache where Key == String {
  /// Removes every key whose UTF-8 bytes begin with `prefix`, as ``removeAll(tagged:context:)`` removes by tag.
  ///
  /// A fetch of such a key in progress is not stored. The empty prefix removes all keys.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1), regardless of the number of keys.
  public func removeAll(withPrefix prefix: String, context: WriterContext? = nil) {
    removeAll(withPrefix: KeyPrefix(prefix), context: context)
  }

  /// Removes every key with a prefix, like `removeAll(withPrefix:)`, and returns when the removal is on disk. No crash
  /// brings a value back.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails.
  /// - Complexity: O(1), and the wait for the commit.
  public nonisolated(nonsending) func commitRemovalOfAll(
    withPrefix prefix: String, context: WriterContext? = nil
  ) async throws(CisternError) {
    try await commitRemovalOfAll(withPrefix: KeyPrefix(prefix), context: context)
  }
}

extension Cache where Key == [UInt8] {
  /// Removes every key that begins with `prefix`, as ``removeAll(tagged:context:)`` removes by tag.
  ///
  /// A fetch of such a key in progress is not stored. The empty prefix removes all keys.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1), regardless of the number of keys.
  public func removeAll(withPrefix prefix: [UInt8], context: WriterContext? = nil) {
    removeAll(withPrefix: KeyPrefix(prefix), context: context)
  }

  /// Removes every key with a prefix, like `removeAll(withPrefix:)`, and returns when the removal is on disk. No crash
  /// brings a value back.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails.
  /// - Complexity: O(1), and the wait for the commit.
  public nonisolated(nonsending) func commitRemovalOfAll(
    withPrefix prefix: [UInt8], context: WriterContext? = nil
  ) async throws(CisternError) {
    try await commitRemovalOfAll(withPrefix: KeyPrefix(prefix), context: context)
  }
}

extension Cache where Key: CacheKey {
  fileprivate func invalidate(bytesPrefix bytes: [UInt8], context: WriterContext?) -> CommitTicket? {
    invalidate(.prefix(bytes), context: context) { key, _ in
      key.hasKeyBytesPrefix(bytes)
    } add: { pending, version in
      pending.add(prefix: bytes, at: version) { key, prefixes in
        key.withKeyBytes { prefixes.newestVersion(ofPrefixesOf: $0) }
      }
    }
  }
}
