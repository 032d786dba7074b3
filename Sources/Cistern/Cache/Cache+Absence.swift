extension Cache where Value: OptionalValue {
  /// Whether it is known that there is nothing for a key: absence was stored, by a fetch that returned nil or by
  /// `setValue(nil, forKey:)`, and has not expired. A look-up, as ``value(forKey:)`` is.
  ///
  /// ```swift
  /// let articles = try store.cache("articles", of: Article?.self, keyedBy: String.self, expiry: .after(.seconds(60)))
  ///
  /// let article = try await articles.value(forKey: id) { id in try await client.articleIfAny(id) }
  /// ```
  ///
  /// In such a cache, `articles[id] = nil` *removes* the key, as in every cache: nothing is known about it then. To store
  /// that there is nothing, say `articles.setValue(nil, forKey: id)`. Reading, `articles[id] ?? nil` is the value without
  /// the question whether it is known.
  @inlinable
  public func isKnownAbsent(_ key: Key) -> Bool {
    guard case .some(let value) = value(forKey: key) else { return false }
    return value.isAbsent
  }
}

extension CacheConfiguration where Value: OptionalValue {
  /// The lifetime of nil; nil for that of other values. As a rule it is shorter, for what is missing may yet come.
  ///
  /// A write that is given an expiry does not ask.
  public var absenceExpiry: Expiry? {
    get { absenceRule?.expiry }
    set { absenceRule = newValue.map { AbsenceRule(absence: Absence(), expiry: $0) } }
  }
}

/// For how long absence is known.
struct AbsenceRule<Value: Sendable>: Sendable {
  let absence: Absence<Value>
  let expiry: Expiry
}

extension CacheConfiguration {
  /// The expiry of a value, present or not, from the value itself.
  var expiryFromValue: (@Sendable (Value) -> Expiry?)? {
    guard let absenceRule else { return expiryOfValue }
    return { [expiryOfValue] value in
      absenceRule.absence.isAbsent(value) ? absenceRule.expiry : expiryOfValue?(value)
    }
  }
}
