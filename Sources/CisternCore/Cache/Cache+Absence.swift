extension Cache where Value: OptionalValue {
  /// Returns whether a key is known to have no value.
  ///
  /// A fetch that returned nil, or `setValue(nil, forKey:)`, stored the absence, and it has not expired. The call reads
  /// both tiers, as ``value(forKey:)`` does.
  ///
  /// ```swift
  /// let articles = try store.cache("articles", of: Article?.self, keyedBy: String.self, expiry: .after(.seconds(60)))
  ///
  /// let article = try await articles.value(forKey: id) { id in try await client.articleIfAny(id) }
  /// ```
  ///
  /// In such a cache, `articles[id] = nil` *removes* the key, as in every cache. After that, the cache does not know
  /// whether the key has a value. To store absence, call `articles.setValue(nil, forKey: id)`. To read the value
  /// whether or not its absence is known, write `articles[id] ?? nil`.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether the cache has stored the absence of a value.
  /// - Complexity: As ``value(forKey:)``.
  @inlinable
  public func isKnownAbsent(_ key: Key) -> Bool {
    guard case .some(let value) = value(forKey: key) else { return false }
    return value.isAbsent
  }
}
